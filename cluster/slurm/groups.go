package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// Padding is how long nodes are kept after a window: Slurm rounds a job's limit up to whole
// minutes, and looks every 30 s whether one is past it.
const Padding = 2 * grid.Minute

// Groups finds the nodes of a site's groups. A group is a partition or a part of it: if its
// nodes differ in CPUs, memory, features or GPUs, each kind is a group of its own, with a name
// such as "batch-64c-256g-gpu+ib", and "-4gpu" at its end if only that tells it from another. A node of several partitions belongs to the first that
// is named. The site offers as many nodes of a group as it configures, the first by name.
// What it configures of a node in addition to name, performance and price overrides what
// Slurm says. Groups returns the groups, the names of the nodes of each, and remarks for
// the operator. An error says what to write instead.
func Groups(look *grid.Look, partitions []string, want []grid.Group) ([]grid.Group, [][]string, []string, error) {
	kinds, err := kindsOf(look, partitions)
	if err != nil {
		return nil, nil, nil, err
	}
	var groups []grid.Group
	var nodes [][]string
	var remarks []string
	for _, g := range want {
		i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == g.Name })
		if i < 0 {
			return nil, nil, nil, fmt.Errorf("[[group]] %s is no partition of [cluster], or that has nodes of several kinds; there are %s", g.Name, listKinds(kinds))
		}
		k := kinds[i]
		names := k.nodes
		switch {
		case len(names) < g.Nodes:
			remarks = append(remarks, fmt.Sprintf("[[group]] %s has nodes = %d, of which Slurm has %d; those are offered", g.Name, g.Nodes, len(names)))
		case len(names) > g.Nodes:
			remarks = append(remarks, fmt.Sprintf("[[group]] %s has nodes = %d; of the %d that Slurm has the first by name are offered", g.Name, g.Nodes, len(names)))
			names = names[:g.Nodes]
		}
		g.Nodes = len(names)
		g.Machine.Memory = cmp.Or(g.Machine.Memory, k.memory)
		g.Machine.GPUs = cmp.Or(g.Machine.GPUs, k.gpus)
		if g.Divided() > 1 {
			if g.Cores = cmp.Or(g.Cores, k.cpus); g.Slices > g.Cores {
				return nil, nil, nil, fmt.Errorf("[[group]] %s has slices = %d, which is more than the %d cores of its nodes; must be 1 to %d", g.Name, g.Slices, g.Cores, g.Cores)
			}
		}
		if g.Machine.Features == nil {
			g.Machine.Features = k.features
		}
		groups, nodes = append(groups, g), append(nodes, names)
		k.taken = true
	}
	for _, k := range kinds {
		if !k.taken {
			remarks = append(remarks, fmt.Sprintf("%s of partition %s are not offered; a [[group]] named %s would offer them", grid.Count(len(k.nodes), "node"), k.partition, k.name))
		}
	}
	return groups, nodes, remarks, nil
}

// Offers says of each group in which partition its nodes are, and which of that are not offered.
func Offers(look *grid.Look, partitions []string, groups []grid.Group, nodes [][]string) map[string]Offer {
	offers := map[string]Offer{}
	for i, g := range groups {
		k := slices.IndexFunc(partitions, func(p string) bool {
			return slices.ContainsFunc(look.Nodes, func(n grid.ManagedNode) bool { return n.Name == nodes[i][0] && slices.Contains(n.Partitions, p) })
		})
		if k < 0 {
			continue
		}
		o := Offer{Partition: partitions[k]}
		for _, n := range look.Nodes {
			if slices.Contains(n.Partitions, o.Partition) && !slices.Contains(nodes[i], n.Name) {
				o.Without = append(o.Without, n.Name)
			}
		}
		offers[g.Name] = o
	}
	return offers
}

// kind is the nodes of one partition that are alike.
type kind struct {
	name, partition string
	cpus            int
	memory          int64
	gpus            int
	features        []string
	nodes           []string // by name
	taken           bool
}

// kindsOf finds the kinds of nodes of the partitions, in order of partition, then by name.
func kindsOf(look *grid.Look, partitions []string) ([]*kind, error) {
	var all []*kind
	for i, p := range partitions {
		var kinds []*kind
		there := false
		for _, n := range look.Nodes {
			if !slices.Contains(n.Partitions, p) {
				continue
			}
			there = true
			if slices.ContainsFunc(partitions[:i], func(earlier string) bool { return slices.Contains(n.Partitions, earlier) }) {
				continue
			}
			features := slices.Sorted(slices.Values(n.Features))
			at := slices.IndexFunc(kinds, func(k *kind) bool {
				return k.cpus == n.CPUs && k.memory == n.Memory && k.gpus == n.GPUs && slices.Equal(k.features, features)
			})
			if at < 0 {
				at = len(kinds)
				kinds = append(kinds, &kind{name: p, partition: p, cpus: n.CPUs, memory: n.Memory, gpus: n.GPUs, features: features})
			}
			kinds[at].nodes = append(kinds[at].nodes, n.Name)
		}
		if !there {
			return nil, fmt.Errorf("partition %s of [cluster] has no nodes in Slurm, or is not there; there are %s", p, strings.Join(partitionsOf(look), ", "))
		}
		if len(kinds) > 1 {
			names := map[string]int{}
			for _, k := range kinds {
				k.name = k.long()
				names[k.name]++
			}
			for _, k := range kinds {
				if names[k.name] > 1 { // only their GPUs differ
					k.name += fmt.Sprintf("-%dgpu", k.gpus)
				}
			}
			slices.SortFunc(kinds, func(a, b *kind) int { return cmp.Compare(a.name, b.name) })
		}
		all = append(all, kinds...)
	}
	return all, nil
}

// long is the name of a kind that is not the only one in its partition. Memory is in GiB if
// that is a whole number, otherwise in MiB.
func (k *kind) long() string {
	const mebi = 1 << 20
	name := fmt.Sprintf("%s-%dc-", k.partition, k.cpus)
	if k.memory%(1024*mebi) == 0 {
		name += fmt.Sprintf("%dg", k.memory/(1024*mebi))
	} else {
		name += fmt.Sprintf("%dm", k.memory/mebi)
	}
	if len(k.features) > 0 {
		name += "-" + strings.Join(k.features, "+")
	}
	return name
}

// listKinds lists the possible groups.
func listKinds(kinds []*kind) string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = fmt.Sprintf("%s (%s)", k.name, grid.Count(len(k.nodes), "node"))
	}
	return strings.Join(out, ", ")
}

// partitionsOf lists the partitions that have nodes, by name.
func partitionsOf(look *grid.Look) []string {
	var out []string
	for _, n := range look.Nodes {
		out = append(out, n.Partitions...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
