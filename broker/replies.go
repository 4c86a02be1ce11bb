package broker

import (
	"bourse"
	"bourse/agents"
)

// reply takes what a site says of a leg, in the order of its stamps. It reports
// false if it is nothing of the kind.
func (b *Broker) reply(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) bool {
	id, stamp, ok := agents.SaidOfLeg(m)
	if !ok {
		return false
	}
	if i, ok := m.(agents.Inquire); ok {
		b.inquire(from, i, out)
		return true
	}
	p := b.peers.get(from)
	if p == nil {
		b.stray++
		return true
	}
	if !p.listed {
		if r, ok := m.(agents.RefusedReply); ok {
			b.refused(now, from, nil, nil, r, out) // fenced, or of an earlier life
		}
		return true
	}
	if !b.stamped(now, p, stamp, out) {
		return true
	}
	t, l := b.txs.find(from, id)
	if t == nil || !t.resolved {
		if r, ok := m.(agents.RefusedReply); ok {
			b.refused(now, from, nil, nil, r, out)
		}
		if t == nil && !b.peers.listening() { // long forgotten, or not worth adopting
			b.note(from, id, m, out)
		}
		return true
	}
	if b.doubted(now, t, l, m) {
		return true
	}
	turn := l.turn
	b.heed(now, p, t, l, m, out)
	b.keepProofs(m, l.turn > turn, out)
	b.note(from, id, m, out)
	return true
}

// heed hands a reply to what its leg's transaction makes of it.
func (b *Broker) heed(now bourse.Time, p *peer, t *transaction, l *txLeg, m agents.Message, out *agents.Outbox) {
	if l.given && b.claimHeard(now, t, l, m, out) {
		return
	}
	switch m := m.(type) {
	case agents.HeldReply:
		b.held(now, t, l, m, out)
	case agents.PreparedReply:
		b.prepared(now, t, l, m, out)
	case agents.RefusedReply:
		b.refused(now, p.id, t, l, m, out)
	case agents.ConfirmedReply:
		b.confirmed(now, t, l, m, out)
	case agents.CancelledReply:
		b.closed(now, t, l, m.Leg, false, out)
	case agents.ReleasedReply:
		b.released(now, t, l, m, out)
	case agents.StartedNotice:
		b.started(now, t, m.Leg.Leg, out)
	case agents.SettledNotice:
		b.settled(now, t, l, m, out)
	case agents.ShiftedNotice:
		b.shifted(now, t, l, m, out)
	case agents.ShiftOffer:
		b.shiftOffered(now, t, l, m, out)
	case agents.HeuristicNotice:
		b.heuristic(now, t, l, m, out)
	case agents.DegradedNotice:
		b.degraded(now, t, l, m, out)
	case agents.ReassertedReply:
		b.reasserted(now, p, t, l, m, out)
	}
	b.answerCancel(t.job, out)
}

// note acknowledges a notice, which is repeated until it is.
func (b *Broker) note(from agents.ID, id bourse.LegID, m agents.Message, out *agents.Outbox) {
	p, known := agents.Lookup(m.Kind())
	if !known || !p.Answers(agents.Noted{}.Kind()) {
		return
	}
	a := agents.Noted{Leg: id, Step: m.Kind()}
	if s, ok := m.(agents.ShiftedNotice); ok {
		a.Turn = s.Turn
	}
	out.Send(from, a)
}
