package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/retry"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// negotiation makes room for a leg that the site cannot place, by offering the owner of one
// confirmed leg a payment for moving it out of the way. The newcomer does not wait for the
// answer: it is refused, and may come again. An owner accepts by replacing the leg at the
// place offered, for its price less the payment, by the same steps as any move. So the
// replacement is atomic, and lost messages are repeated. Rows S87 to S89.
type negotiation struct {
	*memory
	offers  *offers
	retries *retries
}

// asks is how far other legs may be shifted for this one; 0 if it replaces another leg, for
// which nobody is asked.
func (n *negotiation) asks(l *leg) int {
	if n.cfg.Promises == nil || l.Replaces != (grid.LegID{}) || l.Leg.Tx.Broker == "" {
		return 0
	}
	return n.cfg.Promises.Ask
}

// askOwner asks one owner to make room for a leg that the cluster has refused: the cheapest
// one, if that costs no more than the newcomer brings; among equals, the one whose leg was
// placed first. It returns the reason for the newcomer. Only one owner at a time is asked
// on behalf of a job. Row S87.
func (n *negotiation) askOwner(t step, newcomer *leg, m agents.ClusterHeld) grid.Reason {
	if len(m.Shifts) == 0 {
		return m.Refusal
	}
	who := newcomer.Leg.Tx.Broker + "/" + newcomer.Job
	for l := range n.open.each {
		if l.offer().For == who && l.open(t.now) {
			return asked(m.Refusal, l.offer().Expires)
		}
	}
	var best *leg
	var to facts.ShiftOffer
	for _, x := range m.Shifts {
		if l, o, ok := n.mayOffer(t.now, newcomer, x); ok && (best == nil || o.Pay < to.Pay) {
			best, to = l, o
		}
	}
	if best == nil {
		return m.Refusal
	}
	t.out.Row("S87")
	n.record(t, facts.ShiftOffered{Leg: best.Leg, ShiftOffer: to, For: who})
	n.tellOffer(t, best)
	n.beginOffer(t, best)
	return asked(m.Refusal, to.Expires)
}

func asked(why grid.Reason, until grid.Time) grid.Reason {
	return grid.Because(why.Code, "%v; an owner is asked until %v to make room", why, until)
}

// mayOffer is the offer for shifting a leg. It reports false if its owner must not be asked.
func (n *negotiation) mayOffer(now grid.Time, newcomer *leg, x agents.LegShift) (*leg, facts.ShiftOffer, bool) {
	l := n.legs[x.Leg]
	if l == nil || l.State != grid.Confirmed || l.offer().Number >= maxOffers || l.open(now) ||
		l.Job == newcomer.Job && l.Leg.Tx.Broker == newcomer.Leg.Tx.Broker {
		return nil, facts.ShiftOffer{}, false
	}
	for o := range n.open.each {
		if o.Replaces == l.Leg && o.State < grid.Confirmed {
			return nil, facts.ShiftOffer{}, false
		}
	}
	until := min(now.Add(offerFor), l.What.Start, x.Start)
	if n.cfg.Lead > 0 { // the Hold that accepts it needs that much notice
		until = until.Add(-n.cfg.Lead)
	}
	price := l.Fare.Total()
	pay := min(price, n.cfg.Promises.Shares.Shifted(price))
	return l, facts.ShiftOffer{Number: l.offer().Number + 1, Version: l.Version, Start: x.Start, End: x.End, Ready: max(x.Ready, now), Due: x.Due,
		Pay: pay, Expires: until}, until > now && pay <= newcomer.Fare.Total()
}

// tellOffer sends the offer.
func (n *negotiation) tellOffer(t step, l *leg) {
	o := l.offer()
	t.out.Send(n.life(l.Leg.Tx.Broker).address(), agents.ShiftOffer{Leg: l.Leg, Number: o.Number, Version: o.Version, Start: o.Start, End: o.End,
		Ready: o.Ready, Due: o.Due, Pay: o.Pay, For: o.Expires.Sub(t.now), Stamp: n.stamp()})
}

// beginOffer starts repeating an offer until it is answered or expires.
func (n *negotiation) beginOffer(t step, l *leg) {
	n.retries.schedule(t, theOffer, l.Leg, retry.Schedule{First: firstWait, Last: slowWait, Until: l.offer().Expires})
}

// expire ends an offer that was not answered in time. Row S89.
func (n *negotiation) expire(t step, l *leg) {
	if o := l.offer(); o.State == facts.OfferOpen {
		t.out.Row("S89")
		n.record(t, facts.OfferClosed{Leg: l.Leg, Number: o.Number, State: facts.OfferExpired})
	}
}

// declined handles an owner's refusal of an offer. Row S89.
func (n *negotiation) declined(t step, m agents.ShiftDeclined) {
	l := n.legs[m.Leg]
	if l == nil || l.offer().State != facts.OfferOpen || l.offer().Number != m.Number || l.offer().Version != m.Version {
		return
	}
	t.out.Row("S89")
	n.record(t, facts.OfferClosed{Leg: l.Leg, Number: m.Number, State: facts.OfferRejected, Reason: m.Reason})
}

// accepts says why a Hold does not match the offer that it names; no reason: it does. Row
// S88.
func (n *negotiation) accepts(now grid.Time, l, old *leg) grid.Reason {
	if l.Offer == 0 {
		return grid.Reason{}
	}
	stale := func(format string, args ...any) grid.Reason {
		return grid.Because(grid.Stale, format, args...)
	}
	if old == nil {
		return stale("offer %d is for a leg to be replaced, and none is named", l.Offer)
	}
	o := old.offer()
	want := l.What
	want.Nodes, want.Group, want.Start, want.End = old.What.Nodes, old.What.Group, o.Start, o.End
	switch {
	case o.Number != l.Offer || o.State != facts.OfferOpen || old.State != grid.Confirmed:
		return stale("leg %v has no open offer %d", old.Leg, l.Offer)
	case o.Version != old.Version:
		return stale("leg %v is at version %d, offer %d was for %d", old.Leg, old.Version, o.Number, o.Version)
	case now >= o.Expires:
		return grid.Because(grid.Expired, "offer %d for leg %v expired at %v", o.Number, old.Leg, o.Expires)
	case l.What != want || l.Flex.Due == 0 || l.Flex.Ready < o.Ready || l.Flex.Due > o.Due: // a narrower window is allowed
		return stale("offer %d for leg %v is of [%v, %v) within [%v, %v)", o.Number, old.Leg, o.Start, o.End, o.Ready, o.Due)
	}
	if _, promised := n.offers.schedule(old.What.Group, now); !promised {
		return stale("group %s makes no promises", old.What.Group)
	}
	return grid.Reason{}
}
