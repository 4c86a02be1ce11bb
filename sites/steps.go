package sites

import (
	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// The acts of the table: what a site does, and what it answers. Facts come
// first, replies after them, so that their stamps count the facts.

// move brings a leg to a state.
func (s *Site) move(t step, l *leg, to bourse.LegState) { s.moveWhy(t, l, to, bourse.Reason{}) }

func (s *Site) moveWhy(t step, l *leg, to bourse.LegState, why bourse.Reason) {
	f := l.LegMoved
	f.State, f.Reason = to, why
	s.record(t, f)
	if to.Terminal() {
		s.remember(t, l)
	}
}

func toPrepared(s *Site, l *leg, t step) {
	f := l.LegMoved
	f.State, f.For = bourse.Prepared, min(max(t.m.(agents.Prepare).For, 0), s.cfg.InDoubt)
	s.record(t, f)
	s.limit(t, l, f.For)
	s.doubt(t, l)
	t.reply(agents.PreparedReply{Leg: l.Leg, Stamp: s.stamp()})
}

// toConfirmed makes the leg an advance reservation, and gives up the one that
// it replaces.
func toConfirmed(s *Site, l *leg, t step) {
	if plant.On("early-acknowledgement") {
		t.reply(agents.ConfirmedReply{Leg: l.Leg, Stamp: s.stamp()})
		return
	}
	f, old := l.LegMoved, s.legs[l.Replaces]
	f.State = bourse.Confirmed
	if old == nil || !s.replaceable(old) {
		s.record(t, f)
		s.tell(t, l, confirmDuty)
		confirmedAgain(s, l, t)
		return
	}
	was := old.LegMoved
	was.State = bourse.Released
	was.Refund, f.Kept = s.swapped(t.now, old, l)
	s.record(t, f)
	s.tell(t, l, confirmDuty)
	s.record(t, was)
	s.remember(t, old)
	s.tell(t, old, releaseDuty)
	confirmedAgain(s, l, t)
}

// swapped is what comes back of a leg that is replaced: what was paid for it counts
// for the new one, up to the price of that, and what is over is refunded by the
// schedule. What comes back beyond the schedule stays with the new leg, and is not
// given back of that either, whenever it is given up: a move is never a cheaper way
// to cancel. Rows S43, S121.
func (s *Site) swapped(now bourse.Time, old, l *leg) (refund, kept bourse.Credits) {
	schedule := s.refund(now, old)
	refund = max(schedule, min(old.Fare.Total(), l.Fare.Total()))
	if l.Offer > 0 { // S88: the new price is the old one less the payment
		refund = old.Fare.Total()
	}
	if plant.On("free-move") {
		return refund, 0
	}
	return refund, min(refund-schedule, l.Fare.Total())
}

func toCancelled(s *Site, l *leg, t step) {
	held := l.State != bourse.Asked
	s.move(t, l, bourse.Cancelled)
	if held && !plant.On("forget-release") {
		s.tell(t, l, releaseDuty)
	}
	cancelledAgain(s, l, t)
	s.skip(t)
}

// toReleased gives a confirmed leg up, for a refund: what the schedule says or,
// where its window has broken elsewhere, all of the price. A site cannot see what
// happened elsewhere: it takes its broker's word, unless its operator does not.
func toReleased(s *Site, l *leg, t step) {
	f := l.LegMoved
	f.State, f.Refund = bourse.Released, s.refund(t.now, l)
	if t.m.(agents.Release).Full && !s.cfg.ScheduleOnly || plant.On("full-refund") {
		f.Refund = l.Fare.Total()
	}
	s.record(t, f)
	s.remember(t, l)
	s.tell(t, l, releaseDuty)
	releasedAgain(s, l, t)
}

// refund is what giving a leg up now brings back.
func (s *Site) refund(now bourse.Time, l *leg) bourse.Credits {
	return min(s.cfg.Cancellation.Refund(l.Fare, l.heldAt, l.What.Start, now), l.Fare.Total()-l.Kept)
}

func askedInVain(s *Site, l *leg, t step) {
	why := bourse.Reason{Code: bourse.NoCluster, Detail: "the cluster of " + s.cfg.Name + " did not answer in time"}
	s.moveWhy(t, l, bourse.LegExpired, why)
	t.out.Send(s.life(l.Leg.Tx.Broker).address(), agents.RefusedReply{Leg: l.Leg, Step: names[onHold],
		Fare: l.Fare, Reason: why, DecidedBy: l.Leg.Tx.Incarnation, Stamp: s.stamp()})
	s.skip(t)
	s.inventoryAt(t, t.now.Add(secondLook))
}

func toExpired(s *Site, l *leg, t step) {
	s.move(t, l, bourse.LegExpired)
	if !plant.On("forget-release") {
		s.tell(t, l, releaseDuty)
	}
}

func toHeuristic(s *Site, l *leg, t step) {
	s.move(t, l, bourse.Heuristic)
	s.tell(t, l, releaseDuty)
	s.notify(t, l)
}

func toRunning(s *Site, l *leg, t step) {
	s.move(t, l, bourse.Running)
	t.out.Send(s.life(l.Leg.Tx.Broker).address(), agents.StartedNotice{Leg: l.Leg, Stamp: s.stamp()})
}

// toSettled ends a leg whose work is over. A reservation is paid for
// irrespective of its use, so an early end changes no money.
func toSettled(s *Site, l *leg, t step) {
	if l.State == bourse.Confirmed {
		toRunning(s, l, t)
	}
	f := l.LegMoved
	f.State, f.End = bourse.Settled, t.m.(agents.ClusterEnded).End
	s.record(t, f)
	s.remember(t, l)
	s.notify(t, l)
}

// endedEarly gives up a leg whose work the cluster says is over before its window
// has begun. Row S106.
func endedEarly(s *Site, l *leg, t step) {
	s.toLost(t, l, refused(bourse.Early, "the cluster of %s ended its work %s before its start: one of the two clocks is wrong",
		s.cfg.Name, l.What.Start.Sub(t.now).Words()).Refusal)
}

// toLost gives up a leg that the cluster has no nodes for any more. Where it
// was paid for, all is refunded, and the site's penalty added.
func toLost(s *Site, l *leg, t step) { s.toLost(t, l, s.takenBy(l)) }

func (s *Site) toLost(t step, l *leg, why bourse.Reason) {
	f := l.LegMoved
	f.State, f.Reason = bourse.Lost, why
	if l.charged {
		f.Refund = l.Fare.Total()
		f.Penalty = min(l.Fare.Total().Share(s.cfg.Penalty), s.ledger.Room(income, account(l)))
	}
	s.record(t, f)
	s.remember(t, l)
	s.notify(t, l)
}

// The answers to what was answered before. They say the same as the first time,
// as long as it is true; their stamp is of now, or the broker would take them
// for old.

func heldAgain(s *Site, l *leg, t step) {
	a := agents.HeldReply{Leg: l.Leg, Fare: l.Fare, Version: l.Version, Stamp: s.stamp(), Proof: s.proof(l)}
	if l.Flex.Due > 0 { // S80
		a.Start, a.End = l.What.Start, l.What.End
	}
	t.reply(a)
}

func refusedAgain(s *Site, l *leg, t step) {
	s.refusal(t, l.Leg, onHold, l.Fare, l.Reason, l.Leg.Tx.Incarnation)
}

func preparedAgain(s *Site, l *leg, t step) {
	t.reply(agents.PreparedReply{Leg: l.Leg, Stamp: s.stamp()})
}

func confirmedAgain(s *Site, l *leg, t step) {
	a := agents.ConfirmedReply{Leg: l.Leg}
	if old := s.legs[l.Replaces]; old != nil && old.State == bourse.Released {
		a.Refund, a.Replaced = old.Refund, s.proof(old)
	}
	a.Stamp, a.Proof = s.stamp(), s.proof(l)
	t.reply(a)
}

// confirmedOnce answers Confirm of a lost leg: what was confirmed before it was
// lost stays so, and the notice of its loss goes on beside.
func confirmedOnce(s *Site, l *leg, t step) {
	if l.charged {
		confirmedAgain(s, l, t)
		return
	}
	over(s, l, t)
}

func cancelledAgain(s *Site, l *leg, t step) {
	t.reply(agents.CancelledReply{Leg: l.Leg, Stamp: s.stamp()})
}

func releasedAgain(s *Site, l *leg, t step) {
	t.reply(agents.ReleasedReply{Leg: l.Leg, Refund: l.Refund, Stamp: s.stamp(), Proof: s.proof(l)})
}

// lostAgain answers Release of a leg that was lost: with all that it brings back, of
// which Released would leave out the penalty.
func lostAgain(s *Site, l *leg, t step) { t.reply(s.notice(l)) }

// withdrawn answers a Hold of a leg that is over, or never was to be.
func withdrawn(s *Site, l *leg, t step) {
	s.refusal(t, l.Leg, onHold, l.Fare, bourse.Reason{Code: bourse.Withdrawn,
		Detail: "leg " + l.Leg.String() + " is " + l.State.String()}, l.Leg.Tx.Incarnation)
}

// over answers Prepare or Confirm of a leg that has gone.
func over(s *Site, l *leg, t step) { s.not(t, l, bourse.Expired) }

// badState answers a step that the leg's state does not allow.
func badState(s *Site, l *leg, t step) { s.not(t, l, bourse.BadState) }

func (s *Site) not(t step, l *leg, code bourse.Code) {
	why := bourse.Reason{Code: code, Detail: "leg " + l.Leg.String() + " is " + l.State.String()}
	s.refusal(t, l.Leg, events[t.m.Kind()], l.Fare, why, decider(t.m.(agents.OfLeg)))
}

func (s *Site) stamp() agents.Stamp {
	return agents.Stamp{Epoch: s.epoch, Seq: s.facts, From: s.started}
}
