package slurm

import "github.com/bourse-grid/bourse/grid"

// Partitions lists the partitions of the nodes of a look, by name.
func Partitions(look *grid.Look) []string { return partitionsOf(look) }

// Kinds makes a group of each kind of a partition's nodes, with the names that Groups knows,
// and lists the names of each group's nodes. Performance is 1; there is no price.
func Kinds(look *grid.Look, partition string) ([]grid.Group, [][]string, error) {
	kinds, err := kindsOf(look, []string{partition})
	if err != nil {
		return nil, nil, err
	}
	groups, nodes := make([]grid.Group, len(kinds)), make([][]string, len(kinds))
	for i, k := range kinds {
		groups[i] = grid.Group{Name: k.name, Nodes: len(k.nodes), Performance: grid.Unit, Machine: grid.Machine{Memory: k.memory, GPUs: k.gpus, Features: k.features}}
		nodes[i] = k.nodes
	}
	return groups, nodes, nil
}
