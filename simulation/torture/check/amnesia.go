package check

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// amnesia exempts the legs that an agent says were forgotten, and checks that claim: some
// process must have lost something, or lied.
func (c *Checker) amnesia(id agents.ID, f facts.Amnesia) error {
	for _, leg := range f.Legs {
		c.exempt[leg], c.named[leg] = true, true
	}
	site := world.SiteID(f.Site)
	if f.Site == "" {
		site = id
	}
	if len(f.Legs) > 0 && !c.past[site] && !c.past[id] && !c.liars[site] && !c.lives.about(f.Legs) {
		return fmt.Errorf("I11: %s records an amnesia of %s, which has lost nothing", id, site)
	}
	return nil
}

// reversed checks that a COMMIT that is taken back has had no effect (I3).
func (c *Checker) reversed(f facts.TxReversed) error {
	t := c.txs[f.Tx]
	if t == nil || c.forgotten(f.Tx) {
		return nil
	}
	for i := range t.begun.Legs {
		if c.leg(grid.LegID{Tx: f.Tx, Leg: i}).confirmed {
			return fmt.Errorf("I3: %v is reversed, its leg %d was confirmed", f.Tx, i)
		}
	}
	return nil
}

// legDone compares what a broker books at a leg's end with what its site has
// given back (I8).
func (c *Checker) legDone(f facts.LegDone) error {
	l := c.leg(f.Leg)
	if f.Claim {
		if f.Refund != l.fare.Total() && !c.exempt[f.Leg] || f.Penalty > 0 {
			return fmt.Errorf("I8: leg %v at %v is given up with its site, for %v and a penalty of %v", f.Leg, l.fare.Total(), f.Refund, f.Penalty)
		}
		return nil
	}
	if c.exempt[f.Leg] || f.Refund == l.refund && f.Penalty == l.penalty {
		return nil
	}
	return fmt.Errorf("I8: leg %v brought back %v and a penalty of %v, its broker books %v and %v", f.Leg, l.refund, l.penalty, f.Refund, f.Penalty)
}
