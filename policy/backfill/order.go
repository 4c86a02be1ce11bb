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
)

type orderIs struct {
	// score is what the order sorts by, least first. It is asked for in each pass and view of
	// the group, as it may change with time. nil: arrival alone.
	score   func(g *Group, q *Queued) uint64
	byOwner bool // score asks whom a job belongs to: without Group.Rank the queue is by arrival
}

// orders is the table of them. A new one is a constant and a line here, with its score in a
// file of its own. Those behind ByArrival are named in a policy: "easy-fair".
var orders = names.Table[Order, orderIs]{Kind: "order", Lines: []names.Line[orderIs]{
	ByArrival: {Name: "arrival", Means: "the queue in order of arrival"},
	ByShare:   {Name: "fair", Means: "the queue ordered by what users have had lately", Is: orderIs{score: shareHad, byOwner: true}},
}}

// Under an order with a score the rest of a pass is the same. A plan of a state keeps the
// order that the state shows, though in the group it will change as jobs run.

// compareRank orders waiting jobs: by higher priority, then by lower score, then by
// submission and id.
func compareRank(a, b Queued) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Score, b.Score), compareArrival(&a, &b))
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
	if o.score == nil || o.byOwner && g.owners == nil || l.len() == 0 {
		return
	}
	if l.head > 0 || l.dead > 0 {
		g.compact()
	}
	for i := range l.jobs {
		l.jobs[i].Score = o.score(g, &l.jobs[i])
	}
	if !slices.IsSortedFunc(l.jobs, compareRank) {
		slices.SortFunc(l.jobs, compareRank)
		l.resum(0)
		g.rise()
	}
}
