package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// reply handles a site's message about a leg, unless its stamp says that it is outdated.
// It reports false for any other message.
func (co *Coordinator) reply(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) bool {
	id, stamp, ok := agents.SaidOfLeg(m)
	if !ok {
		return false
	}
	if i, ok := m.(agents.Inquire); ok {
		co.recovery.inquire(from, i, out)
		return true
	}
	p := co.peers.Get(from)
	if p == nil {
		co.stray++
		return true
	}
	if !p.listed {
		if r, ok := m.(agents.Refused); ok {
			co.refused(now, from, nil, nil, r, out) // it may fence this life
		}
		return true
	}
	if !co.amnesia.stamped(now, p, stamp, out) {
		return true
	}
	t, l := co.txs.Find(from, id)
	if t == nil || !t.resolved {
		if r, ok := m.(agents.Refused); ok {
			co.refused(now, from, nil, nil, r, out)
		}
		if t == nil && !co.peers.Listening() { // long forgotten, or not worth adopting
			note(from, id, m, co.lives.Current(), out)
		}
		return true
	}
	if co.doubted(now, t, l, m) {
		out.Row("B102")
		return true
	}
	shifts := l.shifts
	co.dispatch(now, p, t, l, m, out)
	if l.shifts > shifts {
		out.Row("B71")
	}
	co.keepProofs(m, l.shifts > shifts, out)
	note(from, id, m, co.lives.Current(), out)
	return true
}

// dispatch hands a site's message to the method for it.
func (co *Coordinator) dispatch(now grid.Time, p *Site, t *Tx, l *Leg, m agents.Message, out *agents.Outbox) {
	if l.given && co.losses.claimHeard(now, t, l, m, out) {
		return
	}
	switch m := m.(type) {
	case agents.Held:
		co.held(now, t, l, m, out)
	case agents.Prepared:
		co.prepared(now, t, l, m, out)
	case agents.Refused:
		co.refused(now, p.id, t, l, m, out)
	case agents.Confirmed:
		co.confirmed(now, t, l, m, out)
	case agents.Cancelled:
		if co.closed(now, t, l, m.Leg, false, out) {
			out.Row("B30")
		}
	case agents.Released:
		co.released(now, t, l, m, out)
	case agents.LegStarted:
		co.started(now, t, m.Leg.Leg, out)
	case agents.Settled:
		co.settled(now, t, l, m, out)
	case agents.Shifted:
		co.shifted(now, t, l, m, out)
	case agents.ShiftOffer:
		co.listener.ShiftOffered(now, t, l, m, out)
	case agents.Heuristic:
		co.heuristic(now, t, l, m, out)
	case agents.Degraded:
		co.degraded(now, t, l, m, out)
	case agents.Reasserted:
		co.amnesia.reasserted(now, p, t, l, m, out)
	}
	co.listener.Ended(t.job, out)
}

// note acknowledges a notice to its site, which repeats it until this life has.
func note(from agents.ID, id grid.LegID, m agents.Message, life facts.LifeBegun, out *agents.Outbox) {
	p, known := agents.Lookup(m.Kind())
	if !known || !p.Answers(agents.Noted{}.Kind()) {
		return
	}
	a := agents.Noted{Leg: id, Step: m.Kind(), Incarnation: life.Incarnation}
	if s, ok := m.(agents.Shifted); ok {
		a.Shifts = s.Shifts
	}
	out.Send(from, a)
}
