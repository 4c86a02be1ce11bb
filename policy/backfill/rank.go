package backfill

import (
	"cmp"
	"slices"
)

// Under a fair policy the queue is ordered by what the owners of its jobs have used, as of
// each pass and each view of the group. The rest of a pass is the same. A plan of a state
// keeps the order that the state shows, though in the group it will change as jobs run.

// Rank sets the function that says what the owner of a job has used by the group's instant,
// for a fair policy. Without it the queue is in order of arrival. It must be called before
// anything arrives.
func (g *Group) Rank(had func(q *Queued) uint64) {
	if g.policy.Fair && !g.policy.Conservative() { // a new order must not change guarantees
		g.had = had
	}
}

// compareRank orders waiting jobs: by higher priority, then by lower Had, then by
// submission and id.
func compareRank(a, b Queued) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Had, b.Had), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
}

// rank brings the queue into order. It costs a walk over the queue, and a sort if the order
// has changed.
func (g *Group) rank() {
	l := &g.line
	if g.had == nil || l.len() == 0 {
		return
	}
	if l.head > 0 || l.dead > 0 {
		g.compact()
	}
	for i := range l.jobs {
		l.jobs[i].Had = g.had(&l.jobs[i])
	}
	if !slices.IsSortedFunc(l.jobs, compareRank) {
		slices.SortFunc(l.jobs, compareRank)
		l.resum(0)
		g.rise()
	}
}
