package check

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// A loss is exempt at rest only if an amnesia has named it, or if it had ended before anybody
// could.
func TestNarrow_WhatNobodyHasNamedIsHeldToBothSides(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    grid.Time
		named  bool
		exempt bool
	}{
		"found again":        {world.Start.Add(grid.Hour), false, false},
		"named":              {world.Start.Add(grid.Hour), true, true},
		"ended by then":      {world.Start, false, true},
		"ended soon after":   {world.Start.Add(unnamed), false, true},
		"ended, and named":   {world.Start, true, true},
		"not quite so soon":  {world.Start.Add(unnamed + 1), false, false},
		"long after, named":  {world.Start.Add(grid.Day), true, true},
		"long after, unsaid": {world.Start.Add(grid.Day), false, false},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		f := begins(firstTx)
		f.Legs[0].End = c.end
		check.txs[firstTx] = &txTruth{begun: f}
		check.forget("broker:vo1", newMirror("broker:vo1"), []agents.Fact{f})
		if !check.forgotten(firstTx) || !check.exempt[first(firstTx)] {
			t.Errorf("%s: it is held to what was lost at once", name)
		}
		if c.named {
			check.past["broker:vo1"] = true
			holds(t, name, check.amnesia("broker:vo1", facts.Amnesia{Legs: []grid.LegID{first(firstTx)}}), "")
		}
		check.narrow()
		if check.exempt[first(firstTx)] != c.exempt || check.forgotten(firstTx) != c.exempt {
			t.Errorf("%s: exempt %t, forgotten %t, want %t", name, check.exempt[first(firstTx)], check.forgotten(firstTx), c.exempt)
		}
	}
}

// A leg that a site has forgotten can be named once its broker hears the site again.
func TestNarrow_NobodyNamesALegWhoseSiteIsNotHeard(t *testing.T) {
	t.Parallel()
	site, other := world.SiteID(world.SiteNames[0]), world.SiteID(world.SiteNames[1])
	end := world.Start.Add(grid.Hour)
	for name, c := range map[string]struct {
		by, from agents.ID
		at       grid.Time
		exempt   bool
	}{
		"heard at once":            {"broker:vo1", site, world.Start, false},
		"heard in time":            {"broker:vo1", site, end.Add(-unnamed - 1), false},
		"heard too late":           {"broker:vo1", site, end.Add(-unnamed), true},
		"another site is heard":    {"broker:vo1", other, world.Start, true},
		"another broker hears it":  {"broker:vo2", site, world.Start, true},
		"it is its broker's turn":  {site, "broker:vo1", world.Start, true},
		"it is heard after it all": {"broker:vo1", site, end.Add(grid.Day), true},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		f := begins(firstTx)
		f.Legs[0].End = end
		check.txs[firstTx] = &txTruth{begun: f}
		check.forget(site, newMirror(site), []agents.Fact{facts.LegMoved{Leg: first(firstTx), State: grid.Confirmed}})
		check.hearsAgain(&sim.Step{At: c.at, ID: c.by, From: c.from})
		check.hearsAgain(&sim.Step{At: end.Add(grid.Day), ID: c.by, From: c.from})
		check.narrow()
		if check.exempt[first(firstTx)] != c.exempt {
			t.Errorf("%s: exempt %t, want %t", name, check.exempt[first(firstTx)], c.exempt)
		}
	}
}
