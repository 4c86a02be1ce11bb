package sites

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// hold handles a Hold. For a new leg it puts a request to the cluster in line.
func (p *participant) hold(t step, m agents.Hold) {
	if why := p.fence(t, onHold, m.Leg, m.Leg.Tx.Incarnation); why.Refused() {
		p.refusal(t, m.Leg, onHold, grid.Fare{}, why, m.Leg.Tx.Incarnation)
		return
	}
	if why := senseless(m); why.Refused() {
		t.out.Row("S72")
		p.refusal(t, m.Leg, onHold, grid.Fare{}, why, m.Leg.Tx.Incarnation)
		return
	}
	if l := p.legs[m.Leg]; l != nil {
		if !l.tomb && l.Digest != m.Digest() {
			t.out.Row("S6")
			p.refusal(t, m.Leg, onHold, grid.Fare{}, grid.Reason{Code: grid.Conflict,
				Detail: "leg " + m.Leg.String() + " was asked for before, on other terms"}, m.Leg.Tx.Incarnation)
			return
		}
		table[onHold][l.State].take(p, l, t)
		return
	}
	if why := p.crowded(t, m.Leg.Tx.Broker); why.Refused() { // S10, S73
		p.refusal(t, m.Leg, onHold, grid.Fare{}, why, m.Leg.Tx.Incarnation)
		return
	}
	l := &leg{LegMoved: facts.LegMoved{Leg: m.Leg, What: m.What, Job: m.Job, User: m.User, Limit: m.Limit,
		Version: 1, Digest: m.Digest(), For: min(m.For, p.cfg.Hold), Run: m.Run, Flex: m.Flex, Offer: m.Offer}}
	if m.Replaces != (grid.LegID{}) {
		l.Replaces, l.Version = m.Replaces, m.Version+1
	}
	p.legs[m.Leg] = l
	p.orders.known(m.Leg)
	p.limit(t, l, l.For)
	t.out.Row("S13")
	p.requests.add(t, request{from: t.from, client: p, m: m, leg: l})
}

// limit makes a hold or a doubt end d from now or, where messages take time, before the
// leg's start if that is earlier.
func (p *participant) limit(t step, l *leg, d grid.Duration) {
	l.grace = t.now.Add(d)
	p.bound(t, l)
}

// bound cuts a leg's grace so that it ends before its start, and sets the alarm.
func (p *participant) bound(t step, l *leg) {
	l.ends = l.grace
	if p.cfg.Lead > 0 {
		l.ends = min(l.ends, l.What.Start.Add(-grid.Second))
	}
	if p.cfg.Lossless {
		return
	}
	t.out.Alarm(l.ends, limitReached{l.Leg})
}

// limitReached gives up a leg whose hold or doubt has lasted too long.
func (p *participant) limitReached(t step, m limitReached) {
	l := p.legs[m.leg]
	if l == nil || t.now < l.ends {
		return // the alarm is out of date
	}
	table[onLimit][l.State].take(p, l, t)
}

// ready prices the leg on the state just received, and reports whether the cluster must be
// asked for the nodes. Otherwise it has refused the leg, or the leg was given up.
func (p *participant) ready(t step, k *request) bool {
	l, limit := k.leg, k.leg.Limit
	if l.State != grid.Asked {
		return false // given up while it stood in line
	}
	q := p.price(t.now, l)
	if !q.Refusal.Refused() && q.Fare.Total() > limit {
		q.Refusal = grid.Reason{Code: grid.TooDear,
			Detail: "costs " + q.Fare.Total().String() + " now, the limit is " + limit.String()}
	}
	if room := p.accounts.toPay(l.Leg.Tx.Broker); !q.Refusal.Refused() && q.Fare.Total() > room { // S96
		q.Refusal = grid.Reason{Code: grid.NoMoney,
			Detail: "costs " + q.Fare.Total().String() + ", the account of " + l.Leg.Tx.Broker + " has room for " + room.String()}
	}
	l.Fare = q.Fare
	if q.Refusal.Refused() {
		row := refusedRow(l, q.Refusal.Code)
		if q.Refusal.Code == grid.NotAllowed && p.offers.other(l.What) {
			row = "S91"
		}
		t.out.Row(row)
		p.refuse(t, k.from, l, q.Refusal)
		return false
	}
	return true
}

// refusedRow is the row of a Hold that is refused before the cluster is asked for nodes.
func refusedRow(l *leg, why grid.Code) agents.Row {
	switch why {
	case grid.MinNotice, grid.Past, grid.MaxHorizon, grid.MaxShare, grid.TooLarge, grid.Cap:
		return "S11"
	case grid.TooDear, grid.Busy:
		return "S12"
	case grid.Stale, grid.Expired:
		if l.Offer > 0 {
			return "S88"
		}
		return "S44"
	case grid.VOShare:
		return "S74"
	case grid.NoShare:
		return "S91"
	case grid.NoMoney:
		return "S96"
	}
	return barredRow(why)
}

// nodes is the order to the cluster to lock nodes for the leg.
func (p *participant) nodes(k *request) agents.ClusterHold {
	l := k.leg
	return agents.ClusterHold{Leg: l.Leg, What: l.What, Run: l.Run, Replaces: l.Replaces, Flex: l.Flex, Shift: p.negotiation.asks(l),
		Job: l.Job, User: l.User, Pilot: k.m.(agents.Hold).Pilot}
}

// granted handles the cluster's answer to that order.
func (p *participant) granted(t step, k *request, m agents.ClusterHeld) {
	l := k.leg
	if m.Refusal.Refused() {
		if m.Refusal.Code == grid.NoShare {
			t.out.Row("S91")
		} else {
			t.out.Row("S16")
		}
		why := p.offers.disclosed(p.negotiation.askOwner(t, l, m)) // S87
		places := p.offers.places(l, m.Instead)
		if len(places) > 0 {
			t.out.Row("S84")
		}
		p.refuse(t, k.from, l, why, places...)
		return
	}
	t.out.Row("S15")
	a := agents.Held{Leg: l.Leg, Fare: l.Fare, Version: l.Version}
	switch {
	case m.What.Nodes > 0:
		t.out.Row("S80")
		l.What = m.What
		a.Start, a.End = m.What.Start, m.What.End
		p.bound(t, l)
	case l.Flex.Due > 0:
		t.out.Row("S94")
	case l.What.Work > 0:
		t.out.Row("S90")
	}
	f := l.LegMoved
	f.State = grid.Held
	if n := len(m.Nodes); n > 0 && n <= grid.MaxNames {
		f.Real = &facts.RealLeg{Names: m.Nodes}
	}
	if len(m.On) > 0 {
		if f.Real == nil {
			f.Real = &facts.RealLeg{}
		}
		f.Real.On = m.On
	}
	p.record(t, f)
	p.tellOthers(l, &a)
	a.Stamp, a.Proof = p.stamp(), p.proof(l)
	t.out.Send(k.from, a)
}

// tellOthers adds to a Held what the broker passes on to the other legs: the names of this
// leg's nodes, and this site's rendezvous.
func (p *participant) tellOthers(l *leg, a *agents.Held) {
	a.Nodes = l.onNodes().Names
	if p.cfg.Meeting != "" && len(p.cfg.Key) > 0 {
		a.Meeting, a.Token = p.cfg.Meeting, p.cfg.Key.Token(l.Leg.Tx)
	}
}

// price prices what a Hold asks for, or says why it cannot be had. Row S11
// before S12.
func (p *participant) price(now grid.Time, l *leg) grid.Quote {
	if why := p.barred(now, l.Leg.Tx.Broker, l.User); why.Refused() { // S61, S63
		return grid.Quote{Refusal: why}
	}
	old, why := p.replaced(now, l)
	if why.Refused() {
		return grid.Quote{Refusal: why}
	}
	if p.cfg.Lead > 0 && l.What.Start < now.Add(soonest) {
		return refused(grid.Past, "start %v lies less than %s after %s's now, %v", l.What.Start, soonest.Words(), p.cfg.Name, now)
	}
	if r := p.limits.capped(l); r.Refused() {
		return grid.Quote{Refusal: r}
	}
	if _, promised := p.offers.schedule(l.What.Group, now); promised {
		return p.offers.priceOfPromise(now, l, old)
	}
	return p.offers.quote(now, l.Leg.Tx.Broker, l.User, l.What, old, nil)
}

// soonest is how far ahead a Hold must start where messages take time.
const soonest = 2 * grid.Second

// replaced returns the confirmed leg that l is to take the place of, nil if
// there is none, or why it may not. Row S44.
func (p *participant) replaced(now grid.Time, l *leg) (*leg, grid.Reason) {
	if l.Replaces == (grid.LegID{}) {
		return nil, p.negotiation.accepts(now, l, nil)
	}
	old := p.legs[l.Replaces]
	stale := func(format string, args ...any) (*leg, grid.Reason) {
		return nil, grid.Because(grid.Stale, format, args...)
	}
	switch {
	case old == nil || old.Leg.Tx.Broker != l.Leg.Tx.Broker || !p.replaceable(old):
		return stale("leg %v is not there to be replaced", l.Replaces)
	case old.Version+1 != l.Version:
		return stale("leg %v is at version %d, not %d", l.Replaces, old.Version, l.Version-1)
	}
	for o := range p.open.each {
		if o.Replaces == l.Replaces && o.State < grid.Confirmed {
			return stale("leg %v is about to be replaced by %v", l.Replaces, o.Leg)
		}
	}
	return old, p.negotiation.accepts(now, l, old)
}

// replaceable reports whether a leg can be replaced by another one.
func (p *participant) replaceable(l *leg) bool {
	return l.State == grid.Confirmed || l.State == grid.Running
}

// refuse ends a leg that was never held.
func (p *participant) refuse(t step, to agents.ID, l *leg, why grid.Reason, instead ...grid.Place) {
	why = p.inTheWay(l, why)
	p.moveWhy(t, l, grid.Refused, why)
	t.out.Send(to, agents.Refused{Leg: l.Leg, Step: names[onHold], Fare: l.Fare, Reason: why,
		DecidedBy: l.Leg.Tx.Incarnation, Stamp: p.stamp(), Instead: instead})
}

// inTheWay adds to a refusal as busy which job of the same broker has nodes there, since a
// number of the cluster's would mean nothing to it. It says nothing about other brokers'
// jobs.
func (p *participant) inTheWay(l *leg, why grid.Reason) grid.Reason {
	if why.Code != grid.Busy {
		return why
	}
	for o := range p.open.each {
		if o != l && o.Leg.Tx.Broker == l.Leg.Tx.Broker && o.State >= grid.Confirmed &&
			o.What.Group == l.What.Group && o.What.Start < l.What.End && l.What.Start < o.What.End {
			return grid.Because(why.Code, "%v; job %s has %s there from %v to %v", why, o.Job, grid.Count(o.What.Nodes, "node"), o.What.Start, o.What.End)
		}
	}
	return why
}

// crowded says why a broker's Hold is not accepted: the line or the memory is full; no
// reason: it is.
func (p *participant) crowded(t step, broker string) grid.Reason {
	if why := p.requests.full(t.from); why.Refused() {
		t.out.Row("S10")
		return why
	}
	if len(p.kept) < p.cfg.MaxKept && 2*p.keptOf[grid.VOOf(broker)] < p.cfg.MaxKept {
		return grid.Reason{}
	}
	t.out.Row("S73")
	return grid.Reason{Code: grid.QueueFull, Detail: fmt.Sprintf(
		"%s remembers %s, %d of them of %s; the most are %d, and half of that for one",
		p.cfg.Name, grid.Count(len(p.kept), "leg"), p.keptOf[grid.VOOf(broker)], grid.VOOf(broker), p.cfg.MaxKept)}
}

// skip goes on to the next request if the leg for which the cluster is being asked has been
// given up. Nodes that the cluster may still lock for it are released.
func (p *participant) skip(t step) {
	k := p.requests.asking()
	if k == nil || k.client != client(p) || k.leg.State == grid.Asked {
		return
	}
	p.orders.tell(t, k.leg, releaseOrder)
	p.requests.next(t)
}
