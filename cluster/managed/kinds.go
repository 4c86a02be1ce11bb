package managed

import (
	"fmt"
	"slices"
	"strconv"

	"bourse"
)

// Partitions lists the partitions that the nodes of a look are in, by name.
func Partitions(look *bourse.Look) []string {
	var names []string
	for i := range look.Nodes {
		names = append(names, look.Nodes[i].Partitions...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// InPartition lists the names of a partition's nodes, in the order of the look.
func InPartition(look *bourse.Look, partition string) []string {
	var names []string
	for i := range look.Nodes {
		if n := &look.Nodes[i]; slices.Contains(n.Partitions, partition) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Kinds makes groups of the nodes of a partition, and lists the names of each
// group's nodes: those with as many processors, as much memory and the same features
// are alike. Where all are, the group has the partition's name; else they are numbered
// behind it, batch.1, batch.2, in the order of their first nodes.
func Kinds(look *bourse.Look, partition string) (groups []bourse.Group, nodes [][]string) {
	index := map[string]int{}
	for i := range look.Nodes {
		n := &look.Nodes[i]
		if !slices.Contains(n.Partitions, partition) {
			continue
		}
		features := slices.Sorted(slices.Values(n.Features))
		kind := fmt.Sprintf("%d %d %q", n.CPUs, n.Memory, features)
		k, ok := index[kind]
		if !ok {
			k = len(groups)
			index[kind] = k
			groups = append(groups, bourse.Group{Performance: bourse.Unit, Machine: bourse.Machine{Memory: n.Memory, Features: features}})
			nodes = append(nodes, nil)
		}
		groups[k].Nodes++
		nodes[k] = append(nodes[k], n.Name)
	}
	for k := range groups {
		if groups[k].Name = partition; len(groups) > 1 {
			groups[k].Name = fmt.Sprintf("%s.%d", partition, k+1)
		}
	}
	return groups, nodes
}

// JobsOf finds the job of a look that an id stands for in the states that StateOf
// makes of it: of the jobs with that number the first that has not ended; nil if there
// is none.
func JobsOf(look *bourse.Look) func(id int64) *bourse.ManagedJob {
	index := make(map[string]int, len(look.Jobs))
	for i := range look.Jobs {
		j := &look.Jobs[i]
		if _, had := index[j.Number]; !had && j.State != bourse.ManagedEnded {
			index[j.Number] = i
		}
	}
	return func(id int64) *bourse.ManagedJob {
		i, found := index[strconv.FormatInt(id, 10)]
		if k := id - 1<<40; k >= 0 && k < int64(len(look.Jobs)) {
			i, found = int(k), true
		}
		if !found {
			return nil
		}
		return &look.Jobs[i]
	}
}
