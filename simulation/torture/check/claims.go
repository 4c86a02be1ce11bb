package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// claim records that a broker gives up a leg with its site. Because of silence it may do so
// only if it has really heard nothing for a minute (B105).
func (c *Checker) claim(s *sim.Step, m *mirror, leg grid.LegID) error {
	c.claimed[leg] = s.At
	t := m.txs[leg.Tx]
	if t == nil || leg.Leg >= len(t.begun.Sites) || adopts(s, leg) {
		return nil
	}
	site := t.begun.Sites[leg.Leg]
	if heard := c.heard[heardFrom{s.Process, world.SiteID(site)}]; !m.lost[site] && s.Now < heard.Add(grid.Minute) {
		return fmt.Errorf("B105: %s gives leg %v up with %s, which it has heard %v s ago", s.ID, leg, site, s.Now.Sub(heard))
	}
	return nil
}

// unclaim takes back that a leg was given up with its site, if its broker no longer has that
// on record: the leg is one like any other again, and its site has nothing to settle.
func (c *Checker) unclaim(m *mirror, leg grid.LegID) {
	if !m.done[leg].Claim && !m.closed[leg].Claim {
		delete(c.claimed, leg)
	}
}

// adopts reports whether a broker takes on, in the same step, the leg that it gives
// up: its window was given up before its site had listed it (B56).
func adopts(s *sim.Step, leg grid.LegID) bool {
	return slices.ContainsFunc(s.Facts, func(f agents.Fact) bool {
		a, ok := f.(facts.LegAdopted)
		return ok && a.Leg == leg
	})
}

// heardFrom is a site that a process has heard.
type heardFrom struct {
	process int
	site    agents.ID
}

// listen takes note of whom a broker hears, and holds that it does not believe in a
// leg for ever whose site has been silent since its end (B105).
func (c *Checker) listen(s *sim.Step, m *mirror) error {
	if !strings.HasPrefix(string(s.ID), "broker:") || !c.w.LosesSite() {
		return nil
	}
	switch {
	case strings.HasPrefix(string(s.From), "site:"):
		c.heard[heardFrom{s.Process, s.From}] = s.Now
	case s.Message.Kind() == (agents.Started{}).Kind():
		for _, name := range world.SiteNames {
			c.heard[heardFrom{s.Process, world.SiteID(name)}] = s.Now
		}
	}
	for _, f := range s.Facts {
		if _, ok := f.(facts.CycleClosed); ok && !m.fenced && !s.Late {
			return c.believes(s, m)
		}
	}
	return nil
}

// believes checks all committed legs of a broker.
func (c *Checker) believes(s *sim.Step, m *mirror) error {
	for _, id := range m.begun {
		t := m.txs[id]
		if !t.commit || c.forgotten(id) {
			continue
		}
		for i, what := range t.begun.Legs {
			leg := grid.LegID{Tx: id, Leg: i}
			closed, known := m.closed[leg]
			if _, done := m.done[leg]; done || known && !closed.Commit {
				continue
			}
			limit := max(what.End.Sub(c.txs[id].at)/4, grid.Minute)
			silent := max(what.End.Add(grid.Minute), c.heard[heardFrom{s.Process, world.SiteID(t.begun.Sites[i])}])
			if s.Now > silent.Add(limit+limit/4+hesitation) {
				return fmt.Errorf("B105: leg %v has ended at %v, %s was heard last at %v, and %s still believes in it", leg, what.End, t.begun.Sites[i], silent, s.ID)
			}
		}
	}
	return nil
}

// hesitation is how much longer than it should a broker may take that pauses, and
// hears others late.
const hesitation = 10 * grid.Minute

// claimAtRest holds that a leg that was given up with its site costs in the end what
// it does by the site's record: nothing is paid twice, and nothing is lost.
func (c *Checker) claimAtRest(m *mirror, id grid.LegID, l *legMirror, before grid.Time) error {
	cost, settled := m.settled[id]
	truth := c.leg(id)
	var want grid.Credits
	switch {
	case c.claimed[id] > before || l != nil && c.moved[id] > before:
		return nil
	case !settled:
		return fmt.Errorf("I13: leg %v was given up with its site, which is back, and its broker has not settled that", id)
	case l == nil, !truth.confirmed:
	case l.State == grid.Settled:
		want = truth.fare.Total()
	case l.State == grid.Released || l.State == grid.Lost:
		want = truth.fare.Total() - truth.refund - truth.penalty
	default:
		return fmt.Errorf("I2: leg %v was given up with its site, which is back, and it is %v", id, l.State)
	}
	if cost != want {
		return fmt.Errorf("I8: leg %v was given up with its site and costs %v there, its broker has settled %v", id, want, cost)
	}
	return nil
}
