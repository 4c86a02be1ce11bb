package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// What an offer to shift a leg changes, at its site (S87 to S89) and at its broker (B74 to B77):
// an accepted one puts the leg where it says, for the old price less the payment, once. All else
// leaves the leg where it is.

// offerOf names an offer.
type offerOf struct {
	leg    grid.LegID
	number uint32
}

// offerMirror is what a site, or a broker, has on record of an offer.
type offerMirror struct {
	facts.ShiftOffer
	state  facts.OfferState
	closed grid.Time // by the clock of its process; 0: it is open, or was accepted
	who    string    // for whom a site would make room
	job    string    // of a broker
	n      int       // among those for the job
}

// offered takes what becomes of offers.
func (m *mirror) offered(f agents.Fact) {
	switch f := f.(type) {
	case facts.ShiftOffered:
		o := &offerMirror{ShiftOffer: f.ShiftOffer, state: facts.OfferOpen, who: f.For}
		if t := m.txs[f.Leg.Tx]; t != nil {
			o.job = t.begun.Job
			m.asked[o.job]++
			o.n = m.asked[o.job]
		}
		m.offers[offerOf{f.Leg, f.Number}] = o
	case facts.OfferClosed:
		m.answer(f.Leg, f.Number, f.State)
	case facts.LegMoved:
		if f.State == grid.Confirmed {
			m.answer(f.Replaces, f.Offer, facts.OfferAccepted)
		}
	case facts.LegsForgotten:
		for o := range m.offers {
			if slices.Contains(f.Legs, o.leg) {
				delete(m.offers, o)
			}
		}
	case facts.TxDecided:
		if f.Commit {
			m.answerBy(f.Tx, facts.OfferAccepted)
		}
	case facts.TxReversed:
		m.answerBy(f.Tx, facts.OfferRejected)
	case facts.LegClosed:
		if t := m.txs[f.Leg.Tx]; !f.Commit && t != nil && t.commit {
			m.answerBy(f.Leg.Tx, facts.OfferRejected)
		}
	}
}

func (m *mirror) answer(leg grid.LegID, number uint32, to facts.OfferState) {
	if o := m.offers[offerOf{leg, number}]; o != nil {
		o.state = to
	}
}

// answerBy changes the offer that a transaction accepts, if it accepts one.
func (m *mirror) answerBy(id grid.TxID, to facts.OfferState) {
	if t := m.txs[id]; t != nil && t.begun.Offer > 0 {
		m.answer(t.begun.Replaces[0], t.begun.Offer, to)
	}
}

// latestOffer is the last one for a leg of a site, nil if there was none.
func (m *mirror) latestOffer(id grid.LegID) (last *offerMirror) {
	for n := uint32(1); m.offers[offerOf{id, n}] != nil; n++ {
		last = m.offers[offerOf{id, n}]
	}
	return last
}

// open reports whether an offer for a leg can still be answered.
func (m *mirror) openOffer(id grid.LegID, now grid.Time) bool {
	o, l := m.latestOffer(id), m.legs[id]
	return o != nil && o.state == facts.OfferOpen && now < o.Expires && l != nil && l.State == grid.Confirmed
}

// offer checks a fact about an offer against what was on record before it.
func (c *Checker) offer(s *sim.Step, m *mirror, f agents.Fact) error {
	site := strings.HasPrefix(string(s.ID), "site:")
	switch f := f.(type) {
	case facts.ShiftOffered:
		if site {
			return c.asksOwner(s, m, f)
		}
		return c.hearsOffer(s, m, f)
	case facts.OfferClosed:
		return c.closesOffer(s, m, f, site)
	case facts.LegMoved:
		if f.State == grid.Held && f.Offer > 0 {
			return c.shiftHeld(s, m, f)
		}
	case facts.TxBegun:
		if _, answers := s.Message.(agents.OfferAnswer); answers || f.Offer > 0 {
			return c.takesOffer(s, m, f)
		}
	}
	return nil
}

// asksOwner checks that a site asks for what it may: of a confirmed leg that nobody is asked for,
// to lie a little outside its window, for the share of its price that is configured.
func (c *Checker) asksOwner(s *sim.Step, m *mirror, f facts.ShiftOffered) error {
	l, config := m.legs[f.Leg], c.siteConfig(s.ID)
	if l == nil || l.State != grid.Confirmed {
		return fmt.Errorf("S87: %s asks the owner of leg %v, which is not confirmed", s.ID, f.Leg)
	}
	if l.restored {
		return nil // its window is no longer known
	}
	last := m.latestOffer(f.Leg)
	number := uint32(1)
	if last != nil {
		number = last.Number + 1
	}
	reach := l.What.Duration() * grid.Duration(config.Promises.Ask) / 1000
	pays := min(l.Fare.Total(), l.Fare.Total().Share(config.Promises.Shares.Compensation))
	switch {
	case f.Number != number || f.Number > 3 || f.Version != l.Version:
		return fmt.Errorf("S87: offer %d for leg %v of version %d follows %d, the leg is at version %d", f.Number, f.Leg, f.Version, number-1, l.Version)
	case m.openOffer(f.Leg, s.Now):
		return fmt.Errorf("S87: leg %v is offered a second place while the first offer is open", f.Leg)
	case f.Pay != pays:
		return fmt.Errorf("S87: leg %v at %v is to be shifted for %v, by the site's shares it is %v", f.Leg, l.Fare.Total(), f.Pay, pays)
	case f.End.Sub(f.Start) != l.What.Duration() || f.Start < l.Flex.Ready.Add(-reach) || f.End > l.Flex.Due.Add(reach):
		return fmt.Errorf("S87: leg %v of [%v, %v) is to lie in [%v, %v), beyond the %v that owners are asked for", f.Leg, l.What.Start, l.What.End, f.Start, f.End, reach)
	case f.Expires <= s.Now || f.Expires > min(l.What.Start, f.Start).Add(-config.Lead):
		return fmt.Errorf("S87: an offer for leg %v, of %v or %v, can be answered from %v to %v", f.Leg, l.What.Start, f.Start, s.Now, f.Expires)
	}
	for id := range m.legs {
		if o := m.latestOffer(id); m.openOffer(id, s.Now) && o.who == f.For {
			return fmt.Errorf("S87: a second owner, of leg %v, is asked for %s", f.Leg, f.For)
		}
	}
	return nil
}

// hearsOffer checks that what a broker shows its user is what the site offers, and suits the job.
func (c *Checker) hearsOffer(s *sim.Step, m *mirror, f facts.ShiftOffered) error {
	if x, ok := s.Message.(agents.ShiftOffer); ok && (x.Leg != f.Leg || x.Number != f.Number || x.Version != f.Version || x.Start != f.Start || x.End != f.End ||
		x.Pay != f.Pay || f.Ready < x.Ready || f.Due > x.Due || f.Expires > s.Now.Add(x.For)) {
		return fmt.Errorf("B74: of %+v %s records %+v", x, s.ID, f)
	}
	t := m.txs[f.Leg.Tx]
	if t == nil || c.exempt[f.Leg] {
		return nil
	}
	_, over := m.done[f.Leg]
	if !t.commit || len(t.begun.Legs) > 1 || over || m.offers[offerOf{f.Leg, f.Number}] != nil {
		return fmt.Errorf("B74: %s takes offer %d for leg %v, which does not wait alone, or was offered that before", s.ID, f.Number, f.Leg)
	}
	if j, known := m.jobs[t.begun.Job]; known && (f.Start < j.Ready || f.End > j.Deadline) {
		return fmt.Errorf("B74: %s takes an offer of [%v, %v) for job %s, which must lie in [%v, %v)", s.ID, f.Start, f.End, j.Name, j.Ready, j.Deadline)
	}
	return nil
}

// closesOffer checks that an offer ends once: by its owner's word, or when its time is over. At a
// site it also ends once its leg does not wait any more.
func (c *Checker) closesOffer(s *sim.Step, m *mirror, f facts.OfferClosed, site bool) error {
	o := m.offers[offerOf{f.Leg, f.Number}]
	row := map[bool]string{true: "S89", false: "B77"}[site]
	switch {
	case o == nil || o.state != facts.OfferOpen:
		return fmt.Errorf("%s: offer %d for leg %v is %s, and was not open", row, f.Number, f.Leg, f.State)
	case f.State == facts.OfferExpired && s.Now < o.Expires && !(site && m.legs[f.Leg].State != grid.Confirmed):
		return fmt.Errorf("%s: offer %d for leg %v expires at %v, its time is over at %v", row, f.Number, f.Leg, s.Now, o.Expires)
	}
	if x, ok := s.Message.(agents.ShiftDeclined); site && s.Message != nil && f.State == facts.OfferRejected && (!ok || x.Leg != f.Leg || x.Number != f.Number) {
		return fmt.Errorf("S89: offer %d for leg %v is rejected, its owner has not said so", f.Number, f.Leg)
	}
	o.closed = s.Now
	return nil
}

// takesOffer checks a transaction that accepts an offer: its user has said so in time, of that
// one, and it asks for the place offered at the price less the payment.
func (c *Checker) takesOffer(s *sim.Step, m *mirror, f facts.TxBegun) error {
	x, answers := s.Message.(agents.OfferAnswer)
	if f.Offer == 0 || len(f.Replaces) != 1 || len(f.Legs) != 1 || !answers && s.Message != nil {
		return fmt.Errorf("B75: %v begins with a %v, and names offer %d for %v", f.Tx, s.Message, f.Offer, f.Replaces)
	}
	old := f.Replaces[0]
	o, t := m.offers[offerOf{old, f.Offer}], m.txs[old.Tx]
	if o == nil || t == nil || o.state != facts.OfferOpen || s.Now >= o.Expires {
		return fmt.Errorf("B75: %v accepts offer %d for leg %v, which is not open", f.Tx, f.Offer, old)
	}
	if answers && (!x.Accept || x.Job != f.Job || x.User != m.jobs[f.Job].User || x.N != o.n && !m.learned(f.Job)) {
		return fmt.Errorf("B75: %v accepts offer %d for job %s, and its user says %+v", f.Tx, o.n, f.Job, x)
	}
	if c.exempt[old] {
		return nil
	}
	want := t.begun.Legs[0]
	want.Start, want.End = o.Start, o.End
	if price := m.priced[old].Total() - o.Pay; f.Legs[0] != want || f.Versions[0] != o.Version || f.Limits[0] != price || f.Flex.Ready != o.Ready || f.Flex.Due != o.Due {
		return fmt.Errorf("B75: %v accepts offer %d for leg %v, of %+v for %v, and asks for %+v at %v", f.Tx, f.Offer, old, want, price, f.Legs[0], f.Limits[0])
	}
	return nil
}

// shiftHeld checks that a site keeps the place that it has offered, for the price less the
// payment, and only while the offer was open.
func (c *Checker) shiftHeld(s *sim.Step, m *mirror, f facts.LegMoved) error {
	old, o := m.legs[f.Replaces], m.offers[offerOf{f.Replaces, f.Offer}]
	if c.exempt[f.Leg] || c.exempt[f.Replaces] || old != nil && old.restored {
		return nil
	}
	if old == nil || o == nil {
		return fmt.Errorf("S88: leg %v is held in place of leg %v by offer %d, which was not made", f.Leg, f.Replaces, f.Offer)
	}
	asked, known := c.talk.first[limitKey{s.Process, f.Leg}] // since then the offer may have ended
	if o.state == facts.OfferAccepted || known && (asked >= o.Expires || o.closed > 0 && o.closed < asked) {
		return fmt.Errorf("S88: at %v leg %v is asked for by offer %d for leg %v, which is over: %s at %v, open until %v",
			asked, f.Leg, f.Offer, f.Replaces, o.state, o.closed, o.Expires)
	}
	want := old.What
	want.Start, want.End = o.Start, o.End
	if price := old.Fare.Total() - o.Pay; f.What != want || f.Fare.Total() != price || f.Flex.Ready < o.Ready || f.Flex.Due > o.Due {
		return fmt.Errorf("S88: leg %v was offered %+v in [%v, %v) for %v, and is held as %+v in [%v, %v) for %v",
			f.Replaces, want, o.Ready, o.Due, price, f.What, f.Flex.Ready, f.Flex.Due, f.Fare.Total())
	}
	return nil
}

// offersAtRest checks that no offer outlives its time, and that both sides say of a leg that was
// shifted that the offer was accepted.
func (c *Checker) offersAtRest(before grid.Time) error {
	for i := range c.w.Brokers {
		m := c.of(world.BrokerID(c.w.Brokers[i].Config.Name))
		for _, id := range m.begun {
			for k := range m.txs[id].begun.Legs {
				leg := grid.LegID{Tx: id, Leg: k}
				if o := m.latestOffer(leg); o != nil && o.state == facts.OfferOpen && o.Expires < before && !c.exempt[leg] && !c.forgotten(id) {
					return fmt.Errorf("B77: offer %d for leg %v could be answered until %v, and %s has it as open", o.Number, leg, o.Expires, m.id)
				}
			}
		}
	}
	for i := range c.w.Sites {
		m := c.of(world.SiteID(c.w.Sites[i].Config.Name))
		for _, id := range sortedLegs(m.legs) {
			l, o := m.legs[id], m.latestOffer(id)
			if c.exempt[id] || l.restored || c.moved[id] > before {
				continue
			}
			if o != nil && o.state == facts.OfferOpen && l.State == grid.Confirmed && o.Expires < before {
				return fmt.Errorf("S89: offer %d for leg %v could be answered until %v, and %s has it as open", o.Number, id, o.Expires, m.id)
			}
			if l.Offer == 0 || !l.stands() || c.exempt[l.Replaces] || c.forgotten(id.Tx) {
				continue
			}
			if o := c.of(world.BrokerID(id.Tx.Broker)).offers[offerOf{l.Replaces, l.Offer}]; o == nil || o.state != facts.OfferAccepted {
				return fmt.Errorf("S88: leg %v has taken the place of leg %v by offer %d, which its broker does not have as accepted", id, l.Replaces, l.Offer)
			}
		}
	}
	return nil
}
