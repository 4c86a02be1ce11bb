package backfill

import (
	"cmp"
	"slices"
)

// Under a fair policy the queue is ordered by what the owners of its jobs have used, as of
// each pass and each view of the group. The rest of a pass is the same. A plan of a state
// keeps the order that the state shows, though in the group it will change as jobs run.

// compareRank orders waiting jobs: by higher priority, then by lower Had, then by
// submission and id.
func compareRank(a, b Queued) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Had, b.Had), compareArrival(&a, &b))
}

// rank brings the queue into order. It costs a walk over the queue, and a sort if the order
// has changed. A queue in lanes is merged into the line, for a view.
func (g *Group) rank() {
	l := &g.line
	if g.byLanes() {
		g.owners.rank()
		l.jobs = g.owners.merge(l.jobs[:0])
		return
	}
	if g.owners == nil || l.len() == 0 {
		return
	}
	if l.head > 0 || l.dead > 0 {
		g.compact()
	}
	for i := range l.jobs {
		l.jobs[i].Had = g.owners.had(g.owners.of(&l.jobs[i]))
	}
	if !slices.IsSortedFunc(l.jobs, compareRank) {
		slices.SortFunc(l.jobs, compareRank)
		l.resum(0)
		g.rise()
	}
}
