package torture

import (
	"fmt"

	"bourse"
	"bourse/agents"
)

// amnesia exempts the legs that an agent says were forgotten, and holds it to
// that: somebody must have lost something.
func (c *checker) amnesia(id agents.ID, f bourse.Amnesia) error {
	for _, leg := range f.Legs {
		c.exempt[leg] = true
	}
	site := siteID(f.Site)
	if f.Site == "" {
		site = id
	}
	if len(f.Legs) > 0 && !c.past[site] && !c.past[id] {
		return fmt.Errorf("I11: %s records an amnesia of %s, which has lost nothing", id, site)
	}
	return nil
}

// reversed checks that a COMMIT that is taken back has had no effect (I3).
func (c *checker) reversed(f bourse.TxReversed) error {
	t := c.txs[f.Tx]
	if t == nil || c.forgotten(f.Tx) {
		return nil
	}
	for i := range t.begun.Legs {
		if c.leg(bourse.LegID{Tx: f.Tx, Leg: i}).confirmed {
			return fmt.Errorf("I3: %v is reversed, its leg %d was confirmed", f.Tx, i)
		}
	}
	return nil
}

// legDone compares what a broker books at a leg's end with what its site has
// given back (I8).
func (c *checker) legDone(f bourse.LegDone) error {
	l := c.leg(f.Leg)
	if c.exempt[f.Leg] || f.Refund == l.refund && f.Penalty == l.penalty {
		return nil
	}
	return fmt.Errorf("I8: leg %v brought back %v and a penalty of %v, its broker books %v and %v", f.Leg, l.refund, l.penalty, f.Refund, f.Penalty)
}

// whole checks I2 on a window at rest: if a leg of it has gone and nothing has
// taken its place, no other leg of it stands.
func (c *checker) whole(id bourse.TxID, before bourse.Time, repairs map[bourse.LegID]bourse.TxID) error {
	t := c.txs[id]
	if t.begun.Repairs != (bourse.LegID{}) || c.replaced[id] {
		return nil
	}
	var gone, stands *bourse.LegID
	for i := range t.begun.Legs {
		leg := bourse.LegID{Tx: id, Leg: i}
		l := c.standing(leg, repairs)
		if l == nil || c.moved[l.Leg] > before || c.exempt[l.Leg] {
			return nil // in motion
		}
		switch {
		case l.State == bourse.Confirmed || l.State == bourse.Running:
			stands = &l.Leg
		case l.State != bourse.Settled:
			gone = &l.Leg
		}
	}
	if gone != nil && stands != nil {
		return fmt.Errorf("I2: leg %v of job %s has gone, nothing has taken its place, and leg %v stands", *gone, t.begun.Job, *stands)
	}
	return nil
}

// standing is the record of the leg that stands for a leg: itself, or what has
// repaired it.
func (c *checker) standing(leg bourse.LegID, repairs map[bourse.LegID]bourse.TxID) *legMirror {
	for {
		next, ok := repairs[leg]
		if !ok {
			break
		}
		leg = bourse.LegID{Tx: next}
	}
	t := c.txs[leg.Tx]
	return c.of(siteID(t.begun.Sites[leg.Leg])).legs[leg]
}
