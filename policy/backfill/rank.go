package backfill

import (
	"cmp"
	"slices"
)

// Under a fair policy the queue is ordered by what the owners of its jobs have had, as it
// is at each pass and at each view of the group: nothing else of a pass is different. A plan
// of a state keeps the order that the state shows, though it will change as jobs run.

// Rank says what the owner of a job has had by the group's instant, for a fair policy;
// without it the queue is in order of arrival. It comes before anything else.
func (g *Group) Rank(had func(q *Queued) uint64) {
	if g.policy.Fair && !g.policy.Conservative() { // no order may change guarantees
		g.had = had
	}
}

// compareRank orders jobs that wait: those of a higher priority first, within a priority
// those whose owner has had least, ties by submission, then id.
func compareRank(a, b Queued) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Had, b.Had), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
}

// rank brings the queue into its order. It costs a walk over the queue, and a sort if
// somebody has another place.
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
