package cluster

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// lock is the cluster's side of a leg: nodes locked, then a reservation that work
// runs in, then word of what came of it, until the site has heard it. It changes
// by facts only.
type lock struct {
	bourse.LockMemory
	begun bool   // its work has, perhaps before it was confirmed
	over  bool   // its work is, at Ends
	told  uint32 // how many of its shifts the site has heard of
	gone  bool   // from the books: a flag is quicker than a look-up for each

	beside bool   // it counted on another's nodes when it came into the books
	owed   bool   // it is among those that the site is told of again
	made   uint64 // its place in the order in which they were made
}

// done reports whether a lock keeps no nodes any more, and only word of it is
// left to tell.
func (l *lock) done() bool { return l.State == bourse.LockEnded || l.State == bourse.LockLost }

// worked reports whether the facts say of the work that was handed over for a lock that
// it has begun or, where the lock is lost, may have.
func (l *lock) worked() bool {
	switch l.State {
	case bourse.LockRunning, bourse.LockEnded:
		return l.Work != nil
	case bourse.LockLost:
		return l.Submitted > 0
	}
	return false
}

// each ranges over the locks in the order in which they were made.
func (a *Agent) each(yield func(*lock) bool) {
	for _, l := range a.order {
		if !l.gone && !yield(l) {
			return
		}
	}
}

// keep takes a lock into the books.
func (a *Agent) keep(l *lock) {
	a.forget(l.Leg)
	a.made++
	a.locks[l.Leg], l.gone, l.made = l, false, a.made
	if l.beside = l.Beside != (bourse.LegID{}); l.beside {
		a.beside++
	}
	a.order = append(a.order, l)
}

// drop takes one out of them.
func (a *Agent) drop(l *lock) {
	a.forget(l.Leg)
	if 4*len(a.order) > 5*len(a.locks)+64 {
		a.order = slices.DeleteFunc(a.order, func(l *lock) bool { return l.gone })
	}
}

// forget lets go of the lock of a leg, if there is one.
func (a *Agent) forget(id bourse.LegID) {
	if l := a.locks[id]; l != nil {
		if l.gone = true; l.beside {
			a.beside--
		}
		delete(a.locks, id)
	}
}

// answerHold locks nodes and says where, or says who is in the way.
func (a *Agent) answerHold(now bourse.Time, from agents.ID, m agents.ClusterHold) {
	r := agents.ClusterHeld{Leg: m.Leg, Refusal: a.hold(now, m)}
	switch l := a.locks[m.Leg]; {
	case r.Refusal == Later:
		return
	case r.Refusal.Refused():
		r.Instead, r.Shifts = a.backend.Elsewhere(now, m)
	default:
		r.Nodes = l.Names
		if l.Flex.Due > 0 && l.Beside == (bourse.LegID{}) { // where in its window
			r.What = l.What
		}
	}
	a.out.Send(from, r)
}

func (a *Agent) hold(now bourse.Time, m agents.ClusterHold) bourse.Reason {
	if why := a.backend.Suits(m); why.Refused() {
		return why
	}
	l := a.locks[m.Leg]
	switch {
	case l != nil && !l.done():
		return bourse.Reason{} // the answer got lost
	case l != nil && l.State == bourse.LockEnded && m.Again:
		return bourse.Reason{} // its site has forgotten it, and is told again how it ended
	case l != nil, a.past.has(m.Leg) && !m.Again:
		return bourse.Reason{Code: bourse.Withdrawn, Detail: "leg " + m.Leg.String() + " was released before"}
	case a.past.begun(m.Leg):
		return bourse.Reason{Code: bourse.Withdrawn, Detail: "the work of leg " + m.Leg.String() + " has begun before, and does not begin twice"}
	}
	return a.backend.Place(now, m)
}

// confirm makes a lock a reservation that work runs in, from its start on, in
// place of the one that it counts on. The site hears if there is none.
func (a *Agent) confirm(now bourse.Time, from agents.ID, m agents.ClusterConfirm) {
	id := m.Leg
	l := a.locks[id]
	if l == nil && !a.past.has(id) {
		a.out.Send(from, agents.ClusterLost{Leg: id})
		return
	}
	a.out.Send(from, agents.ClusterDone{Leg: id, Step: agents.ClusterConfirm{}.Kind()})
	if l == nil || l.State != bourse.LockHeld {
		return
	}
	if old := l.Beside; old != (bourse.LegID{}) {
		a.release(now, old)
	}
	a.Record(bourse.LockMoved{Leg: id, State: bourse.LockConfirmed, Work: m.Work})
	a.backend.Confirm(now, id, m.Work)
}

// release frees what is kept for a leg; nothing is locked for it again, but for a site
// that has forgotten it. If its work may have begun, not even then: no work runs twice.
func (a *Agent) release(now bourse.Time, id bourse.LegID) {
	l := a.locks[id]
	if l == nil && a.past.has(id) {
		return
	}
	begun := l != nil && l.worked()
	begun = a.backend.Release(now, id) || begun
	a.Record(bourse.LockMoved{Leg: id, State: bourse.LockReleased, Begun: begun})
}

// inventory shows what is kept for the site's legs.
func (a *Agent) inventory(from agents.ID, m agents.ClusterInventory) {
	r := agents.ClusterLocks{Ref: m.Ref}
	for l := range a.each {
		k := agents.ClusterLock{Leg: l.Leg, Confirmed: l.State != bourse.LockHeld && l.State != bourse.LockLost,
			Running: l.State == bourse.LockRunning, Lost: l.State == bourse.LockLost, Ended: l.State == bourse.LockEnded,
			Result: l.Result, Reason: l.Reason}
		if l.over {
			k.End = l.Ends
		}
		if l.Shifts > 0 {
			k.Shifts, k.From, k.To, k.FixedThere = l.Shifts, l.What.Start, l.What.End, l.Fixed
		}
		r.Locks = append(r.Locks, k)
	}
	a.out.Send(from, r)
}

// keepReleased is how long a released leg is remembered.
const keepReleased = bourse.Day

// past remembers for a day which legs were released, so that a hold that arrives
// after its release locks nothing, and which of those have begun.
type past struct {
	legs map[bourse.LegID]release
	line []release // in order of time
}

type release struct {
	at    bourse.Time
	leg   bourse.LegID
	begun bool // its work has, or may have
}

func (p *past) has(id bourse.LegID) bool { _, ok := p.legs[id]; return ok }

func (p *past) begun(id bourse.LegID) bool { return p.legs[id].begun }

// add takes in a release. The first of a leg counts, but for one after its work has
// begun.
func (p *past) add(r release) {
	was, ok := p.legs[r.leg]
	switch {
	case ok && (was.begun || !r.begun):
		return
	case ok:
		p.line = slices.DeleteFunc(p.line, func(x release) bool { return x.leg == r.leg })
	case p.legs == nil:
		p.legs = map[bourse.LegID]release{}
	}
	p.legs[r.leg] = r
	p.line = append(p.line, r)
	old := 0
	for p.line[old].at.Add(keepReleased) < r.at {
		delete(p.legs, p.line[old].leg)
		old++
	}
	p.line = p.line[old:]
}
