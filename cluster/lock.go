package cluster

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// lock is the cluster's side of a leg: first locked nodes, then a reservation in which
// work runs, then the outcome, which is kept until the site has heard it. It changes
// only when a fact is applied.
type lock struct {
	facts.LockMemory
	begun bool   // its work has begun, perhaps before it was confirmed
	over  bool   // its work is over, at Ends
	told  uint32 // how many of its shifts the site has heard of
	gone  bool   // dropped from the agent's locks: a flag is quicker than a look-up

	beside bool   // it counted on another lock's nodes when it was added
	owed   bool   // it is in Agent.owed
	made   uint64 // its number, in the order of creation
}

// done reports whether a lock no longer keeps any nodes, so that only its outcome is
// left to report.
func (l *lock) done() bool { return l.State == facts.LockEnded || l.State == facts.LockLost }

// worked reports whether, by the facts, the work handed over for a lock has begun or,
// if the lock is lost, may have begun.
func (l *lock) worked() bool {
	switch l.State {
	case facts.LockRunning, facts.LockEnded:
		return l.Work != nil
	case facts.LockLost:
		return l.Submitted > 0
	}
	return false
}

// each ranges over the locks in order of creation.
func (a *Agent) each(yield func(*lock) bool) {
	for _, l := range a.order {
		if !l.gone && !yield(l) {
			return
		}
	}
}

// keep adds a lock, in place of any that its leg had.
func (a *Agent) keep(l *lock) {
	a.forget(l.Leg)
	a.made++
	a.locks[l.Leg], l.gone, l.made = l, false, a.made
	if l.beside = l.Beside != (grid.LegID{}); l.beside {
		a.beside++
	}
	a.order = append(a.order, l)
}

// drop removes a lock, and compacts the order when a fifth of it is gone.
func (a *Agent) drop(l *lock) {
	a.forget(l.Leg)
	if 4*len(a.order) > 5*len(a.locks)+64 {
		a.order = slices.DeleteFunc(a.order, func(l *lock) bool { return l.gone })
	}
}

// forget removes a leg's lock, if there is one, but leaves it in the order.
func (a *Agent) forget(id grid.LegID) {
	if l := a.locks[id]; l != nil {
		if l.gone = true; l.beside {
			a.beside--
		}
		delete(a.locks, id)
	}
}

// answerHold locks nodes and says which, or refuses and says what would be possible
// instead and which legs are in the way.
func (a *Agent) answerHold(now grid.Time, from agents.ID, m agents.ClusterHold) {
	r := agents.ClusterHeld{Leg: m.Leg, Refusal: a.hold(now, m)}
	switch l := a.locks[m.Leg]; {
	case r.Refusal == Later:
		return
	case r.Refusal.Refused():
		r.Instead, r.Shifts = a.backend.Elsewhere(now, m)
	default:
		r.Nodes, r.On = l.Names, l.On
		if l.Flex.Due > 0 && l.Beside == (grid.LegID{}) { // the cluster chose the place in its window
			r.What, r.Moves, r.Fixed = l.What, l.Shifts, l.Fixed
		}
	}
	a.out.Send(from, r)
}

func (a *Agent) hold(now grid.Time, m agents.ClusterHold) grid.Reason {
	if why := a.backend.Suits(m); why.Refused() {
		return why
	}
	l := a.locks[m.Leg]
	switch {
	case l != nil && !l.done() && (m.Begun && !l.begun || l.Flex.Due > 0 && l.Shifts < m.Moves): // this cluster has forgotten it
		a.release(now, m.Leg)
		return grid.Reason{Code: grid.Withdrawn, Detail: "leg " + m.Leg.String() + " has begun or was moved since: its cluster has begun again with an older journal"}
	case l == nil && m.Begun:
		return begunBefore(m.Leg)
	case l != nil && !l.done():
		return grid.Reason{} // placed before: the answer was lost
	case l != nil && l.State == facts.LockEnded && m.Again:
		return grid.Reason{} // its site has forgotten it and is told again how it ended
	case l != nil, a.past.has(m.Leg) && !m.Again:
		return grid.Reason{Code: grid.Withdrawn, Detail: "leg " + m.Leg.String() + " was released before"}
	case a.past.begun(m.Leg):
		return begunBefore(m.Leg)
	}
	return a.backend.Place(now, m)
}

// begunBefore is why the nodes of a leg are not locked again.
func begunBefore(leg grid.LegID) grid.Reason {
	return grid.Reason{Code: grid.Withdrawn, Detail: "the work of leg " + leg.String() + " has begun before, and does not begin twice"}
}

// confirm turns a lock into a reservation in which work runs from its start on, and
// releases the one whose nodes it counts on. If there is no such lock, the site is
// told that the leg is lost.
func (a *Agent) confirm(now grid.Time, from agents.ID, m agents.ClusterConfirm) {
	id := m.Leg
	l := a.locks[id]
	if l == nil && !a.past.has(id) {
		a.out.Send(from, agents.ClusterLost{Leg: id})
		return
	}
	a.out.Send(from, agents.ClusterDone{Leg: id, Step: agents.ClusterConfirm{}.Kind()})
	if l == nil || l.State != facts.LockHeld {
		return
	}
	if old := l.Beside; old != (grid.LegID{}) {
		a.release(now, old)
	}
	a.Record(facts.LockMoved{Leg: id, State: facts.LockConfirmed, Work: m.Work})
	a.backend.Confirm(now, id, m.Work)
}

// release frees whatever is kept for a leg. Nothing is locked for that leg again unless
// its site has forgotten it, and not even then if its work may have begun: no work runs
// twice.
func (a *Agent) release(now grid.Time, id grid.LegID) {
	l := a.locks[id]
	if l == nil && a.past.has(id) {
		return
	}
	begun := l != nil && l.worked()
	begun = a.backend.Release(now, id) || begun
	a.Record(facts.LockMoved{Leg: id, State: facts.LockReleased, Begun: begun})
}

// inventory lists what is kept for the site's legs.
func (a *Agent) inventory(from agents.ID, m agents.ClusterInventory) {
	r := agents.ClusterLocks{Ref: m.Ref}
	for l := range a.each {
		k := agents.ClusterLock{Leg: l.Leg, Confirmed: l.State != facts.LockHeld && l.State != facts.LockLost,
			Running: l.State == facts.LockRunning, Lost: l.State == facts.LockLost, Ended: l.State == facts.LockEnded,
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
const keepReleased = grid.Day

// past remembers for a day which legs were released, so that a hold that arrives after
// its release locks nothing, and whether their work had begun.
type past struct {
	legs map[grid.LegID]release
	line []release // in order of time
}

type release struct {
	at    grid.Time
	leg   grid.LegID
	begun bool // its work has begun, or may have
}

func (p *past) has(id grid.LegID) bool { _, ok := p.legs[id]; return ok }

func (p *past) begun(id grid.LegID) bool { return p.legs[id].begun }

// add notes a release. A leg's first release counts, except that one that says its work
// has begun replaces one that does not.
func (p *past) add(r release) {
	was, ok := p.legs[r.leg]
	switch {
	case ok && (was.begun || !r.begun):
		return
	case ok:
		p.line = slices.DeleteFunc(p.line, func(x release) bool { return x.leg == r.leg })
	case p.legs == nil:
		p.legs = map[grid.LegID]release{}
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
