package slurm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// node is a node in the JSON of older versions.
type node struct {
	Name       string   `json:"name"`
	State      listed   `json:"state"`
	Flags      listed   `json:"state_flags"`
	CPUs       number   `json:"cpus"`
	Busy       number   `json:"alloc_cpus"`
	Memory     number   `json:"real_memory"` // MiB
	Features   csv      `json:"active_features"`
	GRES       string   `json:"gres"`
	GRESUsed   string   `json:"gres_used"`
	Partitions []string `json:"partitions"`
}

// csv is a list; in older versions a text with commas.
type csv []string

// UnmarshalJSON reads either.
func (c *csv) UnmarshalJSON(b []byte) error {
	var l listed
	if err := l.UnmarshalJSON(b); err != nil {
		return err
	}
	*c = nil
	for _, s := range l {
		*c = append(*c, commas(s)...)
	}
	return nil
}

// row is a line of sinfo -N in the JSON of newer versions: a node in one of its partitions.
type row struct {
	Node struct {
		State listed `json:"state"`
	} `json:"node"`
	Nodes struct {
		Names []string `json:"nodes"`
	} `json:"nodes"`
	CPUs struct {
		Busy number `json:"allocated"`
		All  number `json:"total"`
	} `json:"cpus"`
	Memory struct {
		Least number `json:"minimum"` // MiB
	} `json:"memory"`
	Features struct {
		Active csv `json:"active"`
	} `json:"features"`
	GRES struct {
		Total string `json:"total"`
		Used  string `json:"used"`
	} `json:"gres"`
	Partition struct {
		Name string `json:"name"`
	} `json:"partition"`
}

// readNodes reads what sinfo -N --json prints, and its version.
func readNodes(text []byte) ([]grid.ManagedNode, string, error) {
	var in struct {
		header
		Nodes []node `json:"nodes"`
		Rows  []row  `json:"sinfo"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, "", err
	}
	if err := in.failed(); err != nil {
		return nil, "", err
	}
	nodes := in.Nodes
	for _, r := range in.Rows {
		if len(r.Nodes.Names) != 1 {
			return nil, "", fmt.Errorf("a row of %s; must be one, as sinfo -N prints them", grid.Count(len(r.Nodes.Names), "node"))
		}
		n := node{Name: r.Nodes.Names[0], State: r.Node.State, CPUs: r.CPUs.All, Busy: r.CPUs.Busy, Memory: r.Memory.Least, Features: r.Features.Active,
			GRES: r.GRES.Total, GRESUsed: r.GRES.Used}
		if r.Partition.Name != "" {
			n.Partitions = []string{r.Partition.Name}
		}
		nodes = append(nodes, n)
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Compare(a.Name, b.Name) })
	out := make([]grid.ManagedNode, 0, len(nodes))
	for _, n := range nodes {
		if n.Name == "" {
			return nil, "", fmt.Errorf("a node without a name")
		}
		if len(out) == 0 || out[len(out)-1].Name != n.Name {
			const mebi = 1 << 20
			out = append(out, grid.ManagedNode{Name: n.Name, State: nodeState(n.State, n.Flags), CPUs: n.CPUs.count(), Busy: n.Busy.count(),
				Memory: int64(n.Memory.count()) * mebi, Features: n.Features,
				GRES: none(n.GRES), GRESUsed: none(n.GRESUsed), GPUs: gpus(n.GRES)})
		}
		last := &out[len(out)-1]
		for _, p := range n.Partitions {
			if !slices.Contains(last.Partitions, p) {
				last.Partitions = append(last.Partitions, p)
			}
		}
		slices.Sort(last.Partitions)
	}
	return out, in.Meta.Slurm.Release, nil
}

// nodeState says whether work can start on a node in these states. A node that is powered
// down counts as up, because Slurm wakes it for a job.
func nodeState(states, flags listed) grid.NodeState {
	all := slices.Concat(states, flags)
	switch {
	case all.has("DOWN", "FAIL", "FAILING", "ERROR", "FUTURE"):
		return grid.NodeDown
	case all.has("DRAIN", "DRAINING", "DRAINED", "INVALID_REG", "POWERING_DOWN", "REBOOT_ISSUED"):
		return grid.NodeDrained
	case all.has("NOT_RESPONDING", "NO_RESPOND", "UNKNOWN"):
		return grid.NodeUnknown
	case all.has("IDLE", "ALLOCATED", "MIXED"):
		return grid.NodeUp
	}
	return grid.NodeUnknown
}

// gpus counts the GPUs in Slurm's words for what a node has, such as
// "gpu:a100:2(S:0-1),gpu:v100:1,nic:4"; a word without a number is one.
func gpus(gres string) int {
	total, depth := 0, 0
	for _, one := range strings.FieldsFunc(none(gres), func(r rune) bool { // at commas outside of parentheses
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth <= 0
	}) {
		one, _, _ = strings.Cut(strings.TrimSpace(one), "(")
		parts := strings.Split(one, ":")
		if parts[0] != "gpu" {
			continue
		}
		n, err := strconv.ParseUint(parts[len(parts)-1], 10, 16)
		if err != nil {
			n = 1 // gpu, gpu:a100
		}
		total += int(n)
	}
	return total
}
