package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// fact takes in one durable fact.
func (c *Checker) fact(s *sim.Step, m *mirror, f agents.Fact) error {
	was := m.state(f)
	if strings.HasPrefix(string(s.ID), "site:") {
		c.answered(f)
	}
	if err := cmp.Or(c.offer(s, m, f), c.paysIn(s, m, f)); err != nil {
		return err
	}
	if err := m.apply(f); err != nil && !c.excused(f) {
		return err
	}
	if err := gullible(m, f); err != nil {
		return err
	}
	c.clusterFact(s, f)
	c.behind.pilots.take(s, m, f)
	if d := c.divided[s.ID]; d != nil {
		if err := d.take(s.Now, f); err != nil {
			return err
		}
	}
	if err := c.verified(s, m, f); err != nil {
		return err
	}
	return c.ofKind(s, m, was, f)
}

// ofKind checks what facts of one kind must obey. was is the state of the fact's leg before it.
func (c *Checker) ofKind(s *sim.Step, m *mirror, was grid.LegState, f agents.Fact) error {
	switch f := f.(type) {
	case facts.TxBegun:
		c.txs[f.Tx] = &txTruth{begun: f, by: [2]uint64{uint64(s.Process), s.Life}, at: s.At, job: m.jobs[f.Job]}
		c.order = append(c.order, f.Tx)
		for _, r := range f.Replaces {
			c.replaced[r.Tx] = true
		}
		return c.permits(m, f)
	case facts.LegMoved:
		if err := tooEarly(s.At, &f); err != nil {
			return err
		}
		if err := c.legMoved(f); err != nil {
			return err
		}
		if err := c.behind.said(s.ID, f); err != nil {
			return err
		}
		return c.siteMove(s, m, was, f)
	case facts.LegDone:
		if f.Claim {
			if err := c.claim(s, m, f.Leg); err != nil {
				return err
			}
		}
		if err := c.behind.result(f); err != nil {
			return err
		}
		return c.legDone(f)
	case facts.LockMoved:
		return unasked(s, f)
	case facts.ShiftOffered:
		if o := m.offers[offerOf{f.Leg, f.Number}]; o.job != "" {
			c.w.Consider(s.ID, m.jobs[o.job], o.n, o.Expires)
		}
	case facts.LegShifted:
		if strings.HasPrefix(string(s.ID), "broker:") {
			c.lies(f.Leg, f.Start, f.End)
		} else {
			c.shifted[f.Leg] = s.At
		}
	case facts.LegPriced:
		if f.End > 0 {
			c.lies(f.Leg, f.Start, f.End)
		}
		if l := c.leg(f.Leg); f.Fare != l.fare && !c.exempt[f.Leg] {
			return fmt.Errorf("I10: the site held leg %v at %v, the broker has %v", f.Leg, l.fare, f.Fare)
		}
	case facts.TxDecided:
		return c.txDecided(s, m, f)
	case facts.LegClosed:
		if f.Claim {
			return c.claim(s, m, f.Leg)
		}
		l := c.leg(f.Leg)
		if f.Posted > 0 && f.Posted != l.fare.Total() && !c.exempt[f.Leg] {
			return fmt.Errorf("I10: leg %v is charged %v, Held named %v", f.Leg, f.Posted, l.fare.Total())
		}
	default:
		return c.missed(s, f)
	}
	return nil
}

// legMoved checks a site's move against the transaction (I2, I3) and the price
// (I10).
func (c *Checker) legMoved(f facts.LegMoved) error {
	t, l := c.txs[f.Leg.Tx], c.leg(f.Leg)
	if t == nil {
		return fmt.Errorf("I2: leg %v of a transaction that no broker has begun is %v", f.Leg, f.State)
	}
	switch {
	case f.State == grid.Held:
		l.fare = f.Fare
		if l.told && !c.exempt[f.Leg] {
			return fmt.Errorf("I6: leg %v is held after its site has said that it is cancelled", f.Leg)
		}
		if limit := t.begun.Limits[f.Leg.Leg]; f.Fare.Total() > limit {
			return fmt.Errorf("I10: leg %v is held at %v, above its limit %v", f.Leg, f.Fare.Total(), limit)
		}
	case f.State.Blocks() && f.Fare != l.fare:
		return fmt.Errorf("I10: leg %v was held at %v and is %v at %v", f.Leg, l.fare, f.State, f.Fare)
	}
	switch f.State {
	case grid.Confirmed:
		l.confirmed = true
	case grid.Released, grid.Lost:
		l.refund, l.penalty = f.Refund, f.Penalty
	case grid.Cancelled:
		l.cancelled, l.gone = true, c.w.Now()
	case grid.LegExpired, grid.Heuristic:
		l.gone = c.w.Now()
	}
	if c.forgotten(f.Leg.Tx) {
		return nil
	}
	for i := range t.begun.Legs {
		o := c.leg(grid.LegID{Tx: f.Leg.Tx, Leg: i})
		if f.State == grid.Confirmed && o.cancelled || f.State == grid.Cancelled && o.confirmed {
			return fmt.Errorf("I3: leg %v is %v, leg %d of the same transaction took the other decision", f.Leg, f.State, i)
		}
	}
	return nil
}

// txDecided checks a decision: by a live broker (I15), of a window that obeys
// its request (I9).
func (c *Checker) txDecided(s *sim.Step, m *mirror, f facts.TxDecided) error {
	c.decided++
	if !f.Commit {
		return nil
	}
	c.commits++
	t := c.txs[f.Tx]
	if t == nil || c.forgotten(f.Tx) {
		return nil // adopted after an amnesia
	}
	if t.by == [2]uint64{uint64(s.Process), s.Life} {
		if err := c.talk.mayCommit(s, t); err != nil {
			return err
		}
	}
	c.behind.pilots.committed(&t.begun)
	if err := c.obeys(m, t); err != nil {
		return fmt.Errorf("I9: %v of job %s: %w", f.Tx, f.Job, err)
	}
	return nil
}

// lies takes note where a site has placed a leg that leaves it a choice.
func (c *Checker) lies(id grid.LegID, start, end grid.Time) {
	if t := c.txs[id.Tx]; t != nil && id.Leg < len(t.begun.Legs) {
		t.begun.Legs = slices.Clone(t.begun.Legs)
		t.begun.Legs[id.Leg].Start, t.begun.Legs[id.Leg].End = start, end
	}
}
