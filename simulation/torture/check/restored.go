package check

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// siteAnswer is a state in which a site has had a leg: what it may have proved.
type siteAnswer struct {
	state           grid.LegState
	what            grid.Leg
	fare            grid.Fare
	refund, penalty grid.Credits
}

// answered notes what a site records of a leg, and so may answer.
func (c *Checker) answered(f agents.Fact) {
	switch f := f.(type) {
	case facts.LegMoved:
		c.answers[f.Leg] = append(c.answers[f.Leg], siteAnswer{f.State, f.What, f.Fare, f.Refund, f.Penalty})
	case facts.LegShifted:
		if list := c.answers[f.Leg]; len(list) > 0 {
			x := list[len(list)-1]
			x.what.Start, x.what.End = f.Start, f.End
			c.answers[f.Leg] = append(list, x)
		}
	}
}

// missed checks a fact that says that something of the record was lost, or is known again.
func (c *Checker) missed(s *sim.Step, f agents.Fact) error {
	switch f := f.(type) {
	case facts.LegRestored:
		c.exempt[f.Was.Leg], c.named[f.Was.Leg] = true, true
		return c.restored(s.ID, f)
	case facts.Amnesia:
		return c.amnesia(s.ID, f)
	case facts.LegAdopted:
		if c.liars[world.SiteID(f.Site)] {
			c.deceived(world.SiteID(f.Site), f.Leg)
			return nil
		}
		return c.amnesia(s.ID, facts.Amnesia{Legs: []grid.LegID{f.Leg}})
	case facts.TxReversed:
		return c.reversed(f)
	}
	return nil
}

// restored checks that a site takes back what it once had, and has lost (I16).
func (c *Checker) restored(site agents.ID, f facts.LegRestored) error {
	w := &f.Was
	had := slices.ContainsFunc(c.answers[w.Leg], func(x siteAnswer) bool {
		over := w.State == grid.Released || w.State == grid.Lost
		return x.what == w.What && x.fare == w.Fare && (over && x.state == w.State && x.refund == w.Refund && x.penalty == w.Penalty ||
			!over && x.state.Blocks() && (w.State != grid.Confirmed || x.state >= grid.Confirmed))
	})
	switch {
	case !c.lost[lostKey{site, w.Leg}]:
		return fmt.Errorf("I16: %s restores leg %v as %v and has lost nothing of it", site, w.Leg, w.State)
	case !had:
		return fmt.Errorf("I16: %s restores leg %v as %v, %d nodes over [%v, %v) at %v with %v back, and never had it so", site, w.Leg, w.State,
			w.What.Nodes, w.What.Start, w.What.End, w.Fare.Total(), w.Refund.Plus(w.Penalty))
	}
	return nil
}

// lostKey is a leg whose record a site has lost.
type lostKey struct {
	site agents.ID
	leg  grid.LegID
}
