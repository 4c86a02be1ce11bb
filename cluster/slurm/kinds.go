package slurm

import "github.com/bourse-grid/bourse"

// Partitions lists the partitions that the nodes of a look are in, by name.
func Partitions(look *bourse.Look) []string { return partitionsOf(look) }

// Kinds makes a group of each kind of a partition's nodes, named as Groups knows them,
// and lists the names of each group's nodes. Performance is 1, a price they have none.
func Kinds(look *bourse.Look, partition string) ([]bourse.Group, [][]string, error) {
	kinds, err := kindsOf(look, []string{partition})
	if err != nil {
		return nil, nil, err
	}
	groups, nodes := make([]bourse.Group, len(kinds)), make([][]string, len(kinds))
	for i, k := range kinds {
		groups[i] = bourse.Group{Name: k.name, Nodes: len(k.nodes), Performance: bourse.Unit, Machine: bourse.Machine{Memory: k.memory, Features: k.features}}
		nodes[i] = k.nodes
	}
	return groups, nodes, nil
}
