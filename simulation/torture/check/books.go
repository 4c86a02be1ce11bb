package check

import (
	"cmp"
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/sites"
)

// books is what a site's record says about money: for each broker, what is pending and what
// is posted, net of refunds. It deliberately does not use grid.Ledger; see mirror.go.
type books struct {
	pending map[string]grid.Credits
	posted  map[string]grid.Credits
	opaque  map[string]bool // a leg of that broker was restored: its money is not followed
}

func newBooks() books {
	return books{map[string]grid.Credits{}, map[string]grid.Credits{}, map[string]bool{}}
}

// move follows a leg's money: pending while the leg is held or prepared, posted with
// Confirmed, void if it never is. A refund is a posting of its own.
func (b *books) move(was grid.LegState, f facts.LegMoved) {
	name := f.Leg.Tx.Broker
	waiting := was == grid.Held || was == grid.Prepared
	switch {
	case f.State == grid.Held:
		b.pending[name] += f.Fare.Total()
	case f.State == grid.Confirmed:
		b.pending[name] -= f.Fare.Total()
		b.posted[name] += f.Fare.Total()
	case f.State.Terminal() && waiting:
		b.pending[name] -= f.Fare.Total()
	case f.State == grid.Released, f.State == grid.Lost:
		b.posted[name] -= f.Refund + f.Penalty
	}
}

// ledger compares a site's ledger with its record (I8).
func (b *books) ledger(s *sites.Site) error {
	for _, name := range world.BrokerNames {
		if b.opaque[name] {
			continue
		}
		a := s.Ledger().Account(string(world.BrokerID(name)))
		if got := a.Debit - a.Credit; got != b.posted[name] {
			return fmt.Errorf("I8: the ledger has %v posted of %s, the record %v", got, name, b.posted[name])
		}
		if got := a.PendingDebit; got != b.pending[name] {
			return fmt.Errorf("I8: the ledger has %v pending of %s, the record %v", got, name, b.pending[name])
		}
	}
	return nil
}

// promised is what a broker's record says that it has reserved and not spent, leg
// by leg.
type promised struct {
	legs map[grid.LegID]grid.Credits
	sum  grid.Credits
}

func (p *promised) set(id grid.LegID, amount grid.Credits) {
	p.clear(id)
	p.legs[id] = amount
	p.sum += amount
}

// asideOf is the leg of a gather as which what is set aside for it is promised.
const asideOf = -1

func (p *promised) clear(id grid.LegID) {
	p.sum -= p.legs[id]
	delete(p.legs, id)
}

// clearAll ends what was reserved for a transaction that came to nothing.
func (p *promised) clearAll(f facts.TxBegun) {
	for i := range f.Legs {
		p.clear(grid.LegID{Tx: f.Tx, Leg: i})
	}
}

// payments is what a broker's record says that it has paid: what each leg has cost, less what came
// back, and what all legs of a site have.
type payments struct {
	legs  map[grid.LegID]grid.Credits
	sites map[string]grid.Credits
}

func newPayments() payments {
	return payments{map[grid.LegID]grid.Credits{}, map[string]grid.Credits{}}
}

func (p *payments) add(site string, id grid.LegID, amount grid.Credits) {
	p.legs[id] += amount
	p.sites[site] += amount
}

// pays records what a leg costs, what is refunded, and its final cost if it was given up
// with its site.
func (m *mirror) pays(f agents.Fact) {
	site := func(id grid.LegID) string {
		if t := m.txs[id.Tx]; t != nil && id.Leg < len(t.begun.Sites) {
			return t.begun.Sites[id.Leg]
		}
		return ""
	}
	switch f := f.(type) {
	case facts.Gathered:
		for _, x := range f.Idled {
			m.paid.sites[x.Site] += x.Posted
		}
		m.promised.set(grid.LegID{Tx: f.State.ID, Leg: asideOf}, f.Pending)
	case facts.LegClosed:
		m.paid.add(site(f.Leg), f.Leg, f.Posted)
	case facts.LegDone:
		m.paid.add(site(f.Leg), f.Leg, -f.Refund-f.Penalty)
	case facts.ClaimSettled:
		m.paid.add(site(f.Leg), f.Leg, f.Cost-m.paid.legs[f.Leg])
	}
}

// hasPaid compares what a broker's ledger has paid each site with its record (I8).
func (c *Checker) hasPaid(b *broker.Broker, m *mirror) error {
	for i := range c.w.Sites {
		name := c.w.Sites[i].Config.Name
		if a := b.Ledger().Account(string(world.SiteID(name))); a.Credit-a.Debit != m.paid.sites[name] {
			return fmt.Errorf("I8: by its ledger %s has paid %s %v, by its record %v", m.id, name, a.Credit-a.Debit, m.paid.sites[name])
		}
	}
	return nil
}

// nothingPending checks, at rest, that no money is reserved for what was begun
// before an instant (I8).
func (c *Checker) nothingPending(before grid.Time) error {
	for i := range c.w.Brokers {
		m := c.of(world.BrokerID(c.w.Brokers[i].Config.Name))
		for _, id := range sortedLegs(m.promised.legs) {
			if t := c.txs[id.Tx]; t != nil && t.at <= before && !c.exempt[id] {
				return fmt.Errorf("I8: at rest %v is still pending for leg %v of %s", m.promised.legs[id], id, m.id)
			}
		}
	}
	return nil
}

// siteMove checks what a site does by itself or for money: limits that have
// passed (I4), refunds by the schedule and penalties (I8), the cap.
func (c *Checker) siteMove(s *sim.Step, m *mirror, was grid.LegState, f facts.LegMoved) error {
	l, config := c.leg(f.Leg), c.siteConfig(s.ID)
	defer func() { c.moved[f.Leg] = s.At }()
	if c.exempt[f.Leg] {
		return nil
	}
	if since := max(c.moved[f.Leg], c.begun[s.Process]); was == grid.Prepared && !l.inquired && s.At.Sub(since) > patienceToAsk && !s.Late {
		return fmt.Errorf("S32: leg %v is in doubt from %v to %v, and nobody has asked for its decision", f.Leg, since, s.At)
	}
	switch f.State {
	case grid.Held:
		l.held = s.Now
		if old := m.legs[f.Replaces]; old != nil && old.Version+1 != f.Version {
			return fmt.Errorf("S44: leg %v of version %d is held in place of leg %v of version %d", f.Leg, f.Version, f.Replaces, old.Version)
		}
		return c.cap(m, f, config)
	case grid.LegExpired, grid.Heuristic:
		limit, known := c.limits[limitKey{s.Process, f.Leg}]
		if early := min(limit, f.What.Start.Add(-leadMargin)); known && was != grid.Asked && s.Now < early-1 {
			return fmt.Errorf("I4: leg %v is %v at %v, its limit is %v", f.Leg, f.State, s.Now, limit)
		}
	case grid.Confirmed:
		return c.swapped(s, m, l, f, config)
	case grid.Released:
		return c.refunded(s, l, f, config)
	case grid.Lost:
		charged := was == grid.Confirmed || was == grid.Running
		if charged && (f.Refund != f.Fare.Total() || f.Penalty != f.Fare.Total().Share(config.Penalty)) {
			return fmt.Errorf("I8: leg %v at %v is lost, refunded %v with a penalty of %v", f.Leg, f.Fare.Total(), f.Refund, f.Penalty)
		}
		if !charged && f.Refund+f.Penalty != 0 {
			return fmt.Errorf("I8: leg %v was never charged and brings %v back", f.Leg, f.Refund+f.Penalty)
		}
	}
	return nil
}

// patienceToAsk is how long a site may wait before it asks for a decision.
const patienceToAsk = 15 * grid.Second

// leadMargin is how long before its start a hold or doubt may end at the latest.
const leadMargin = 2 * grid.Second

// swapped checks a leg that takes the place of another, as which it counts from now
// on: it has no new notice, and what comes back of the old one beyond the schedule
// is kept of the new (S121), so that a move is never a cheaper way to cancel.
func (c *Checker) swapped(s *sim.Step, m *mirror, l *legTruth, f facts.LegMoved, config *sites.Config) error {
	old, was := c.leg(f.Replaces), m.legs[f.Replaces]
	if was == nil || c.exempt[f.Replaces] || was.State != grid.Confirmed && was.State != grid.Running {
		l.kept = f.Kept // there is none, or the site knows what the checker does not
		l.held = min(l.held, cmp.Or(old.held, l.held))
		return nil
	}
	schedule := old.scheduled(&was.LegMoved, config, s.Now)
	back := max(schedule, min(was.Fare.Total(), f.Fare.Total()))
	if f.Offer > 0 {
		back = was.Fare.Total()
	}
	old.swap, l.kept, l.held = &back, min(back-schedule, f.Fare.Total()), min(l.held, old.held)
	if f.Kept != l.kept {
		return fmt.Errorf("S121: leg %v at %v takes the place of leg %v at %v, of which the schedule gives %v back, and keeps %v instead of %v",
			f.Leg, f.Fare.Total(), f.Replaces, was.Fare.Total(), schedule, f.Kept, l.kept)
	}
	return nil
}

// scheduled is what giving a leg up brings back by the schedule of its site.
func (l *legTruth) scheduled(f *facts.LegMoved, config *sites.Config, now grid.Time) grid.Credits {
	schedule := config.Cancellation
	if schedule == (grid.Cancellation{}) {
		schedule = grid.HalfTime
	}
	return min(schedule.Refund(f.Fare, l.held, f.What.Start, now), f.Fare.Total()-l.kept)
}

// refunded checks a refund: all of it where both sides agree, what counts for the
// leg in its place, else by the schedule of cancellation.
func (c *Checker) refunded(s *sim.Step, l *legTruth, f facts.LegMoved, config *sites.Config) error {
	r, ok := s.Message.(agents.Release)
	if !ok {
		if l.swap != nil && *l.swap != f.Refund {
			return fmt.Errorf("I8: leg %v at %v is replaced and brings %v back instead of %v", f.Leg, f.Fare, f.Refund, *l.swap)
		}
		return nil
	}
	want := f.Fare.Total()
	if !r.Full {
		want = l.scheduled(&f, config, s.Now)
	}
	if f.Refund != want {
		return fmt.Errorf("I8: leg %v at %v is given up at %v (full=%t) and brings %v back instead of %v", f.Leg, f.Fare, s.Now, r.Full, f.Refund, want)
	}
	return nil
}

// cap checks what a broker may hold of a site unconfirmed; the legs of one transaction alone
// are always allowed.
func (c *Checker) cap(m *mirror, f facts.LegMoved, config *sites.Config) error {
	if config.Cap == 0 {
		return nil
	}
	var sum int64
	n, others := 0, false
	for _, id := range m.open {
		if id.Tx.Broker == f.Leg.Tx.Broker {
			w := m.legs[id].What
			each := w.Duration()
			if w.Work > 0 { // shares of nodes until a deadline, for so much work
				each = min(each, w.Work)
			}
			sum += int64(w.Nodes) * int64(each)
			n++
			others = others || id.Tx != f.Leg.Tx
		}
	}
	if others && sum > config.Cap {
		return fmt.Errorf("S11: %s holds %d node-ms unconfirmed in %d legs, its cap is %d", f.Leg.Tx.Broker, sum, n, config.Cap)
	}
	return nil
}

func (c *Checker) siteConfig(id agents.ID) *sites.Config {
	for i := range c.w.Sites {
		if world.SiteID(c.w.Sites[i].Config.Name) == id {
			return &c.w.Sites[i].Config
		}
	}
	panic("torture: no site " + string(id))
}
