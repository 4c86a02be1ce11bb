package backfill

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Pass runs the scheduling pass of the group's instant and returns the jobs that start, in
// queue order. The slice is valid until the next pass. A second pass over an unchanged
// group starts nothing. Pass panics if a running job has reached its planned end and was
// neither ended nor extended.
//
// In queue order, a job starts if its nodes stay free for its estimate from now on, beside
// the holds of the blocked jobs before it. The first Policy.Reserve blocked jobs hold their
// earliest fit; once they do, the rest may have an order of its own, and start in it. Under
// FCFS the first blocked job ends the pass. Under the conservative
// policy guarantees are compressed if something ended early, new jobs get theirs, and jobs
// guaranteed this instant start.
func (g *Group) Pass() []Start {
	g.starts = g.starts[:0]
	if r := g.running.first(); r != nil && r.End <= g.now {
		panic(fmt.Sprintf("backfill: job %d has neither ended nor been extended by %v", r.ID, g.now))
	}
	if g.byLanes() {
		return g.passByLanes()
	}
	if g.values.change(g.policy) && !g.someFits() {
		return g.starts // in whatever order
	}
	g.rank()
	if g.gate != nil {
		return g.passLimited()
	}
	if g.policy.Conservative() {
		g.settle()
		g.startGuaranteed()
		return g.starts
	}
	from := g.seen
	if g.again {
		from = g.line.head
	}
	if !g.policy.turnsAtOnce() {
		from = g.startHeads(from)
	}
	g.overtake(from)
	g.again = false
	g.seen = len(g.line.jobs)
	if g.line.len() == 0 && len(g.reserved) == 0 {
		g.workOK = false // there are no holds
		g.supply.relax()
	}
	return g.starts
}

// startHeads starts jobs from line index i on for as long as each fits and no job waits
// before it. It returns the index after the first job that has to wait.
func (g *Group) startHeads(i int) int {
	l := &g.line
	for i = max(i, l.head); i == l.head && i < len(l.jobs); i = max(i, l.head) {
		q := &l.jobs[i]
		if q.Nodes > g.supply.now() || !g.lasts(q) || !g.mayRun(q) {
			return i + 1
		}
		g.start(i, g.inTurn(q.Submit))
	}
	return i
}

// overtake starts the jobs from line index i on that may overtake those before it, which are
// all blocked.
func (g *Group) overtake(i int) {
	switch turn := g.policy.Turn(); {
	case !g.policy.Backfills():
	case turn == nil:
		g.fill(i)
	default:
		g.fillByTurn(i, turn)
	}
}

// lasts reports whether the nodes that q needs and that are free now stay free for its
// estimate. Running jobs only give nodes back, so only reservations require a walk.
func (g *Group) lasts(q *Queued) bool {
	return len(g.reserved) == 0 || g.free().Min(g.now, g.now.Add(q.Estimate)) >= q.Nodes
}

// fill starts the jobs from line index i on that fit beside the holds of the jobs before
// them. Every live job before i is blocked. Holds are not placed until some job fits
// without them. Nothing starts before that, so each hold is still found in the profile that
// it would have had at its turn.
func (g *Group) fill(i int) {
	for i < len(g.line.jobs) { // with no job left, the free profile is not needed
		if g.look(); g.horizon.empty() {
			return
		}
		if i = g.line.fitting(i, &g.horizon); i < 0 {
			return
		}
		if g.hold(i) && !g.fitsBesideHolds(i) || !g.mayRun(&g.line.jobs[i]) {
			i++
			continue
		}
		g.start(i, Backfilled)
		i++
	}
}

// look computes the horizon of what is free beside the holds, if they are placed.
func (g *Group) look() {
	if first, last := g.falls(); g.workOK {
		g.horizon.look(g.work, first, last)
	} else {
		g.horizon.look(*g.free(), first, last)
	}
}

// falls returns the earliest and the latest instant at which the number of free nodes may
// fall: the starts of reservations and holds.
func (g *Group) falls() (first, last grid.Time) {
	first, last = g.taken()
	if g.workOK {
		first, last = min(first, g.firstHold), max(last, g.lastHold)
	}
	return first, last
}

// taken returns the starts of the first and the last reservation.
func (g *Group) taken() (first, last grid.Time) {
	if n := len(g.reserved); n > 0 {
		return g.reserved[0].Start, g.reserved[n-1].Start
	}
	return grid.Never, g.now
}

func (g *Group) fitsBesideHolds(i int) bool {
	q := &g.line.jobs[i]
	return g.work.Min(g.now, g.now.Add(q.Estimate)) >= q.Nodes
}

// hold places the holds of the blocked jobs before line index end, up to the policy's
// number, and reports whether it placed any.
func (g *Group) hold(end int) bool {
	if g.policy.Reserve == 0 {
		return false
	}
	if !g.workOK {
		g.beginHolds()
	}
	placed := false
	for ; g.held < g.policy.Reserve && g.probe < end; g.probe++ {
		q := &g.line.jobs[g.probe]
		if q.Nodes == gone || g.barred(q) {
			continue
		}
		g.holdFor(q)
		g.held++
		placed = true
	}
	return placed
}

// beginHolds begins with what is free, without any hold.
func (g *Group) beginHolds() {
	g.work = append(g.work[:0], *g.free()...)
	g.workOK, g.held, g.probe = true, 0, g.line.head
	g.firstHold, g.lastHold = grid.Never, g.now
}

// holdFor places the hold of a blocked job, if it ever fits.
func (g *Group) holdFor(q *Queued) {
	if at := g.earliest(q, &g.work); at < grid.Never {
		g.work.Add(at, at.Add(q.Estimate), -q.Nodes)
		g.firstHold, g.lastHold = min(g.firstHold, at), max(g.lastHold, at)
	}
}

// start moves job i from the queue to the running jobs.
func (g *Group) start(i int, kind Class) {
	q := g.line.jobs[i]
	g.line.remove(i)
	if g.policy.Conservative() {
		g.time.start(int32(i))
	}
	g.begin(q, kind)
}

// begin adds a job that has left the queue to the running jobs.
func (g *Group) begin(q Queued, kind Class) {
	end := g.now.Add(q.Estimate)
	g.changed.more()
	if g.supply.alone {
		g.supply.idle -= q.Nodes
	} else {
		g.free().Add(g.now, end, -q.Nodes)
	}
	if g.workOK {
		g.work.Add(g.now, end, -q.Nodes)
	}
	r := Running{ID: q.ID, Nodes: q.Nodes, Start: g.now, End: end}
	if g.sure != nil {
		r.Limit = g.now.Add(q.Longest())
		g.sure.Add(g.now, r.Limit, -q.Nodes)
	}
	g.running.put(r)
	g.values.gone(q.ID)
	g.starts = append(g.starts, Start{Queued: q, Class: kind, End: end})
	if g.gate != nil {
		g.gate.Started(&g.starts[len(g.starts)-1].Queued)
	}
}
