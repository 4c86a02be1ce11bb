package slurm

import "github.com/bourse-grid/bourse"

// Partitions lists the partitions of the nodes of a look, by name.
func Partitions(look *bourse.Look) []string { return partitionsOf(look) }

// Kinds makes a group of each kind of a partition's nodes, with the names that Groups knows,
// and lists the names of each group's nodes. Performance is 1; there is no price.
func Kinds(look *bourse.Look, partition string) ([]bourse.Group, [][]string, error) {
	kinds, err := kindsOf(look, []string{partition})
	if err != nil {
		return nil, nil, err
	}
	groups, nodes := make([]bourse.Group, len(kinds)), make([][]string, len(kinds))
	for i, k := range kinds {
		groups[i] = bourse.Group{Name: k.name, Nodes: len(k.nodes), Performance: bourse.Unit, Machine: bourse.Machine{Memory: k.memory, GPUs: k.gpus, Features: k.features}}
		nodes[i] = k.nodes
	}
	return groups, nodes, nil
}
