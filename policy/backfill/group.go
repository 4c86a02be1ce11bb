package backfill

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse"
)

// Group is the queue of one group of alike nodes, driven from outside: its
// owner moves the time, tells it what ended and arrived, and asks for a pass,
// which answers with the jobs that start. Within one instant the owner's order
// is: job ends, cancellations, arrivals and reservations, then Pass; whatever
// changes the group later in the instant wants another Pass.
//
// Ids are unique among the jobs of a group, and among its reservations. Time
// that runs back, or an end of what does not run, is a panic.
type Group struct {
	nodes    int
	policy   Policy
	now      bourse.Time
	supply   supply
	running  runners
	ids      map[int64]struct{} // of the jobs that wait or run
	reserved []Reserved         // by Start, then ID
	resEnd   bourse.Time        // earliest end of a reservation
	line     line

	// work is free less the holds of blocked heads (valid while workOK). Under the
	// conservative policy time is free less all guarantees (always valid).
	work   bourse.Profile
	workOK bool

	// Where estimates are predictions: the nodes less reserved, less running to their
	// limits, and the nodes less reserved. Else nil.
	sure, kept bourse.Profile

	gate Gate                   // nil: no limits
	had  func(q *Queued) uint64 // nil: the queue is in order of arrival

	held                int         // holds in work
	firstHold, lastHold bourse.Time // where the first and the last of them begins
	probe               int         // line index where the next hold is looked for

	again bool // something came free: the next pass looks at everyone again
	seen  int  // line index: jobs before it were told no, or have a guarantee
	due   bourse.Time

	horizon horizon
	time    timeline
	moved   []moved // by it
	starts  []Start
	state   State
	changed changes
}

// Start is a job that starts now.
type Start struct {
	Queued
	Class Class
	End   bourse.Time // by its estimate
}

// Class says how a job came to start.
type Class uint8

// The classes of a start, as reports name them.
const (
	Immediate   Class = iota // at its submit, past nobody
	Backfilled               // a job ahead of it in the queue still waits
	Waited                   // at its turn, having waited for it: "reserved"
	Reservation              // an advance reservation, not a start of the queue
)

// String is the word of reports.
func (c Class) String() string {
	return [...]string{"immediate", "backfilled", "reserved", "reservation"}[c]
}

// New returns an idle group of nodes > 0 alike nodes at the instant now.
func New(nodes int, policy Policy, now bourse.Time) *Group {
	if nodes < 1 {
		panic(fmt.Sprintf("backfill: a group of %d nodes", nodes))
	}
	g := &Group{
		nodes: nodes, policy: policy, now: now,
		supply: supply{steps: bourse.NewProfile(now, nodes)},
		ids:    make(map[int64]struct{}),
		resEnd: bourse.Never,
		due:    bourse.Never,
	}
	if policy.Conservative() {
		g.time.reset(*g.free(), nil, nil, nil)
		g.time.all, g.time.worth = false, worthMarks
	}
	return g
}

// Now is the group's instant.
func (g *Group) Now() bourse.Time { return g.now }

// Waiting is the number of queued jobs.
func (g *Group) Waiting() int { return g.line.len() }

// Next is the next instant at which a pass is due though nobody calls: the end
// of a reservation or a guaranteed start. The ends of jobs are their owner's to
// tell.
func (g *Group) Next() bourse.Time { return min(g.resEnd, g.due) }

// Advance moves the group to the instant now; reservations that end by then
// leave. A job that is still running at its planned end must be told of by End
// or Extend before the next Pass.
func (g *Group) Advance(now bourse.Time) {
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
	g.resEnd = bourse.Never
	for i := range g.reserved {
		if g.reserved[i].Start >= g.resEnd {
			break // as all that come behind, it ends later
		}
		g.resEnd = min(g.resEnd, g.reserved[i].End)
	}
}

// over drops the reservations that have ended by now from a list that is in order. They
// are among those that have begun, and these are few: they move, and the others stay.
func over(list []Reserved, now bourse.Time) []Reserved {
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

// rise notes that nodes came free: the next pass asks everybody again.
func (g *Group) rise() {
	g.again = true
	g.workOK = false
}

// Arrive puts a job into the queue, behind those of its own or a higher
// priority, and reports whether it could: not if one of its id waits or runs.
// 1 <= Nodes <= the group's, Estimate > 0. Its Guarantee is ignored.
func (g *Group) Arrive(q Queued) bool {
	if q.Nodes < 1 || q.Nodes > g.nodes || q.Estimate <= 0 {
		panic(fmt.Sprintf("backfill: job %d of %d nodes for %v in a group of %d", q.ID, q.Nodes, q.Estimate, g.nodes))
	}
	if g.line.sparse() {
		g.compact()
	}
	n := len(g.ids)
	if g.ids[q.ID] = struct{}{}; len(g.ids) == n {
		return false
	}
	q.Guarantee = bourse.Never
	g.changed.more()
	i := g.line.add(q)
	if g.policy.Conservative() {
		g.time.arrive(i, &q)
	}
	if i < g.seen {
		// It goes before jobs that hold: their holds are found anew.
		if g.policy.Conservative() {
			g.seen = i
		} else {
			g.rise()
		}
	}
	return true
}

// compact drops the queue's dead entries, keeping the marks into it.
func (g *Group) compact() {
	if g.policy.Conservative() {
		g.time.compact(g.line.jobs, g.line.head)
	}
	g.seen = g.line.compact(g.seen)
	if !g.policy.Conservative() {
		g.workOK = false
	}
}

// End tells that a running job is over, early or at its planned end, which is
// that of its Start or what Extend made of it.
func (g *Group) End(id int64, planned bourse.Time) {
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

// giveBack returns n nodes over [s, e) to the profile. An empty interval is an
// end as planned: nodes come free, yet no guarantee can move for it.
func (g *Group) giveBack(s, e bourse.Time, n int) {
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

// Extend moves the planned end of a running job on by d > 0, and reports
// whether it could: not if a reservation needs the nodes, which it never does up to
// the job's limit. Guarantees are re-placed as by Reserve.
func (g *Group) Extend(id int64, planned bourse.Time, d bourse.Duration) bool {
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

// Cancel takes a waiting job out of the queue and reports whether it was there.
// It costs a walk over the queue.
func (g *Group) Cancel(id int64) bool {
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
		g.changed.more()
		g.rise()
		return true
	}
	return false
}

// Reserve accepts an advance reservation iff its nodes are free of running jobs
// and other reservations all through; the queue has no say. If it takes what the
// conservative policy has guaranteed, one walk in queue order re-places the queue:
// a guarantee that still fits beside the reservation and the jobs before it stays,
// any other job is placed at its earliest fit there and then. That costs a plan
// of the queue. The reason of a refusal names what is in the way.
func (g *Group) Reserve(r Reserved) bourse.Reason {
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
	return bourse.Reason{}
}

// Release gives a reservation back, before or during its time, and reports
// whether it was there.
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

// State is a view of the group, valid until its next change. Guarantees, and the order of
// a fair policy, are brought up to date first, so that a plan of the state is what a pass
// at this instant would make of it.
func (g *Group) State() *State {
	g.settle()
	g.rank()
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
