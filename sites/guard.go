package sites

import (
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// life is what a site remembers of the lives of one broker.
type life struct {
	broker  string
	highest uint32            // the latest incarnation seen
	listed  uint32            // the latest that has been told its legs
	seen    []bourse.LifeSeen // the latest few
}

// see takes note of a life later than all before. Of those before only the
// latest few are remembered: what earlier ones ask for is fenced by highest, and
// what they decided by listed.
func (f *life) see(x bourse.LifeSeen) {
	if len(f.seen) >= maxLives {
		f.seen = slices.Delete(f.seen, 0, 1)
	}
	f.seen = append(f.seen, x)
	f.highest = x.Incarnation
}

// address is where the broker is told of its legs: where its latest life spoke
// from.
func (f *life) address() agents.ID { return agents.ID(f.seen[len(f.seen)-1].Address) }

// twin reports whether the counter is known with another nonce: another process
// has taken the broker's name, or it has begun again from an older journal.
func (f *life) twin(incarnation uint32, nonce uint64) bool {
	for _, x := range f.seen {
		if x.Incarnation == incarnation {
			return x.Nonce != nonce
		}
	}
	return false
}

// life returns what is known of a broker, nothing if it never spoke.
func (s *Site) life(broker string) *life {
	if f := s.lives[broker]; f != nil {
		return f
	}
	return &life{broker: broker}
}

// fence holds a step against the lives of its broker and returns why it is
// refused; what lets it pass may be a life not seen before, which is recorded.
// Rows S1 to S4.
func (s *Site) fence(t step, e event, id bourse.LegID, decidedBy uint32) bourse.Reason {
	f := s.life(id.Tx.Broker)
	inc := id.Tx.Incarnation
	switch {
	case f.twin(inc, id.Tx.Nonce) && !plant.On("no-nonce"):
		return fenced("%s has spoken to %s as incarnation %d before, with another nonce", id.Tx.Broker, s.cfg.Name, inc)
	case (e == onHold || e == onPrepare) && inc < f.highest && !plant.On("no-fence"):
		return fenced("incarnation %d of %s has spoken to %s, %d is over", f.highest, id.Tx.Broker, s.cfg.Name, inc)
	case e != onHold && e != onPrepare && decidedBy < f.listed && !plant.On("no-list-fence"):
		return fenced("incarnation %d of %s has listed its legs at %s, what %d decided is over", f.listed, id.Tx.Broker, s.cfg.Name, decidedBy)
	}
	return s.meet(t, id.Tx.Broker, inc, id.Tx.Nonce)
}

// meet records a life later than all seen before, row S2, and says why not if
// there are too many brokers already.
func (s *Site) meet(t step, broker string, incarnation uint32, nonce uint64) bourse.Reason {
	f := s.lives[broker]
	if f == nil && len(s.lives) >= maxBrokers {
		return refused(bourse.QueueFull, "%s knows %d brokers already, the most it remembers", s.cfg.Name, maxBrokers).Refusal
	}
	if f == nil || incarnation > f.highest {
		s.record(t, bourse.LifeSeen{Broker: broker, Address: string(t.from), Incarnation: incarnation, Nonce: nonce})
	}
	return bourse.Reason{}
}

func fenced(format string, args ...any) bourse.Reason {
	return bourse.Because(bourse.Fenced, format, args...)
}

// offerRequest puts a request in line, unless the life that asks is over: one
// that only asks is to hear of it too. Rows S115, S117.
func (s *Site) offerRequest(t step, m agents.OfferRequest) {
	vo, broker := brokerOf(t.from)
	f := s.life(vo)
	if m.Incarnation != 0 && (f.twin(m.Incarnation, m.Nonce) || m.Incarnation < f.highest) {
		t.reply(agents.Offers{Cycle: m.Cycle, Now: t.now, Nonce: m.Nonce, Latest: f.highest, Stamp: s.stamp(),
			Refusal: fenced("incarnation %d of %s has spoken to %s, %d is over", f.highest, vo, s.cfg.Name, m.Incarnation)})
		return
	}
	if broker && m.Horizon <= t.now { // it asks for the stamp alone, and a cluster that is silent is not in its way
		t.reply(agents.Offers{Cycle: m.Cycle, Now: t.now, Stamp: s.stamp()})
		return
	}
	s.enqueue(t, task{from: t.from, m: m})
}

// list tells a new life of a broker all legs of its name. From now on nothing is
// taken that an earlier life decided, and what it still asks for is given up:
// the answer is to stay true. Row S58.
func (s *Site) list(t step, m agents.List) {
	f := s.life(m.Broker)
	if f.twin(m.Incarnation, m.Nonce) && !plant.On("no-nonce") || m.Incarnation < f.highest && !plant.On("no-fence") {
		t.reply(agents.Listing{Incarnation: m.Incarnation, Nonce: m.Nonce, Latest: f.highest, Stamp: s.stamp(),
			Refusal: fenced("incarnation %d of %s has spoken to %s", f.highest, m.Broker, s.cfg.Name)})
		return
	}
	if why := s.meet(t, m.Broker, m.Incarnation, m.Nonce); why.Refused() { // S73: nobody of that name has legs here
		t.reply(agents.Listing{Incarnation: m.Incarnation, Nonce: m.Nonce, Stamp: s.stamp()})
		return
	}
	f = s.life(m.Broker)
	if m.Incarnation > f.listed {
		s.withdraw(t, m.Broker, m.Incarnation)
		s.record(t, bourse.LifeListed{Broker: m.Broker, Incarnation: m.Incarnation})
	}
	for _, id := range m.Known {
		if id.Tx.Broker == m.Broker && s.legs[id] == nil {
			s.bury(t, id)
		}
	}
	a := agents.Listing{Incarnation: m.Incarnation, Nonce: m.Nonce}
	for _, l := range s.kept {
		if l.Leg.Tx.Broker == m.Broker && !l.tomb {
			a.Legs = append(a.Legs, s.listing(t.now, l))
		}
	}
	a.Stamp = s.stamp()
	t.reply(a)
}

// withdraw gives up what earlier lives of a broker have asked for and is not
// held yet.
func (s *Site) withdraw(t step, broker string, incarnation uint32) {
	for i := s.desk.head; i < len(s.desk.line); i++ {
		l := s.desk.line[i].leg
		if l != nil && l.State == bourse.Asked && l.Leg.Tx.Broker == broker && l.Leg.Tx.Incarnation < incarnation {
			s.move(t, l, bourse.Cancelled)
		}
	}
	s.skip(t)
}

// listing is what a broker is told of a leg.
func (s *Site) listing(now bourse.Time, l *leg) agents.ListedLeg {
	a := agents.ListedLeg{Leg: l.Leg, What: l.What, Job: l.Job, User: l.User, State: l.State, Fare: l.Fare,
		Limit: l.Limit, End: l.End, Version: l.Version, Refund: l.Refund, Penalty: l.Penalty, Run: l.Run}
	if l.State == bourse.Held || l.State == bourse.Prepared {
		a.Left = max(0, l.ends.Sub(now))
	}
	if l.What.End > now { // later it is not asserted again
		a.Proof = s.proof(l)
	}
	return a
}
