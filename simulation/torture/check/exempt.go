package check

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// What an agent forgets with a disk of the past is exempt, and only that.

// excused reports whether the fact is about a leg or transaction that an amnesia
// has named.
func (c *Checker) excused(f agents.Fact) bool {
	switch f := f.(type) {
	case facts.LegMoved:
		return c.exempt[f.Leg]
	case facts.LegClosed:
		return c.exempt[f.Leg]
	case facts.LegPriced:
		return c.exempt[f.Leg]
	case facts.LegDone:
		return c.exempt[f.Leg]
	case facts.TxBegun:
		return c.forgotten(f.Tx)
	case facts.TxDecided:
		return c.forgotten(f.Tx)
	}
	return false
}

// forgotten reports whether an amnesia has named any leg of a transaction.
func (c *Checker) forgotten(id grid.TxID) bool {
	t := c.txs[id]
	if t == nil || t.exempt {
		return true
	}
	for i := range t.begun.Legs {
		if c.exempt[grid.LegID{Tx: id, Leg: i}] {
			return true
		}
	}
	return false
}

// forget exempts what lost facts name, until it is seen whether anybody finds that out. What
// the process still has on record is given by its mirror.
func (c *Checker) forget(id agents.ID, m *mirror, lost []agents.Fact) {
	c.behind.pilots.exempts(id)
	for _, f := range lost {
		switch f := f.(type) {
		case facts.LegMoved:
			c.vanishAt(id, f.Leg)
			c.lost[lostKey{id, f.Leg}] = true
		case facts.LegShifted:
			c.lost[lostKey{id, f.Leg}] = true
		case facts.LegRestored:
			c.vanishAt(id, f.Was.Leg)
			c.lost[lostKey{id, f.Was.Leg}] = true
		case facts.Tombstone:
			c.vanishAt(id, f.Leg)
		case facts.LegPriced:
			c.vanish(f.Leg)
		case facts.LegClosed:
			c.vanish(f.Leg)
			c.unclaim(m, f.Leg)
		case facts.LegDone:
			c.vanish(f.Leg)
			c.unclaim(m, f.Leg)
		case facts.TxBegun:
			c.vanishAll(f.Tx)
		case facts.TxDecided:
			c.vanishAll(f.Tx)
		}
	}
}

func (c *Checker) vanish(id grid.LegID) { c.exempt[id], c.vanished[id] = true, c.w.Now() }

// vanishAt exempts a leg of which a site has lost a fact. Its broker can find that out once
// it hears the site again, which may be down, or cut off, until the leg's end.
func (c *Checker) vanishAt(site agents.ID, id grid.LegID) {
	c.vanish(id)
	c.vanished[id] = grid.Never
	at := pair{world.BrokerID(id.Tx.Broker), site}
	c.unheard[at] = append(c.unheard[at], id)
}

// pair is a broker and a site.
type pair struct{ broker, site agents.ID }

// hearsAgain notes that a broker hears a site that has lost facts.
func (c *Checker) hearsAgain(s *sim.Step) {
	at := pair{s.ID, s.From}
	for _, id := range c.unheard[at] {
		c.vanished[id] = s.At
	}
	delete(c.unheard, at)
}

func (c *Checker) vanishAll(id grid.TxID) {
	if t := c.txs[id]; t != nil {
		t.exempt = true
		for i := range t.begun.Legs {
			c.vanish(grid.LegID{Tx: id, Leg: i})
		}
	}
}

// narrow leaves exempt, at rest, what an amnesia has named, and what had ended before anybody
// could, or nobody could at all: all else that was lost has been found again by now, and both sides agree on it.
func (c *Checker) narrow() {
	for id := range c.exempt {
		if t := c.txs[id.Tx]; !c.named[id] && t != nil && id.Leg < len(t.begun.Legs) && t.begun.Legs[id.Leg].End.Add(-unnamed) > c.vanished[id] {
			delete(c.exempt, id)
		}
	}
	for _, t := range c.txs {
		t.exempt = false
	}
}

// unnamed is how long after a loss can be found out a leg need not be named: agents do not
// speak of it at once.
const unnamed = 10 * grid.Minute

// parted exempts what the twin that is gone has recorded since they were one.
func (c *Checker) parted(kept, gone int) {
	a, b := c.procs[kept], c.procs[gone]
	if a == nil || b == nil {
		return
	}
	c.forget(b.id, a, b.facts[min(max(a.forked, b.forked), len(b.facts)):])
	a.forked = 0
	if c.latest[b.id] == gone {
		c.latest[b.id] = kept
	}
}
