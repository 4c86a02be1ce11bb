package check

import (
	"fmt"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// forgottenAtLast checks, a day after everything has ended, that no agent remembers any of
// it (S57), and therefore nothing is stuck forever (I13). Only claims are kept longer.
func (c *Checker) forgottenAtLast() error {
	if err := c.sitesForget(); err != nil {
		return err
	}
	for i := range c.w.Brokers {
		b, alone := c.w.Agent(world.BrokerID(c.w.Brokers[i].Config.Name)).(*broker.Broker)
		if !alone {
			continue
		}
		m := c.of(world.BrokerID(c.w.Brokers[i].Config.Name))
		for _, t := range b.Image().(facts.BrokerImage).Txs {
			if !c.keptFor(m, t.Tx, len(t.Legs)) {
				return fmt.Errorf("I13: after a day %s still has %v of job %s on record, as %v", m.id, t.Tx, t.Job, t.State)
			}
		}
	}
	return nil
}

func (c *Checker) sitesForget() error {
	for i := range c.w.Sites {
		m := c.of(world.SiteID(c.w.Sites[i].Config.Name))
		if list := sortedLegs(m.legs); len(list) > 0 {
			return fmt.Errorf("S57: after a day %s still has leg %v on record, as %v", m.id, list[0], m.legs[list[0]].State)
		}
	}
	return nil
}

// keptFor reports whether a transaction is kept for a claim.
func (c *Checker) keptFor(m *mirror, id grid.TxID, legs int) bool {
	for i := range legs {
		leg := grid.LegID{Tx: id, Leg: i}
		if _, claimed := c.claimed[leg]; claimed {
			if _, settled := m.settled[leg]; !settled {
				return true
			}
		}
	}
	return false
}
