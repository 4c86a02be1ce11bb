package backfill

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Group is the queue of a group of identical nodes, driven by its owner. The owner advances
// the time, reports what ended and arrived, and asks for a pass, which returns the jobs
// that start. Within one instant the order is: job ends, cancellations, arrivals and
// reservations, then Pass. If the group changes later in the instant, it needs another
// Pass.
//
// Ids are unique among the jobs of a group, and among its reservations. Moving the time
// back, or ending a job that is not running, panics.
type Group struct {
	nodes    int
	policy   Policy
	now      grid.Time
	supply   supply
	running  runners
	ids      map[int64]struct{} // of waiting and running jobs; nil: not kept (Rehearse)
	reserved []Reserved         // by Start, then ID
	resEnd   grid.Time          // earliest end of a reservation
	line     line

	// work is what is free beside the holds of the blocked heads, valid while workOK is
	// true. Under the conservative policy, time is what is free beside all guarantees, and
	// always valid.
	work   grid.Profile
	workOK bool

	// Only where estimates are predictions, else nil. kept is the nodes without those
	// reserved; sure is also without those of running jobs, up to their limits.
	sure, kept grid.Profile

	gate   Gate    // nil: no limits
	owners *owners // nil: the queue is in order of arrival
	values values  // of orders by formula

	held                int       // number of holds in work
	firstHold, lastHold grid.Time // starts of the earliest and the latest of them
	probe               int       // line index at which to look for the next job that holds

	again bool // something came free: the next pass looks at every job again
	seen  int  // line index: jobs before it were found blocked, or have a guarantee
	due   grid.Time

	horizon horizon
	time    timeline
	moved   []moved // by displace
	turns   []turn
	starts  []Start
	state   State
	changed changes
}

// Start is a job that starts in this pass.
type Start struct {
	Queued
	Class Class
	End   grid.Time // by its estimate
}

// Class says how a job came to start.
type Class uint8

// The classes of a start, as reports name them.
const (
	Immediate   Class = iota // at its submission, with no job before it in the queue
	Backfilled               // a job ahead of it in the queue still waits
	Waited                   // at its turn, after waiting for it: "reserved"
	Reservation              // an advance reservation, not a start of the queue
)

// String returns the word that reports use.
func (c Class) String() string {
	return [...]string{"immediate", "backfilled", "reserved", "reservation"}[c]
}

// New returns an idle group of identical nodes at the instant now. It panics if nodes is
// below 1, or if Policy.Check refuses the policy.
func New(nodes int, policy Policy, now grid.Time) *Group {
	if nodes < 1 {
		panic(fmt.Sprintf("backfill: a group of %d nodes", nodes))
	}
	if err := policy.Check(); err != nil {
		panic("backfill: " + err.Error())
	}
	g := &Group{
		nodes: nodes, policy: policy, now: now,
		supply: supply{steps: grid.NewProfile(now, nodes)},
		ids:    make(map[int64]struct{}),
		resEnd: grid.Never,
		due:    grid.Never,
	}
	if policy.Conservative() {
		g.time.reset(*g.free(), nil, nil, nil)
		g.time.all, g.time.worth = false, worthMarks
	}
	return g
}

// Now is the group's instant.
func (g *Group) Now() grid.Time { return g.now }

// Waiting is the number of queued jobs.
func (g *Group) Waiting() int {
	if g.byLanes() {
		return g.owners.waiting
	}
	return g.line.len()
}

// Next returns the next instant at which a pass is due without any event from the owner:
// the end of a reservation or a guaranteed start; Never if there is none. The owner itself
// must know when jobs end.
func (g *Group) Next() grid.Time { return min(g.resEnd, g.due) }

// Advance moves the group to the instant now and drops reservations that have ended. It
// panics if now is in the past. A job still running at its planned end must be reported by
// End or Extend before the next Pass.
func (g *Group) Advance(now grid.Time) {
	if now <= g.now {
		if now < g.now {
			panic(fmt.Sprintf("backfill: time runs back from %v to %v", g.now, now))
		}
		return
	}
	g.now = now
	g.supply.from(now)
	if g.workOK {
		g.work.From(now)
	}
	if g.sure != nil {
		g.sure.From(now)
		g.kept.From(now)
	}
	if g.policy.Conservative() {
		g.time.advance(now)
	}
	if g.resEnd <= now {
		g.reserved = over(g.reserved, now)
		g.findReservationEnd()
		g.giveBack(now, now, 0)
	}
}

func (g *Group) findReservationEnd() {
	g.resEnd = grid.Never
	for i := range g.reserved {
		if g.reserved[i].Start >= g.resEnd {
			break // this one and all after it end later
		}
		g.resEnd = min(g.resEnd, g.reserved[i].End)
	}
}

// over drops the reservations that have ended by now from a list ordered by start. Only
// those that have begun can have ended, and they are few: they are shifted, and the rest
// stays.
func over(list []Reserved, now grid.Time) []Reserved {
	keep := 0
	for keep < len(list) && list[keep].Start < now {
		keep++
	}
	for i := keep - 1; i >= 0; i-- {
		if list[i].End > now {
			keep--
			list[keep] = list[i]
		}
	}
	return list[keep:]
}

// rise records that nodes came free, so that the next pass looks at every job again.
func (g *Group) rise() {
	g.again = true
	g.workOK = false
}

// Arrive puts a job into the queue, behind those of its own or a higher priority. It
// reports false, and changes nothing, if a job with the same id waits or runs. It panics
// unless 1 <= Nodes <= the group's nodes and Estimate > 0. It ignores q.Guarantee. At the
// end of the queue it costs O(1), elsewhere a walk.
func (g *Group) Arrive(q Queued) bool {
	if q.Nodes < 1 || q.Nodes > g.nodes || q.Estimate <= 0 {
		panic(fmt.Sprintf("backfill: job %d of %d nodes for %v in a group of %d", q.ID, q.Nodes, q.Estimate, g.nodes))
	}
	if g.line.sparse() {
		g.compact()
	}
	if !g.takes(q.ID) {
		return false
	}
	q.Guarantee = grid.Never
	g.changed.more()
	if g.byLanes() {
		g.owners.add(q)
		return true
	}
	i := g.line.add(q, g.values.arrive(g, &q))
	if g.policy.Conservative() {
		g.time.arrive(i, &q)
	}
	if i < g.seen {
		// The job goes before jobs that hold nodes: their holds must be placed again.
		if g.policy.Conservative() {
			g.seen = i
		} else {
			g.rise()
		}
	}
	return true
}

// compact drops the queue's dead entries and adjusts the indices into it.
func (g *Group) compact() {
	if g.policy.Conservative() {
		g.time.compact(g.line.jobs, g.line.head)
	}
	g.seen = g.line.compact(g.seen)
	if !g.policy.Conservative() {
		g.workOK = false
	}
}

// End reports that a running job is over. planned is its planned end, from its Start or the
// last Extend, and must not lie in the past. End panics if no such job runs.
func (g *Group) End(id int64, planned grid.Time) {
	if planned < g.now {
		panic(fmt.Sprintf("backfill: job %d ran past its end %v, now %v", id, planned, g.now))
	}
	r := g.running.take(id, planned)
	delete(g.ids, id)
	g.changed.more()
	if g.sure != nil && r.Last() > g.now {
		g.sure.Add(g.now, r.Last(), r.Nodes)
	}
	g.giveBack(g.now, r.End, r.Nodes)
}

// giveBack returns n nodes over [s, e) to the free profile. An empty interval means that
// something ended as planned: nodes come free, but no guarantee can move because of it.
func (g *Group) giveBack(s, e grid.Time, n int) {
	switch {
	case g.supply.alone:
		g.supply.idle += n
	case s < e:
		g.free().Add(s, e, n)
		if g.policy.Conservative() {
			g.time.giveBack(s, e, n)
		}
	}
	if s < e || !g.policy.Conservative() {
		g.rise()
	}
}

// Extend moves the planned end of a running job later by d > 0. It reports false, and
// changes nothing, if a reservation needs the nodes; up to the job's limit, none ever does.
// Guarantees that are in the way are placed again, as by Reserve. It panics if the job does
// not run until planned.
func (g *Group) Extend(id int64, planned grid.Time, d grid.Duration) bool {
	x, end := g.running.find(id, planned), planned.Add(d)
	if g.free().Min(planned, end) < x.Nodes || !g.outlive(x, end) {
		return false
	}
	g.settle() // while the job runs, as gates see it
	g.changed.more()
	r := g.running.take(id, planned)
	g.free().Add(planned, end, -r.Nodes)
	r.End = end
	g.running.put(r)
	g.displace(planned, r.End, r.Nodes)
	return true
}

// Cancel removes a waiting job from the queue and reports whether there was one. It costs a
// walk over the queue.
func (g *Group) Cancel(id int64) bool {
	if g.byLanes() {
		if !g.owners.cancel(id) {
			return false
		}
		delete(g.ids, id)
		g.changed.more()
		return true
	}
	for i := g.line.head; i < len(g.line.jobs); i++ {
		q := &g.line.jobs[i]
		if q.ID != id || q.Nodes == gone {
			continue
		}
		if g.policy.Conservative() {
			g.time.cancel(int32(i))
		}
		g.line.remove(i)
		delete(g.ids, id)
		g.values.gone(id)
		g.changed.more()
		g.rise()
		return true
	}
	return false
}

// Reserve accepts an advance reservation iff its nodes are free of running jobs and other
// reservations for all of its time; the queue has no say. If it takes nodes that the
// conservative policy has guaranteed, one walk in queue order places the queue again: a
// guarantee that still fits beside the reservation and the jobs before it stays, and any
// other job gets its earliest fit. That costs as much as a plan of the queue.
//
// The zero Reason means that it was accepted; otherwise it is that of State.Refusal and
// names what is in the way. Reserve panics on an empty reservation, or if it is there
// already.
func (g *Group) Reserve(r Reserved) grid.Reason {
	if r.Nodes < 1 || r.End <= r.Start {
		panic(fmt.Sprintf("backfill: reservation %d of %d nodes over [%v, %v)", r.ID, r.Nodes, r.Start, r.End))
	}
	g.settle()
	if r.Start < g.now || r.Nodes > g.nodes || g.firm().Min(r.Start, r.End) < r.Nodes {
		return g.State().Refusal(r.Start, r.Nodes, r.End.Sub(r.Start))
	}
	i, found := slices.BinarySearchFunc(g.reserved, r, compareReserved)
	if found {
		panic(fmt.Sprintf("backfill: reservation %d twice", r.ID))
	}
	g.free().Add(r.Start, r.End, -r.Nodes)
	g.keep(r, -r.Nodes)
	g.reserved = slices.Insert(g.reserved, i, r)
	g.resEnd = min(g.resEnd, r.End)
	g.changed.note(r, false)
	g.displace(r.Start, r.End, r.Nodes)
	return grid.Reason{}
}

// Release gives back a reservation, or the rest of one that has begun, and reports whether
// there was one. It costs a walk over the reservations.
func (g *Group) Release(id int64) bool {
	i := slices.IndexFunc(g.reserved, func(r Reserved) bool { return r.ID == id })
	if i < 0 {
		return false
	}
	r := g.reserved[i]
	g.reserved = slices.Delete(g.reserved, i, i+1)
	g.findReservationEnd()
	g.changed.note(r, true)
	r.Start = max(r.Start, g.now)
	g.keep(r, r.Nodes)
	g.giveBack(r.Start, r.End, r.Nodes)
	return true
}

// State returns a view of the group that is valid until its next change. It first brings
// guarantees, and the order of the queue, up to date, so that a plan of the state
// agrees with a pass at this instant.
func (g *Group) State() *State {
	g.settle()
	g.rank()
	g.values.turn(g)
	if g.line.dead > 0 {
		g.compact()
	}
	g.state = State{
		Now: g.now, Nodes: g.nodes, Policy: g.policy,
		Free: *g.free(), Running: g.running.list(), Reserved: g.reserved,
		Queue: g.line.jobs[g.line.head:], Sure: g.sure,
	}
	return &g.state
}

func compareReserved(a, b Reserved) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
}
