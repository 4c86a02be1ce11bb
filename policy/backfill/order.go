package backfill

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/policy/names"
)

// Order says in which order a queue stands. Priority goes before it, and jobs that are equal
// to it stand by submission, then id.
type Order uint8

const (
	// ByArrival is by submission.
	ByArrival Order = iota
	// ByShare puts the jobs first whose owners have used least lately; see Group.Rank.
	ByShare
	// ByFormula puts the jobs first with the least values of Policy.By; see Group.Value.
	ByFormula
)

type orderIs struct {
	// score is what the order sorts by, least first. It is asked for in each pass and view of
	// the group, as it may change with time. A state that is not a group's asks it too, with
	// no more of the group than nodes, policy and instant. nil: arrival alone.
	score   func(g *Group, q *Queued) uint64
	byOwner bool   // score asks whom a job belongs to: without Group.Rank the queue is by arrival
	like    string // the formula that Policy.Ordered takes for it; "": none
	formula bool   // it needs Policy.By, and no name of a policy ends with it
}

// orders is the table of them. A new one is a constant and a line here, with its score in a
// file of its own. Those behind ByArrival are named in a policy: "easy-fair".
var orders = names.Table[Order, orderIs]{Kind: "order", Lines: []names.Line[orderIs]{
	ByArrival: {Name: "arrival", Means: "the queue in order of arrival"},
	ByShare:   {Name: "fair", Means: "the queue ordered by what users have had lately", Is: orderIs{score: shareHad, byOwner: true, like: "usage"}},
	ByFormula: {Name: "formula", Means: "the queue ordered by a formula", Is: orderIs{score: valueBy, formula: true}},
}}

// Under an order with a score the rest of a pass is the same. A plan of a state keeps the
// order that the state shows, though in the group it will change as jobs run.

// compareRank orders waiting jobs: by higher priority, then by lower score, then by
// submission and id.
func compareRank(a, b *Queued) int {
	switch {
	case a.Priority != b.Priority:
		return cmp.Compare(b.Priority, a.Priority)
	case a.Score != b.Score:
		return cmp.Compare(a.Score, b.Score)
	}
	return compareArrival(a, b)
}

// rank brings the queue into order. It costs a walk over the queue, and a sort if the order
// has changed. A queue in lanes is merged into the line, for a view.
func (g *Group) rank() {
	l, o := &g.line, orders.Is(g.policy.Order)
	if g.byLanes() {
		g.owners.rank()
		l.jobs = g.owners.merge(l.jobs[:0])
		return
	}
	if o.score == nil || o.byOwner && g.owners == nil || o.formula && !g.values.changes(g.policy.By) || l.len() == 0 {
		return
	}
	if l.head > 0 || l.dead > 0 {
		g.compact()
	}
	for i := range l.jobs {
		l.jobs[i].Score = o.score(g, &l.jobs[i])
	}
	if l.sort() {
		l.resum(0)
		g.rise()
	}
}

// sort brings the jobs into order, none of which may be dead, and reports whether they were
// out of it. Orders change little from pass to pass: what is nearly in order costs a walk.
func (l *line) sort() (changed bool) {
	steps := 4 * len(l.jobs)
	for i := 1; i < len(l.jobs); i++ {
		k := i
		for k > 0 && compareRank(&l.jobs[i], &l.jobs[k-1]) < 0 {
			k--
		}
		if k == i {
			continue
		}
		if changed, steps = true, steps-(i-k); steps < 0 {
			slices.SortFunc(l.jobs, func(a, b Queued) int { return compareRank(&a, &b) })
			return true
		}
		q := l.jobs[i]
		copy(l.jobs[k+1:i+1], l.jobs[k:i])
		l.jobs[k] = q
	}
	return changed
}
