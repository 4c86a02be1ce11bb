package torture

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/linear"
)

// What a member asserts that means no good. It has a broker's certificate, and so
// the broker's name, the numbers of its lives and the proofs that sites have given
// it: a key of theirs it does not have.

// spied is what the hostile member knows.
type spied struct {
	asked map[grid.LegID]agents.Hold
	sold  map[agents.ID][]agents.ListedLeg // what a site has answered, with its proofs
}

// maxSpied bounds what it remembers of a site.
const maxSpied = 64

// assert makes the broker of a fault claim, next to a step of a leg, what that leg, or one
// that never existed, was supposed to be. It reports whether it did.
func (w *world) assert(f sim.Fault, draw uint64, from, to agents.ID, m agents.Message) bool {
	if from != f.Host {
		w.spied.hear(from, m)
		return false
	}
	w.spied.say(m)
	id, ok := linear.StepOf(m)
	if !ok || int(draw>>8%1000) >= f.Share {
		return false
	}
	a := invented(id, draw)
	if h, known := w.spied.asked[id]; known {
		a.What.Group = h.What.Group
	}
	if sold := w.spied.sold[to]; draw&1 == 0 && len(sold) > 0 {
		a = sold[draw>>20%uint64(len(sold))]
	}
	w.Inject(w.Now().Add(grid.Duration(draw>>32%5_000)), from, to, agents.Reassert{Leg: a, Incarnation: id.Tx.Incarnation, Nonce: id.Tx.Nonce})
	return true
}

func (x *spied) say(m agents.Message) {
	if h, ok := m.(agents.Hold); ok {
		if x.asked == nil {
			x.asked, x.sold = map[grid.LegID]agents.Hold{}, map[agents.ID][]agents.ListedLeg{}
		}
		x.asked[h.Leg] = h
	}
}

// hear keeps what a site proves.
func (x *spied) hear(site agents.ID, m agents.Message) {
	var a agents.ListedLeg
	switch m := m.(type) {
	case agents.Held:
		h, known := x.asked[m.Leg]
		if !known {
			return
		}
		a = agents.ListedLeg{Leg: m.Leg, What: h.What, Job: h.Job, User: h.User, Limit: h.Limit, State: grid.Prepared, Left: inDoubtLimit,
			Fare: m.Fare, Version: m.Version, Proof: m.Proof}
		if m.End > 0 {
			a.What.Start, a.What.End = m.Start, m.End
		}
	case agents.Confirmed:
		i := slices.IndexFunc(x.sold[site], func(o agents.ListedLeg) bool { return o.Leg == m.Leg })
		if i < 0 {
			return
		}
		a = x.sold[site][i]
		a.State, a.Left, a.Proof = grid.Confirmed, 0, m.Proof
	}
	if a.Proof == (grid.Proof{}) {
		return
	}
	list := append(x.sold[site], a)
	x.sold[site] = list[max(0, len(list)-maxSpied):]
}

// invented returns a leg that no site ever had: all nodes of the site for nothing, or a
// refund above what was ever paid, with a made-up proof.
func invented(near grid.LegID, draw uint64) agents.ListedLeg {
	a := agents.ListedLeg{Leg: near, Job: "mine", State: grid.Confirmed, Version: 1,
		What: grid.Leg{Group: "g1", Nodes: 4, Start: start.Add(storm + 5*grid.Minute), End: start.Add(storm + grid.Hour)}}
	a.Leg.Tx.Seq += 1_000_000 + draw>>40
	switch draw >> 4 % 4 {
	case 1:
		a.State, a.Refund = grid.Released, 1_000_000*grid.Credit
	case 2:
		a.State, a.Left = grid.Prepared, inDoubtLimit
	case 3:
		a.State, a.Fare.Base, a.Refund, a.Penalty = grid.Lost, grid.Credit, grid.Credit, 10*grid.Credit
	}
	if draw&2 != 0 {
		a.Proof = agents.DerivedKey(draw, "nobody").Prove(&a, agents.Stamp{Epoch: draw, Seq: 1 << 40})
	}
	return a
}

// siteAnswer is a state in which a site has had a leg: what it may have proved.
type siteAnswer struct {
	state           grid.LegState
	what            grid.Leg
	fare            grid.Fare
	refund, penalty grid.Credits
}

// answered notes what a site records of a leg, and so may answer.
func (c *checker) answered(f agents.Fact) {
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
func (c *checker) missed(s *sim.Step, f agents.Fact) error {
	switch f := f.(type) {
	case facts.LegRestored:
		c.exempt[f.Was.Leg], c.named[f.Was.Leg] = true, true
		return c.restored(s.ID, f)
	case facts.Amnesia:
		return c.amnesia(s.ID, f)
	case facts.LegAdopted:
		if c.liars[siteID(f.Site)] {
			c.deceived(siteID(f.Site), f.Leg)
			return nil
		}
		return c.amnesia(s.ID, facts.Amnesia{Legs: []grid.LegID{f.Leg}})
	case facts.TxReversed:
		return c.reversed(f)
	}
	return nil
}

// restored checks that a site takes back what it once had, and has lost (I16).
func (c *checker) restored(site agents.ID, f facts.LegRestored) error {
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
