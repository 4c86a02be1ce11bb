package backfill

import (
	"cmp"
	"slices"
)

// turn is a job that may overtake: its line index, and what its turn is by.
type turn struct {
	by uint64
	at int
}

// turnsAtOnce reports whether the jobs that overtake have an order of their own and no head
// holds: then the order of the queue counts for ties alone.
func (p Policy) turnsAtOnce() bool { return p.Reserve == 0 && p.Turn() != nil }

// fillByTurn is fill where the jobs have an order of their own once as many heads hold as
// may. The jobs before line index from are blocked.
func (g *Group) fillByTurn(from int, by func(q *Queued) uint64) {
	from = g.fillHeads(from)
	if from == len(g.line.jobs) {
		return
	}
	if g.look(); g.horizon.empty() {
		return
	}
	g.turns = g.turns[:0]
	for i := g.line.fitting(from, &g.horizon); i >= 0; i = g.line.fitting(i+1, &g.horizon) {
		q := &g.line.jobs[i]
		g.values.turnOf(g, q)
		g.turns = append(g.turns, turn{by(q), i})
	}
	slices.SortFunc(g.turns, func(a, b turn) int { return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(a.at, b.at)) })
	for _, x := range g.turns {
		q := &g.line.jobs[x.at]
		if !g.fitsBeside(q) || !g.mayRun(q) {
			continue
		}
		kind := Backfilled
		if x.at == g.line.head {
			kind = g.inTurn(q.Submit)
		}
		g.start(x.at, kind)
	}
}

// fillHeads walks in queue order from line index i on, starts what fits and lets the others
// hold, until as many hold as may. It returns the index after the last that it looked at.
func (g *Group) fillHeads(i int) int {
	if g.policy.Reserve == 0 {
		return i
	}
	g.hold(i)
	for ; g.held < g.policy.Reserve && i < len(g.line.jobs); i++ {
		q := &g.line.jobs[i]
		switch {
		case q.Nodes == gone || g.barred(q):
		case g.fitsBesideHolds(i) && g.mayRun(q):
			g.start(i, Backfilled)
		default:
			g.hold(i + 1)
		}
	}
	return i
}

// fitsBeside reports whether a job fits now beside the holds, if there are any.
func (g *Group) fitsBeside(q *Queued) bool {
	work := *g.free()
	if g.workOK {
		work = g.work
	}
	return work.Min(g.now, g.now.Add(q.Estimate)) >= q.Nodes
}
