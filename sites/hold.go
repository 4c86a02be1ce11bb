package sites

import (
	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// hold begins a leg: it is asked of the cluster in its turn.
func (s *Site) hold(t step, m agents.Hold) {
	if why := s.fence(t, onHold, m.Leg, m.Leg.Tx.Incarnation); why.Refused() {
		s.refusal(t, m.Leg, onHold, bourse.Fare{}, why, m.Leg.Tx.Incarnation)
		return
	}
	if why := senseless(m); why.Refused() { // S72
		s.refusal(t, m.Leg, onHold, bourse.Fare{}, why, m.Leg.Tx.Incarnation)
		return
	}
	if l := s.legs[m.Leg]; l != nil {
		switch do := table[onHold][l.State]; {
		case !l.tomb && l.Digest != m.Digest() && !plant.On("no-digest"): // S6
			s.refusal(t, m.Leg, onHold, bourse.Fare{}, bourse.Reason{Code: bourse.Conflict,
				Detail: "leg " + m.Leg.String() + " was asked for before, otherwise"}, m.Leg.Tx.Incarnation)
		case do != nil:
			do(s, l, t)
		}
		return
	}
	if s.desk.waiting() >= s.cfg.MaxWork || len(s.kept) >= s.cfg.MaxKept || 2*s.keptOf[m.Leg.Tx.Broker] >= s.cfg.MaxKept { // S10
		s.refusal(t, m.Leg, onHold, bourse.Fare{}, s.crowded(m.Leg.Tx.Broker), m.Leg.Tx.Incarnation)
		return
	}
	l := &leg{LegMoved: bourse.LegMoved{Leg: m.Leg, What: m.What, Job: m.Job, User: m.User, Limit: m.Limit,
		Version: 1, Digest: m.Digest(), For: min(m.For, s.cfg.Hold), Run: m.Run, Flex: m.Flex, Offer: m.Offer}}
	if m.Replaces != (bourse.LegID{}) {
		l.Replaces, l.Version = m.Replaces, m.Version+1
	}
	s.legs[m.Leg] = l
	s.known(m.Leg)
	s.limit(t, l, l.For)
	s.enqueue(t, task{from: t.from, m: m, leg: l})
}

// limit has a hold or a doubt end after d from now and, where messages take
// time, before the start.
func (s *Site) limit(t step, l *leg, d bourse.Duration) {
	l.ends = t.now.Add(d)
	if s.cfg.Lead > 0 {
		l.ends = min(l.ends, l.What.Start.Add(-bourse.Second))
	}
	if plant.On("endless-hold") && l.State == bourse.Asked {
		l.ends = bourse.Never
		return
	}
	t.out.Alarm(l.ends, limitReached{l.Leg})
}

// limitReached lets go of a leg whose hold or doubt has lasted too long.
func (s *Site) limitReached(t step, m limitReached) {
	l := s.legs[m.leg]
	if l == nil || t.now < l.ends {
		return // an alarm for what has moved on
	}
	if do := table[onLimit][l.State]; do != nil {
		do(s, l, t)
	}
}

// tryHold prices the leg on the state just received and asks the cluster for
// the nodes; false if it ended here.
func (s *Site) tryHold(t step, k *task, m agents.Hold) bool {
	l := k.leg
	if l.State != bourse.Asked {
		return false // given up while it stood in line
	}
	q := s.price(t.now, l)
	if !q.Refusal.Refused() && q.Fare.Total() > m.Limit && !plant.On("above-limit") {
		q.Refusal = bourse.Reason{Code: bourse.TooDear,
			Detail: "costs " + q.Fare.Total().String() + " now, the limit is " + m.Limit.String()}
	}
	if room := s.ledger.Room(account(l), income); !q.Refusal.Refused() && q.Fare.Total() > room { // S96
		q.Refusal = bourse.Reason{Code: bourse.NoMoney,
			Detail: "costs " + q.Fare.Total().String() + ", the account of " + l.Leg.Tx.Broker + " has room for " + room.String()}
	}
	l.Fare = q.Fare
	if q.Refusal.Refused() {
		s.refuse(t, k.from, l, q.Refusal)
		return false
	}
	s.askNodes(t)
	return true
}

// price prices what a Hold asks for, or says why it cannot be had. Row S11
// before S12.
func (s *Site) price(now bourse.Time, l *leg) bourse.Quote {
	if why := s.barred(now, l.Leg.Tx.Broker, l.User); why.Refused() { // S61, S63
		return bourse.Quote{Refusal: why}
	}
	old, why := s.replaced(now, l)
	if why.Refused() {
		return bourse.Quote{Refusal: why}
	}
	if s.cfg.Lead > 0 && l.What.Start < now.Add(soonest) {
		return refused(bourse.Past, "start %v lies less than %s after %s's now, %v", l.What.Start, soonest.Words(), s.cfg.Name, now)
	}
	if r := s.capped(l); r.Refused() {
		return bourse.Quote{Refusal: r}
	}
	if _, promised := s.schedule(l.What.Group, now); promised {
		return s.priceOfPromise(now, l, old)
	}
	return s.quote(now, l.Leg.Tx.Broker, l.User, l.What, old)
}

// soonest is how far ahead a Hold must start where messages take time.
const soonest = 2 * bourse.Second

// replaced returns the confirmed leg that l is to take the place of, nil if
// there is none, or why it may not. Row S44.
func (s *Site) replaced(now bourse.Time, l *leg) (*leg, bourse.Reason) {
	if l.Replaces == (bourse.LegID{}) {
		return nil, s.accepts(now, l, nil)
	}
	old := s.legs[l.Replaces]
	stale := func(format string, args ...any) (*leg, bourse.Reason) {
		return nil, bourse.Because(bourse.Stale, format, args...)
	}
	switch {
	case old == nil || old.Leg.Tx.Broker != l.Leg.Tx.Broker || !s.replaceable(old):
		return stale("leg %v is not there to be replaced", l.Replaces)
	case old.Version+1 != l.Version && !plant.On("any-version"):
		return stale("leg %v is at version %d, not %d", l.Replaces, old.Version, l.Version-1)
	}
	for o := range s.open.each {
		if o.Replaces == l.Replaces && o.State < bourse.Confirmed {
			return stale("leg %v is about to be replaced by %v", l.Replaces, o.Leg)
		}
	}
	return old, s.accepts(now, l, old)
}

// replaceable reports whether a leg can give way to another one.
func (s *Site) replaceable(l *leg) bool {
	return l.State == bourse.Confirmed || l.State == bourse.Running
}

// clusterHeld ends the wait of the first in line.
func (s *Site) clusterHeld(t step, m agents.ClusterHeld) {
	l := s.legOf(m.Leg)
	if s.desk.question != nodes || s.desk.first().leg.Leg != m.Leg {
		// An answer that came twice, or too late. Nodes locked for a leg that is
		// over, or never was, are given back.
		switch {
		case m.Refusal.Refused(), s.restoring(m.Leg):
		case l == nil:
			s.releaseUnknown(t, m.Leg)
		case l.State.Terminal():
			s.tell(t, l, releaseDuty)
		}
		return
	}
	k := s.desk.first()
	asked, maintains := k.m.(agents.Maintenance)
	switch {
	case maintains:
		s.maintainedNodes(t, k, asked, m.Refusal)
	case k.restored != nil:
		s.reassertedNodes(t, k, m.Refusal)
	case m.Refusal.Refused(): // S16
		why := s.disclosed(s.askOwner(t, l, m)) // S87
		s.refuse(t, k.from, l, why, s.places(l, m.Instead)...)
	default: // S15
		a := agents.HeldReply{Leg: l.Leg, Fare: l.Fare, Version: l.Version}
		if m.What.Nodes > 0 { // S80
			l.What = m.What
			a.Start, a.End = m.What.Start, m.What.End
		}
		s.move(t, l, bourse.Held)
		a.Stamp, a.Proof = s.stamp(), s.proof(l)
		t.out.Send(k.from, a)
	}
	s.next(t)
}

// refuse ends a leg that was never held.
func (s *Site) refuse(t step, to agents.ID, l *leg, why bourse.Reason, instead ...bourse.Place) {
	s.moveWhy(t, l, bourse.Refused, why)
	t.out.Send(to, agents.RefusedReply{Leg: l.Leg, Step: names[onHold], Fare: l.Fare, Reason: why,
		DecidedBy: l.Leg.Tx.Incarnation, Stamp: s.stamp(), Instead: instead})
}
