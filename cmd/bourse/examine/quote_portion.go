package examine

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// A quote may be of a part of each node. A snapshot shows no nodes that others have opened, so the
// reservation opens its own: it delays what whole nodes would, and pays for its slices.

// addPortion adds the flags of what is reserved of each node.
func (q *quote) addPortion(cmd *cobra.Command) {
	flags.AddFlag(cmd, &q.portion.GPUs, flags.AsNumber, "gpus-per-node", 0, "GPUs that it takes of each node, where the site divides nodes (default: whole nodes)")
	flags.AddFlag(cmd, &q.portion.Cores, flags.AsNumber, "cores-per-node", 0, "cores that it takes of each node")
	flags.AddFlag(cmd, &q.portion.Memory, flags.AsBytes, "memory-per-node", 0, "memory that it takes of each node, such as 64GiB")
}

// ofNodes are those flags.
var ofNodes = []string{"gpus-per-node", "cores-per-node", "memory-per-node"}

// checkPortion refuses a portion that nobody could have.
func (q *quote) checkPortion() error {
	for i, n := range [...]int{q.portion.GPUs, q.portion.Cores} {
		if q.given(ofNodes[i]) && (n < 1 || n > grid.MaxPortion) {
			return fmt.Errorf("--%s %d: must be 1 to %d", ofNodes[i], n, grid.MaxPortion)
		}
	}
	if q.given(ofNodes[2]) && q.portion.Memory < 1 {
		return fmt.Errorf("--%s: must be above 0", ofNodes[2])
	}
	return nil
}

// lacks says why nodes of a group cannot serve the portion; "" if they can.
func (q *quote) lacks(g *grid.Group) string {
	if _, lacks := q.portion.On(g); lacks != "" {
		return fmt.Sprintf("its nodes have too little %s, or %s does not say how much", lacks, g.Name)
	}
	return ""
}

// base is the base price of a start. Each part of a node is rounded once.
func (q *quote) base(g *grid.Group, start grid.Time, d grid.Duration) grid.Credits {
	if u, _ := q.portion.On(g); u > 0 && u < g.Divided() {
		return grid.CostOfSlicesOver(g.Price, g.Curve, start, start.Add(d), u, g.Divided()).Times(q.nodes)
	}
	if g.Curve == nil {
		return pricing.Base(g.Price, q.nodes, d)
	}
	return g.Cost(start, start.Add(d)).Times(q.nodes)
}

// ofEach says what is reserved of each node; "" for whole nodes.
func (q *quote) ofEach(g *grid.Group) string {
	u, _ := q.portion.On(g)
	if u == 0 || u == g.Divided() {
		return ""
	}
	var list []string
	if q.portion.GPUs > 0 {
		list = append(list, grid.Count(q.portion.GPUs, "GPU"))
	}
	if q.portion.Cores > 0 {
		list = append(list, grid.Count(q.portion.Cores, "core"))
	}
	if q.portion.Memory > 0 {
		list = append(list, fmt.Sprintf("%.4g GiB", float64(q.portion.Memory)/(1<<30)))
	}
	return fmt.Sprintf(" (%s of each, %d of its %d slices)", strings.Join(list, ", "), u, g.Divided())
}

// gpuHour is what an hour of one of the reserved GPUs costs at an offer; nil where none are asked for.
func (q *quote) gpuHour(total grid.Credits, d grid.Duration) *grid.Credits {
	if q.portion.GPUs < 1 {
		return nil
	}
	each := grid.Credits(grid.MulDiv(int64(total), int64(grid.Hour), int64(q.nodes)*int64(q.portion.GPUs)*int64(d)))
	return &each
}

// byGPU says what an hour of a GPU costs, if any are asked for.
func (o *quoteOffer) byGPU() string {
	if o.GPUHour == nil {
		return ""
	}
	return fmt.Sprintf(", %v for an hour of a GPU", *o.GPUHour)
}
