package sites

import (
	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// Replay applies a fact of an earlier life.
func (s *Site) Replay(at bourse.Time, f agents.Fact) { s.apply(at, f) }

// start begins a life: alarms are set again, and the cluster is asked what it
// keeps. A hold's limit counts afresh; a prepared leg gets a fresh grace, never
// past its start, so that an outage of the site does not expire all at once.
// Rows S19, S25, S37, S47.
func (s *Site) start(t step, m agents.Started) {
	s.epoch, s.desk.ref, s.began, s.started = m.Nonce, m.Nonce, t.now, s.facts
	if len(s.cfg.Key) > 0 {
		s.record(t, bourse.SiteBegun{Epoch: m.Nonce})
	}
	for l := range s.open.each {
		if l.State != bourse.Held && l.State != bourse.Prepared {
			continue
		}
		grace := min(l.For, l.What.Start.Sub(t.now))
		if plant.On("no-grace") && l.State == bourse.Prepared {
			grace = 0
		}
		s.limit(t, l, grace)
		if l.State == bourse.Prepared {
			s.doubt(t, l)
		}
	}
	for _, l := range s.kept {
		if l.told < l.turn {
			s.begin(t, theShift, l.Leg, slowWait)
		}
		if l.offer().State == bourse.OfferOpen {
			s.beginOffer(t, l)
		}
		if l.State.Terminal() {
			s.remember(t, l)
			if !l.noted && notable(l.State) {
				s.beginNotice(t, l)
			}
		}
	}
	s.enqueue(t, task{m: inventoryDue{}})
	if s.started > 0 {
		s.inventoryAt(t, t.now.Add(secondLook))
	}
}

// reassert takes the word of a broker for a leg that the site has lost its memory
// of, wholly or in part. What the site knows as well, or better, stays as it is;
// what it knows to be over stays over; what was never paid for is given up, as any
// broker may do. All else is restored only for what the site itself once answered,
// and only if its journal has lost that; open legs are had again from the cluster,
// which may still keep them. Rows S59, S100 to S104.
func (s *Site) reassert(t step, m agents.Reassert) {
	id := m.Leg.Leg
	f := s.life(id.Tx.Broker)
	if f.twin(m.Incarnation, m.Nonce) || m.Incarnation < f.highest {
		s.reasserted(t, t.from, id, fenced("incarnation %d of %s has spoken to %s", f.highest, id.Tx.Broker, s.cfg.Name))
		return
	}
	l, was := s.legs[id], s.restoration(t, m.Leg)
	known, to := l != nil && !l.tomb, was.Was.State
	why := s.unsound(m.Leg)
	switch {
	case why.Refused():
	case to == bourse.Asked: // there is nothing to restore
	case known && (l.State == to || l.State.Terminal() && to.Terminal() || to.Blocks() && to < l.State && !l.State.Terminal()):
	case known && (l.State.Terminal() || l.State == bourse.Asked):
		why = bourse.Reason{Code: bourse.Expired, Detail: "leg " + id.String() + " is " + l.State.String()}
	case !to.Blocks() && !paid(to):
		why = s.abandon(t, l, m)
	case to.Blocks() && m.Leg.What.End <= t.now:
		why = refused(bourse.Expired, "leg %v ended at %v, it is %v", id, m.Leg.What.End, t.now).Refusal
	default:
		if why = s.unproven(&m.Leg); !why.Refused() {
			s.takeBack(t, l, m, was)
			return
		}
	}
	s.reasserted(t, t.from, id, why)
}

// abandon gives up a leg that its broker says was never paid for, and has nothing
// kept for it: as Cancel does, of a known leg or an unknown one.
func (s *Site) abandon(t step, l *leg, m agents.Reassert) bourse.Reason {
	id := m.Leg.Leg
	if l != nil && l.charged {
		return bourse.Reason{Code: bourse.BadState, Detail: "leg " + id.String() + " is " + l.State.String()}
	}
	if why := s.meet(t, id.Tx.Broker, m.Incarnation, m.Nonce); why.Refused() {
		return why
	}
	s.known(id)
	if l == nil {
		s.bury(t, id)
		l = s.legs[id]
	} else if !l.tomb {
		s.move(t, l, bourse.Cancelled)
	}
	s.tell(t, l, releaseDuty)
	return bourse.Reason{}
}

// takeBack restores a leg for which there is a proof: at once where it holds no
// nodes, or is known and holds them; else when the cluster has them. Behind a line
// that is full it is not answered, and will be asserted again.
func (s *Site) takeBack(t step, l *leg, m agents.Reassert, was bourse.LegRestored) {
	id := m.Leg.Leg
	why := s.meet(t, id.Tx.Broker, m.Incarnation, m.Nonce)
	if l == nil && len(s.kept) >= s.cfg.MaxKept && !why.Refused() {
		why = s.crowded(id.Tx.Broker)
	}
	unknown := l == nil || l.tomb
	switch {
	case why.Refused():
		s.reasserted(t, t.from, id, why)
	case unknown && was.Was.State.Blocks():
		if s.desk.waiting() < s.cfg.MaxWork {
			s.known(id)
			if l != nil {
				l.duty = noDuty // of its tombstone
			}
			s.enqueue(t, task{from: t.from, m: m, leg: &leg{LegMoved: was.Was}, restored: &was})
		}
	default:
		if !unknown {
			was.Held = l.heldAt
		}
		s.restore(t, t.from, was)
	}
}

// paid reports whether a leg that is over in state x may have been paid for.
func paid(x bourse.LegState) bool {
	return x == bourse.Settled || x == bourse.Released || x == bourse.Lost
}

// unsound says what of an assertion cannot be: a peer's word is not believed to
// make sense.
func (s *Site) unsound(a agents.ListedLeg) bourse.Reason {
	l, sum := a.What, a.Fare.Total().Plus(max(a.Refund, 0)).Plus(max(a.Penalty, 0))
	group, known := s.groups[l.Group]
	payer := "broker:" + a.Leg.Tx.Broker
	switch {
	case a.State > bourse.Lost:
		return refused(bourse.Invalid, "there is no state %d of a leg", a.State).Refusal
	case a.Fare.Base < 0 || a.Fare.Additive < 0 || a.Refund < 0 || a.Penalty < 0 || a.Limit < 0 || sum > bourse.MaxBudget:
		return refused(bourse.Invalid, "a leg cannot cost %v, nor give %v back", a.Fare.Total(), a.Refund.Plus(a.Penalty)).Refusal
	case sum > s.ledger.Room(payer, income) || sum > s.ledger.Room(income, payer): // S96
		return refused(bourse.NoMoney, "the account of %s has no room for %v", a.Leg.Tx.Broker, sum).Refusal
	case a.Refund > a.Fare.Total() || a.Penalty > 0 && a.State != bourse.Lost:
		return refused(bourse.Invalid, "of a leg that cost %v, %v and a penalty of %v are not given back", a.Fare.Total(), a.Refund, a.Penalty).Refusal
	case a.State.Blocks() && !known:
		return refused(bourse.Unknown, "%s has no group %q", s.cfg.Name, l.Group).Refusal
	case a.State.Blocks() && l.Nodes > s.cfg.Groups[group].Nodes:
		return refused(bourse.Invalid, "%d nodes of group %q, which has %d, are no leg", l.Nodes, l.Group, s.cfg.Groups[group].Nodes).Refusal
	case a.Leg.Leg < 0 || len(a.Job) > maxName || len(a.User) > maxName || len(l.Group) > maxName:
		return refused(bourse.Invalid, "leg %d of a window has a name of more than %d bytes, or is none", a.Leg.Leg, maxName).Refusal
	case a.State.Blocks() && !calendar(l), max(l.Start, -l.Start, l.End, -l.End, a.End, -a.End) > bourse.MaxTime, a.Run < 0, a.Run > bourse.MaxDuration:
		return refused(bourse.Invalid, "%d nodes over [%v, %v) are no leg", l.Nodes, l.Start, l.End).Refusal
	}
	return bourse.Reason{}
}

// restoration is the fact that brings a leg back as it is asserted. Work that
// ran may begin again: the cluster says when.
func (s *Site) restoration(t step, a agents.ListedLeg) bourse.LegRestored {
	f := bourse.LegRestored{Held: t.now, Proof: a.Proof, Was: bourse.LegMoved{Leg: a.Leg, State: a.State, What: a.What, Job: a.Job, User: a.User,
		Fare: a.Fare, Limit: a.Limit, End: a.End, Version: max(a.Version, 1), Refund: a.Refund, Penalty: a.Penalty, Run: a.Run}}
	switch a.State {
	case bourse.Running:
		f.Was.State = bourse.Confirmed
	case bourse.Held:
		f.Was.For = min(max(a.Left, 0), s.cfg.Hold)
	case bourse.Prepared:
		f.Was.For = min(max(a.Left, 0), s.cfg.InDoubt)
	}
	return f
}

// reassertedNodes ends the wait for the nodes of a leg to be restored. Without
// them it is known as lost.
func (s *Site) reassertedNodes(t step, k *task, why bourse.Reason) {
	if l := s.legs[k.leg.Leg]; l != nil && !l.tomb { // it has come by another way
		if l.State.Terminal() {
			s.tell(t, l, releaseDuty)
		}
		s.reasserted(t, k.from, l.Leg, bourse.Reason{})
		return
	}
	if why.Refused() {
		if s.legs[k.leg.Leg] == nil {
			s.bury(t, k.leg.Leg)
		}
		s.reasserted(t, k.from, k.leg.Leg, why)
		return
	}
	s.restore(t, k.from, *k.restored)
}

// restore records what a leg was, and has the cluster know it too.
func (s *Site) restore(t step, to agents.ID, f bourse.LegRestored) {
	s.record(t, f)
	l := s.legs[f.Was.Leg]
	switch {
	case l.State == bourse.Confirmed:
		s.tell(t, l, confirmDuty)
	case l.State.Blocks():
		s.limit(t, l, l.For)
		if l.State == bourse.Prepared {
			s.doubt(t, l)
		}
	default:
		s.remember(t, l)
		s.tell(t, l, releaseDuty)
	}
	s.reasserted(t, to, l.Leg, bourse.Reason{})
}

func (s *Site) reasserted(t step, to agents.ID, id bourse.LegID, why bourse.Reason) {
	t.out.Send(to, agents.ReassertedReply{Leg: id, Reason: why, Stamp: s.stamp()})
}
