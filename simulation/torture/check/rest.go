package check

import (
	"cmp"
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/sites"
)

// decidedEverywhere checks I13 some time after all faults have ended: what was
// begun before then is decided, every site concerned has acknowledged it, and
// no leg of it is in doubt.
func (c *Checker) decidedEverywhere(before grid.Time) error {
	if err := c.allUp(); err != nil {
		return err
	}
	for i := range c.w.Brokers {
		m := c.of(world.BrokerID(c.w.Brokers[i].Config.Name))
		for _, id := range m.begun {
			t := m.txs[id]
			if c.txs[id].at > before {
				continue
			}
			if !t.decided {
				return fmt.Errorf("I13: %v is undecided", id)
			}
			for n := range t.begun.Legs {
				leg := grid.LegID{Tx: id, Leg: n}
				if _, ok := m.closed[leg]; !ok && c.concerns(t.begun.Sites[n], leg) && !c.exempt[leg] && c.leg(leg).asked && !c.leg(leg).refused {
					return fmt.Errorf("I13: the decision commit=%t is not acknowledged for leg %v", t.commit, leg)
				}
			}
		}
	}
	for i := range c.w.Sites {
		m := c.of(world.SiteID(c.w.Sites[i].Config.Name))
		for _, id := range m.open {
			if t := c.txs[id.Tx]; t == nil || t.at <= before {
				return fmt.Errorf("I13: leg %v is still %v at %s", id, m.legs[id].State, m.id)
			}
		}
	}
	return nil
}

// allUp checks that every site and every broker lives.
func (c *Checker) allUp() error {
	for i := range c.w.Sites {
		if name := c.w.Sites[i].Config.Name; c.of(world.SiteID(name)) == nil {
			return fmt.Errorf("I13: site %s is not up", name)
		}
	}
	for i := range c.w.Brokers {
		if name := c.w.Brokers[i].Config.Name; c.of(world.BrokerID(name)) == nil {
			return fmt.Errorf("I13: broker %s is not up", name)
		}
	}
	return nil
}

// of is the mirror of the process that lives under a name, nil if none does.
func (c *Checker) of(id agents.ID) *mirror {
	if c.w.Agent(id) == nil {
		return nil
	}
	return c.procs[c.latest[id]]
}

// concerns reports whether a site has something on record of a leg that a
// decision is about: not one that it has refused.
func (c *Checker) concerns(site string, leg grid.LegID) bool {
	m := c.of(world.SiteID(site))
	return m != nil && m.legs[leg] != nil && m.legs[leg].State != grid.Refused
}

// atRest checks I2 and the money of both sides once the world is at rest, for what was
// begun before an instant.
func (c *Checker) atRest(before grid.Time) error {
	if err := c.allUp(); err != nil {
		return err
	}
	repairs := map[grid.LegID]grid.TxID{}
	for _, id := range c.order {
		t := c.txs[id]
		if m := c.of(world.BrokerID(id.Broker)); t.begun.Repairs != (grid.LegID{}) && m.txs[id] != nil && m.txs[id].commit {
			repairs[t.begun.Repairs] = id
		}
	}
	for _, id := range c.order {
		t := c.txs[id]
		m := c.of(world.BrokerID(id.Broker))
		if t.at > before || c.forgotten(id) || m.txs[id] == nil || !m.txs[id].decided {
			continue
		}
		if m.txs[id].commit {
			if err := c.whole(id, before, repairs); err != nil {
				return err
			}
		}
		for i, site := range t.begun.Sites {
			leg := grid.LegID{Tx: id, Leg: i}
			l := c.of(world.SiteID(site)).legs[leg]
			if _, given := c.claimed[leg]; given {
				if err := c.claimAtRest(m, leg, l, before); err != nil {
					return err
				}
				continue
			}
			if err := cmp.Or(c.legAtRest(m, leg, l, m.txs[id].commit), c.place(m, leg, l, before)); err != nil {
				return err
			}
		}
	}
	return cmp.Or(c.eitherWindow(before), c.toldAtRest(before), c.nothingPending(before), c.money(before))
}

// legAtRest compares what both sides have on record of a leg.
func (c *Checker) legAtRest(m *mirror, id grid.LegID, l *legMirror, commit bool) error {
	state := grid.Cancelled
	if l != nil {
		state = l.State
	}
	closed := m.closed[id]
	switch {
	case !commit && paid(state):
		return fmt.Errorf("I2: %v is aborted, its leg %d is %v", id.Tx, id.Leg, state)
	case commit && (state == grid.Cancelled || state == grid.Refused || state == grid.Held || state == grid.Prepared):
		return fmt.Errorf("I2: %v is committed, its leg %d is %v", id.Tx, id.Leg, state)
	case commit && paid(state) && closed.Posted != l.Fare.Total():
		return fmt.Errorf("I8: leg %v is %v at its site for %v, its broker has posted %v", id, state, l.Fare.Total(), closed.Posted)
	case !c.leg(id).confirmed && closed.Posted > 0:
		return fmt.Errorf("I8: leg %v was never confirmed, its broker has posted %v", id, closed.Posted)
	}
	return nil
}

// money compares what each site has had of each broker with what that broker has
// paid it, where no amnesia has named a leg between them. New work comes until the
// end, so what the broker has yet to hear of legs that moved last is left out.
func (c *Checker) money(before grid.Time) error {
	clean, unheard := map[[2]string]bool{}, map[[2]string]grid.Credits{}
	for i := range c.w.Brokers {
		for j := range c.w.Sites {
			clean[[2]string{c.w.Brokers[i].Config.Name, c.w.Sites[j].Config.Name}] = true
		}
	}
	for id := range c.lives.lied {
		for j := range c.w.Sites { // a site was paid for what it has never sold
			if site := c.w.Sites[j].Config.Name; c.txs[id] == nil && c.liars[world.SiteID(site)] {
				clean[[2]string{id.Broker, site}] = false
			}
		}
	}
	for _, id := range c.order {
		t := c.txs[id]
		for i, site := range t.begun.Sites {
			leg, pair := grid.LegID{Tx: id, Leg: i}, [2]string{id.Broker, site}
			recent := c.moved[leg] > before
			_, claimed := c.claimed[leg]
			if t.exempt || c.exempt[leg] || c.claimed[leg] > before || claimed && recent || c.disowned(id) {
				clean[pair] = false
				continue
			}
			if l := c.of(world.SiteID(site)).legs[leg]; recent && l != nil && c.leg(leg).confirmed {
				unheard[pair] += l.unheard(c.of(world.BrokerID(id.Broker)))
			}
		}
	}
	for i := range c.w.Brokers {
		name := c.w.Brokers[i].Config.Name
		b, ok := c.w.Agent(world.BrokerID(name)).(*broker.Broker)
		if !ok {
			continue
		}
		for j := range c.w.Sites {
			site := c.w.Sites[j].Config.Name
			s, ok := c.w.Agent(world.SiteID(site)).(*sites.Site)
			if !ok || !clean[[2]string{name, site}] {
				continue
			}
			idled, tells := c.behind.pilots.unpaid(name, site, before)
			if !tells {
				continue
			}
			had := s.Ledger().Account(string(world.BrokerID(name)))
			paid := b.Ledger().Account(string(world.SiteID(site)))
			wait := unheard[[2]string{name, site}] + idled
			if had.Debit-had.Credit != paid.Credit-paid.Debit+wait {
				return fmt.Errorf("I8: at rest %s has had %v of %s, which has paid %v and has yet to hear of %v", site, had.Debit-had.Credit, name, paid.Credit-paid.Debit, wait)
			}
		}
	}
	return nil
}

// disowned reports whether a broker that has lost its record of a transaction did not take
// it on again because one of its sites lied about it: the others are not paid (B99).
func (c *Checker) disowned(id grid.TxID) bool {
	return c.lives.lied[id] && c.of(world.BrokerID(id.Broker)).txs[id] == nil
}

// unheard returns what a site has posted for a confirmed leg that its broker, whose mirror
// is given, has not posted: the message about it is under way.
func (l *legMirror) unheard(broker *mirror) grid.Credits {
	var sum grid.Credits
	if !broker.closed[l.Leg].Commit {
		sum = l.Fare.Total()
	}
	if _, heard := broker.done[l.Leg]; !heard && (l.State == grid.Released || l.State == grid.Lost) {
		sum -= l.Refund + l.Penalty
	}
	return sum
}
