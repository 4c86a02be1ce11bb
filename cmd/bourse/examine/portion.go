package examine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
)

// A quote or a forecast may be of a part of each node.

// addPortion adds the flags of what is asked of each node.
func addPortion(cmd *cobra.Command, p *grid.Portion, where string) {
	flags.AddFlag(cmd, &p.GPUs, flags.AsNumber, "gpus-per-node", 0, "GPUs that it takes of each node, "+where)
	flags.AddFlag(cmd, &p.Cores, flags.AsNumber, "cores-per-node", 0, "cores that it takes of each node")
	flags.AddFlag(cmd, &p.Memory, flags.AsBytes, "memory-per-node", 0, "memory that it takes of each node, such as 64GiB")
}

// ofNodes are those flags.
var ofNodes = []string{"gpus-per-node", "cores-per-node", "memory-per-node"}

// checkPortion refuses a portion that nobody could have.
func checkPortion(p *grid.Portion, given func(flag string) bool) error {
	for i, n := range [...]int{p.GPUs, p.Cores} {
		if given(ofNodes[i]) && (n < 1 || n > grid.MaxPortion) {
			return fmt.Errorf("--%s %d: must be 1 to %d", ofNodes[i], n, grid.MaxPortion)
		}
	}
	if given(ofNodes[2]) && p.Memory < 1 {
		return fmt.Errorf("--%s: must be above 0", ofNodes[2])
	}
	return nil
}

// having parts the nodes of a group into those of a look that have a portion, and the rest. If no
// node has it, the error says the most that any has of each.
func having(look *grid.Look, p *grid.Portion, g grid.Group, nodes []string) ([]grid.Group, [][]string, error) {
	var most grid.Portion
	has := map[string]bool{}
	for i := range look.Nodes {
		if n := &look.Nodes[i]; slices.Contains(nodes, n.Name) {
			has[n.Name] = n.GPUs >= p.GPUs && n.CPUs >= p.Cores && n.Memory >= p.Memory
			most = grid.Portion{GPUs: max(most.GPUs, n.GPUs), Cores: max(most.Cores, n.CPUs), Memory: max(most.Memory, n.Memory)}
		}
	}
	with, without := g, g
	lists := make([][]string, 2)
	for _, n := range nodes {
		k := 1
		if has[n] {
			k = 0
		}
		lists[k] = append(lists[k], n)
	}
	if with.Nodes, without.Nodes = len(lists[0]), len(lists[1]); with.Nodes == 0 {
		has := cmp.Or(most.Words(), "nothing that the snapshot knows")
		return nil, nil, fmt.Errorf("no single node of %s has %s; the most that any has is %s", g.Name, p.Words(), has)
	}
	without.Name += " (the rest)"
	return []grid.Group{with, without}, lists, nil
}
