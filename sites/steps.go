package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The acts of the table: what a site does and answers. Each records its facts before
// it replies, so that the reply's stamp counts them.

// move brings a leg to a state.
func (p *participant) move(t step, l *leg, to grid.LegState) { p.moveWhy(t, l, to, grid.Reason{}) }

func (p *participant) moveWhy(t step, l *leg, to grid.LegState, why grid.Reason) {
	f := l.LegMoved
	f.State, f.Reason = to, why
	p.record(t, f)
	if to.Terminal() {
		p.archive.remember(t, l)
	}
}

func toPrepared(p *participant, l *leg, t step) {
	f := l.LegMoved
	f.State, f.For = grid.Prepared, min(max(t.m.(agents.Prepare).For, 0), p.cfg.InDoubt)
	p.record(t, f)
	p.limit(t, l, f.For)
	p.notices.doubt(t, l)
	t.reply(agents.Prepared{Leg: l.Leg, Stamp: p.stamp()})
}

// toConfirmed makes the leg an advance reservation, and releases the one it replaces.
func toConfirmed(p *participant, l *leg, t step) {
	f, old := l.LegMoved, p.legs[l.Replaces]
	f.State = grid.Confirmed
	if m, ok := t.m.(agents.Confirm); ok && m.Work != nil {
		f.Real = &facts.RealLeg{Work: m.Work}
	}
	if old == nil || !p.replaceable(old) {
		p.record(t, f)
		p.orders.tell(t, l, confirmOrder)
		confirmedAgain(p, l, t)
		return
	}
	t.out.Row("S43")
	t.out.Row(moveRow(old, l))
	was := old.LegMoved
	was.State = grid.Released
	was.Refund, f.Kept = p.swapped(t.now, old, l)
	p.record(t, f)
	p.orders.tell(t, l, confirmOrder)
	p.record(t, was)
	p.archive.remember(t, old)
	p.orders.tell(t, old, releaseOrder)
	confirmedAgain(p, l, t)
}

// moveRow is the row, beside S43, by which a leg takes the place of another.
func moveRow(old, l *leg) agents.Row {
	switch {
	case l.Offer > 0:
		return "S88"
	case old.Kept > 0:
		return "S121"
	case old.What == l.What && old.Flex != l.Flex:
		return "S86"
	}
	return ""
}

// swapped is the refund for a leg that is replaced: what the schedule says or, if
// that is more, as much of the old price as the new leg costs. Whatever exceeds the
// schedule is noted with the new leg as kept, and is not refunded if that leg is given
// up: otherwise a move would be a cheaper way to cancel. Rows S43, S121.
func (p *participant) swapped(now grid.Time, old, l *leg) (refund, kept grid.Credits) {
	schedule := p.refund(now, old)
	refund = max(schedule, min(old.Fare.Total(), l.Fare.Total()))
	if l.Offer > 0 { // S88: the new price is the old one less the payment
		refund = old.Fare.Total()
	}
	return refund, min(refund-schedule, l.Fare.Total())
}

func toCancelled(p *participant, l *leg, t step) {
	held := l.State != grid.Asked
	if held && l.What.Work > 0 {
		t.out.Row("S92")
	}
	p.move(t, l, grid.Cancelled)
	if held {
		p.orders.tell(t, l, releaseOrder)
	}
	cancelledAgain(p, l, t)
	p.skip(t)
}

// toReleased gives up a confirmed leg for a refund: what the schedule says or, if its
// window has broken elsewhere, the whole price. A site cannot check what happened
// elsewhere, so it takes its broker's word unless it is configured ScheduleOnly.
func toReleased(p *participant, l *leg, t step) {
	f := l.LegMoved
	f.State, f.Refund = grid.Released, p.refund(t.now, l)
	if t.m.(agents.Release).Full && !p.cfg.ScheduleOnly {
		f.Refund = l.Fare.Total()
	}
	t.out.Row(p.releaseRow(l, t.m.(agents.Release).Full))
	p.record(t, f)
	p.archive.remember(t, l)
	p.orders.tell(t, l, releaseOrder)
	releasedAgain(p, l, t)
}

// releaseRow is the row, beside S41, by which a leg is given up.
func (p *participant) releaseRow(l *leg, full bool) agents.Row {
	switch {
	case l.What.Work > 0:
		return "S92"
	case full && p.cfg.ScheduleOnly:
		return "S75"
	case !full && l.Kept > 0:
		return "S121"
	}
	return ""
}

// refund is what is refunded for a leg given up now.
func (p *participant) refund(now grid.Time, l *leg) grid.Credits {
	return min(p.cfg.Cancellation.Refund(l.Fare, l.heldAt, l.What.Start, now), l.Fare.Total()-l.Kept)
}

func askedInVain(p *participant, l *leg, t step) {
	why := grid.Reason{Code: grid.NoCluster, Detail: "the cluster of " + p.cfg.Name + " did not answer in time"}
	p.moveWhy(t, l, grid.LegExpired, why)
	t.out.Send(p.life(l.Leg.Tx.Broker).address(), agents.Refused{Leg: l.Leg, Step: names[onHold],
		Fare: l.Fare, Reason: why, DecidedBy: l.Leg.Tx.Incarnation, Stamp: p.stamp()})
	p.skip(t)
	inventoryAt(t, t.now.Add(secondLook))
}

func toExpired(p *participant, l *leg, t step) {
	p.move(t, l, grid.LegExpired)
	p.orders.tell(t, l, releaseOrder)
}

func toHeuristic(p *participant, l *leg, t step) {
	p.move(t, l, grid.Heuristic)
	p.orders.tell(t, l, releaseOrder)
	p.notices.notify(t, l)
}

func toRunning(p *participant, l *leg, t step) {
	p.move(t, l, grid.Running)
	t.out.Send(p.life(l.Leg.Tx.Broker).address(), agents.LegStarted{Leg: l.Leg, Stamp: p.stamp()})
}

// toSettled ends a leg whose work is over. A reservation is paid for
// irrespective of its use, so an early end changes no money.
func toSettled(p *participant, l *leg, t step) {
	if l.State == grid.Confirmed {
		t.out.Row("S40")
		toRunning(p, l, t)
	}
	f, m := l.LegMoved, t.m.(agents.ClusterEnded)
	f.State, f.End = grid.Settled, m.End
	if m.Result != nil {
		f.Real = &facts.RealLeg{Result: m.Result}
	}
	p.record(t, f)
	p.archive.remember(t, l)
	p.notices.notify(t, l)
}

// endedEarly gives up a leg whose work, the cluster says, ended before its window
// began. Row S106.
func endedEarly(p *participant, l *leg, t step) {
	p.toLost(t, l, refused(grid.Early, "the cluster of %s ended its work %s before its start: one of the two clocks is wrong",
		p.cfg.Name, l.What.Start.Sub(t.now).Words()).Refusal)
}

// toLost gives up a leg for which the cluster no longer has nodes. If the leg was paid
// for, the whole price is refunded and the site's penalty added. The reason is the
// operator's if the operator took the nodes, otherwise the cluster's.
func toLost(p *participant, l *leg, t step) {
	why := p.operator.takenBy(l)
	if !why.Refused() {
		if why = t.m.(agents.ClusterLost).Reason; why.Refused() {
			why = refused(why.Code, "%s: %v", p.cfg.Name, grid.Phrase(why.Detail)).Refusal
		}
	}
	p.toLost(t, l, why)
}

func (p *participant) toLost(t step, l *leg, why grid.Reason) {
	f := l.LegMoved
	f.State, f.Reason = grid.Lost, why
	if l.charged {
		f.Refund = l.Fare.Total()
		f.Penalty = min(l.Fare.Total().Share(p.cfg.Penalty), p.accounts.toReturn(l.Leg.Tx.Broker))
	}
	p.record(t, f)
	p.archive.remember(t, l)
	p.notices.notify(t, l)
}

// The answers to steps that were answered before. They repeat the first answer as
// long as it is true, under a new stamp: with the old one the broker would take them
// for outdated.

func heldAgain(p *participant, l *leg, t step) {
	a := agents.Held{Leg: l.Leg, Fare: l.Fare, Version: l.Version, Stamp: p.stamp(), Proof: p.proof(l)}
	if l.Flex.Due > 0 { // S80
		a.Start, a.End = l.What.Start, l.What.End
	}
	p.tellOthers(l, &a)
	t.reply(a)
}

func refusedAgain(p *participant, l *leg, t step) {
	p.refusal(t, l.Leg, onHold, l.Fare, l.Reason, l.Leg.Tx.Incarnation)
}

func preparedAgain(p *participant, l *leg, t step) {
	t.reply(agents.Prepared{Leg: l.Leg, Stamp: p.stamp()})
}

func confirmedAgain(p *participant, l *leg, t step) {
	a := agents.Confirmed{Leg: l.Leg}
	if old := p.legs[l.Replaces]; old != nil && old.State == grid.Released {
		a.Refund, a.Replaced = old.Refund, p.proof(old)
	}
	a.Stamp, a.Proof = p.stamp(), p.proof(l)
	t.reply(a)
}

// confirmedOnce answers Confirm for a lost leg. If the leg was confirmed before it was
// lost the answer is still Confirmed; the notice of its loss is sent separately.
func confirmedOnce(p *participant, l *leg, t step) {
	if l.charged {
		t.out.Row("S5")
		confirmedAgain(p, l, t)
		return
	}
	t.out.Row("S53")
	over(p, l, t)
}

func cancelledAgain(p *participant, l *leg, t step) {
	t.reply(agents.Cancelled{Leg: l.Leg, Stamp: p.stamp()})
}

func releasedAgain(p *participant, l *leg, t step) {
	t.reply(agents.Released{Leg: l.Leg, Refund: l.Refund, Stamp: p.stamp(), Proof: p.proof(l)})
}

// lostAgain answers Release for a lost leg with the notice of its loss: Released would
// leave out the penalty.
func lostAgain(p *participant, l *leg, t step) { t.reply(p.notices.notice(l)) }

// withdrawn refuses a Hold for a leg that is over, or was cancelled before it was held.
func withdrawn(p *participant, l *leg, t step) {
	p.refusal(t, l.Leg, onHold, l.Fare, grid.Reason{Code: grid.Withdrawn,
		Detail: "leg " + l.Leg.String() + " is " + l.State.String()}, l.Leg.Tx.Incarnation)
}

// over refuses Prepare or Confirm for a leg that is over.
func over(p *participant, l *leg, t step) { p.not(t, l, grid.Expired) }

// badState refuses a step that the leg's state does not allow.
func badState(p *participant, l *leg, t step) { p.not(t, l, grid.BadState) }

func (p *participant) not(t step, l *leg, code grid.Code) {
	why := grid.Reason{Code: code, Detail: "leg " + l.Leg.String() + " is " + l.State.String()}
	p.refusal(t, l.Leg, events[t.m.Kind()], l.Fare, why, decider(t.m.(agents.OfLeg)))
}
