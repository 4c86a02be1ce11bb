package torture

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// What an agent forgets with a disk of the past is exempt, and only that.

// excused reports whether the fact is about a leg or transaction that an amnesia
// has named.
func (c *checker) excused(f agents.Fact) bool {
	switch f := f.(type) {
	case bourse.LegMoved:
		return c.exempt[f.Leg]
	case bourse.LegClosed:
		return c.exempt[f.Leg]
	case bourse.LegPriced:
		return c.exempt[f.Leg]
	case bourse.LegDone:
		return c.exempt[f.Leg]
	case bourse.TxBegun:
		return c.forgotten(f.Tx)
	case bourse.TxDecided:
		return c.forgotten(f.Tx)
	}
	return false
}

// forgotten reports whether an amnesia has named any leg of a transaction.
func (c *checker) forgotten(id bourse.TxID) bool {
	t := c.txs[id]
	if t == nil || t.exempt {
		return true
	}
	for i := range t.begun.Legs {
		if c.exempt[bourse.LegID{Tx: id, Leg: i}] {
			return true
		}
	}
	return false
}

// forget exempts what lost facts name.
func (c *checker) forget(id agents.ID, lost []agents.Fact) {
	for _, f := range lost {
		switch f := f.(type) {
		case bourse.LegMoved:
			c.exempt[f.Leg], c.lost[lostKey{id, f.Leg}] = true, true
		case bourse.LegShifted:
			c.lost[lostKey{id, f.Leg}] = true
		case bourse.LegRestored:
			c.exempt[f.Was.Leg], c.lost[lostKey{id, f.Was.Leg}] = true, true
		case bourse.Tombstone:
			c.exempt[f.Leg] = true
		case bourse.LegPriced:
			c.exempt[f.Leg] = true
		case bourse.LegClosed:
			c.exempt[f.Leg] = true
		case bourse.LegDone:
			c.exempt[f.Leg] = true
		case bourse.TxBegun:
			c.txs[f.Tx].exempt = true
			for i := range f.Legs {
				c.exempt[bourse.LegID{Tx: f.Tx, Leg: i}] = true
			}
		case bourse.TxDecided:
			if t := c.txs[f.Tx]; t != nil {
				t.exempt = true
				for i := range t.begun.Legs {
					c.exempt[bourse.LegID{Tx: f.Tx, Leg: i}] = true
				}
			}
		}
	}
}

// parted exempts what the twin that is gone has recorded since they were one.
func (c *checker) parted(kept, gone int) {
	a, b := c.procs[kept], c.procs[gone]
	if a == nil || b == nil {
		return
	}
	c.forget(b.id, b.facts[min(max(a.forked, b.forked), len(b.facts)):])
	a.forked = 0
	if c.latest[b.id] == gone {
		c.latest[b.id] = kept
	}
}
