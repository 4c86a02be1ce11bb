package check

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// gullible checks that a broker does not believe the impossible, whoever has said it. By
// its own record a leg costs no more than its limit, lies within its window, brings back no
// more than it has cost, and at most ten times that as a penalty. Nor does it take on legs of
// another broker.
func gullible(m *mirror, f agents.Fact) error {
	switch f := f.(type) {
	case facts.LegPriced:
		t := m.txs[f.Leg.Tx]
		if t == nil || f.Leg.Leg >= len(t.begun.Limits) {
			return nil
		}
		if limit := t.begun.Limits[f.Leg.Leg]; f.Fare.Base < 0 || f.Fare.Additive < 0 || f.Fare.Total() > limit {
			return fmt.Errorf("I10: %s takes leg %v for held at %v, its limit is %v", m.id, f.Leg, f.Fare, limit)
		}
		if f.End > 0 {
			return outside(m, f.Leg, f.Start, f.End)
		}
	case facts.LegShifted:
		return outside(m, f.Leg, f.Start, f.End)
	case facts.LegAdopted:
		if world.BrokerID(f.Leg.Tx.Broker) != m.id {
			return fmt.Errorf("B55: %s takes on leg %v of another broker", m.id, f.Leg)
		}
		return m.contradicts(f)
	case facts.LegDone:
		posted := m.closed[f.Leg].Posted
		if f.Refund < 0 || f.Refund > posted || f.Penalty < 0 || f.Penalty > posted.Times(mostPenalty) {
			return fmt.Errorf("I8: by the record of %s leg %v cost %v, and brings back %v and a penalty of %v", m.id, f.Leg, posted, f.Refund, f.Penalty)
		}
	}
	return nil
}

// contradicts checks a leg that a broker takes on against what it has on record: its site has
// sold to a later life, or to another process of that number, and no job has that many.
func (m *mirror) contradicts(f facts.LegAdopted) error {
	if m.life > 0 && f.Leg.Tx.Incarnation >= m.life {
		return fmt.Errorf("B142: %s takes on leg %v of %s in its life %d", m.id, f.Leg, f.Site, m.life)
	}
	jobs := 0
	for id, t := range m.txs {
		switch {
		case id == f.Leg.Tx:
		case t.begun.Limits == nil:
			if t.begun.Job == f.Job {
				jobs++
			}
		case slices.Contains(t.begun.Sites, f.Site) && (id.Incarnation > f.Leg.Tx.Incarnation || id.Incarnation == f.Leg.Tx.Incarnation && id.Nonce != f.Leg.Tx.Nonce):
			return fmt.Errorf("B142: %s takes on leg %v of %s, which has sold %v since", m.id, f.Leg, f.Site, id)
		}
	}
	if jobs >= mostOfJob {
		return fmt.Errorf("B143: %s takes on leg %v beside %d other transactions of %s without a record", m.id, f.Leg, jobs, f.Job)
	}
	return nil
}

// mostOfJob is how many transactions without a record a broker may take on of one job.
const mostOfJob = 256

// outside checks a place that a broker believes in, against the window that it has asked for.
func outside(m *mirror, id grid.LegID, from, to grid.Time) error {
	t := m.txs[id.Tx]
	if t == nil || t.begun.Limits == nil || t.begun.Flex.Holds(from, to) {
		return nil
	}
	return fmt.Errorf("I9: %s takes leg %v to lie over [%v, %v), its window is [%v, %v)", m.id, id, from, to, t.begun.Flex.Ready, t.begun.Flex.Due)
}

// mostPenalty is how many times the price of a leg its penalty may be.
const mostPenalty = 10

// deceived takes note that a site lies about a leg.
func (c *Checker) deceived(site agents.ID, id grid.LegID) {
	c.exempt[id], c.named[id], c.lives.lied[id.Tx], c.liars[site] = true, true, true, true
}
