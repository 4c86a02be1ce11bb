package examine

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// A quote may be of a part of each node. A snapshot shows no nodes that others have opened, so the
// reservation opens its own: it delays what whole nodes would, and pays for its slices.

// lacks says why nodes of a group cannot serve the portion; "" if they can.
func (q *quote) lacks(g *grid.Group) string {
	if _, lacks := q.portion.On(g); lacks != "" {
		return fmt.Sprintf("its nodes have %s, or %s does not say what they have", grid.TooFew(lacks), g.Name)
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
	return fmt.Sprintf(" (%s of each, %d of its %d slices)", q.portion.Words(), u, g.Divided())
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
