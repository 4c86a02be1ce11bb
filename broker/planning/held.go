package planning

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Held is the order in which chosen windows are held: the jobs' indices in serving order or, where
// a window lies on pinned nodes, by start, those of equal starts in serving order. Windows that
// were planned on counts find nodes of their own if they take them in the order in which they
// begin. In another order one may find that as many nodes as it needs are free at every instant,
// but no such nodes for all of it. Jobs without a window come last.
func (d *Draft) Held(o *Outcome) (order []int, pinned bool) {
	order = make([]int, len(o.Jobs))
	for i := range o.Jobs {
		order[i] = i
		a := o.Jobs[i].Chosen()
		pinned = pinned || a != nil && slices.ContainsFunc(a.Legs, func(l Leg) bool { return d.Groups[l.Group].Pinned() })
	}
	if pinned {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(o.Jobs[i].begins(), o.Jobs[j].begins()) })
	}
	return order, pinned
}

// begins is when the chosen window of a plan begins, Never if there is none.
func (p *Plan) begins() grid.Time {
	if a := p.Chosen(); a != nil {
		return a.Start()
	}
	return grid.Never
}
