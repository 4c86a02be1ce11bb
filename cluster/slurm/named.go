package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// named is a job of a given name, as squeue lists it on a line: that is faster than the
// whole queue in JSON.
type named struct {
	number, user, reservation string
	state                     grid.ManagedState
	why                       string
	submit                    grid.Time
	nodes                     string // in short form; "": it never had nodes
}

// namedFormat is for squeue -o. Only the name, which is known, may contain a |.
const namedFormat = "%A|%u|%V|%T|%v|%r|%N"

// jobsNamed lists the jobs of a name that the controller remembers.
func (c Commands) jobsNamed(ctx context.Context, name string) ([]named, error) {
	out, err := c.Run(ctx, "squeue", "--all", "--noheader", "--states=all", "--name="+name, "--format="+namedFormat)
	if err != nil {
		return nil, err
	}
	return readNamed(out)
}

// readNamed reads what squeue prints in namedFormat.
func readNamed(text []byte) ([]named, error) {
	var out []named
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		f := strings.Split(line, "|")
		if len(f) != strings.Count(namedFormat, "|")+1 {
			return nil, fmt.Errorf("squeue: %d fields in %.80q", len(f), line)
		}
		n := named{number: f[0], user: f[1], reservation: none(f[4]), nodes: none(f[6])}
		if _, err := strconv.ParseUint(n.number, 10, 32); err != nil {
			return nil, fmt.Errorf("squeue: %q is not the number of a job", n.number)
		}
		var err error
		if n.submit, err = (record{"SubmitTime": f[2]}).time("SubmitTime"); err != nil {
			return nil, err
		}
		n.state, n.why = stateOf(listed{f[3]}, f[5], false)
		out = append(out, n)
	}
	return out, nil
}

// nodeNow is the present state of a node.
type nodeNow struct {
	state grid.NodeState
	said  string // Slurm's word for it
	// limits has its partitions, with how long a job may run there; 0: no limit
	limits map[string]grid.Duration
}

// nodesNow asks for the present state of some nodes.
func (c Commands) nodesNow(ctx context.Context, names []string) (map[string]*nodeNow, error) {
	out, err := c.Run(ctx, "sinfo", "--all", "--noheader", "-N", "--nodes="+strings.Join(names, ","), "--format=%N|%T|%R|%l")
	if err != nil {
		return nil, err
	}
	return readNodesNow(out)
}

func readNodesNow(text []byte) (map[string]*nodeNow, error) {
	nodes := map[string]*nodeNow{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		f := strings.Split(line, "|")
		if len(f) != 4 {
			return nil, fmt.Errorf("sinfo: %d fields in %.80q", len(f), line)
		}
		limit, err := span(f[3])
		if err != nil {
			return nil, fmt.Errorf("sinfo: partition %s: %w", f[2], err)
		}
		n := nodes[f[0]]
		if n == nil {
			n = &nodeNow{limits: map[string]grid.Duration{}}
			nodes[f[0]] = n
		}
		n.state, n.said = compactState(f[1]), f[1]
		n.limits[f[2]] = limit
	}
	return nodes, nil
}

// compactState reads the state of a node in one word, such as "idle", "drained", "down*" or
// "mixed-". A star says that the node does not respond.
func compactState(s string) grid.NodeState {
	word := strings.TrimRight(s, "*~#!%$@^-+")
	state := nodeState(listed{strings.ToUpper(word)}, nil)
	switch {
	case strings.EqualFold(word, "reserved"), strings.EqualFold(word, "planned"), strings.EqualFold(word, "completing"),
		strings.EqualFold(word, "maint"), strings.HasPrefix(strings.ToLower(word), "power"):
		state = grid.NodeUp
	}
	if state == grid.NodeUp && strings.Contains(s, "*") {
		return grid.NodeUnknown
	}
	return state
}

// span reads a limit as sinfo shows it: [days-][[hours:]minutes:]seconds, "infinite".
func span(s string) (grid.Duration, error) {
	if s == "infinite" || s == "n/a" || s == "" {
		return 0, nil
	}
	days, rest, hasDays := strings.Cut(s, "-")
	if !hasDays {
		days, rest = "0", s
	}
	total, err := strconv.ParseUint(days, 10, 20)
	if err != nil {
		return 0, fmt.Errorf("%q is not a limit", s)
	}
	parts := strings.Split(rest, ":")
	if len(parts) > 3 {
		return 0, fmt.Errorf("%q is not a limit", s)
	}
	for len(parts) < 3 {
		parts = append([]string{"0"}, parts...)
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 20)
		if err != nil {
			return 0, fmt.Errorf("%q is not a limit", s)
		}
		total = total*[]uint64{24, 60, 60}[i] + n
	}
	return grid.Duration(total) * grid.Second, nil
}
