package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// In a narrow world bounds are reached, moves are many, and after a day and a half nobody
// remembers anything of it.
func TestNarrow_BoundsAreReachedAndAllIsForgotten(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, seed := range []uint64{7, 39} {
		r := Run(seed, Options{Alone: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		for row, n := range r.Rows {
			rows[row] += n
		}
	}
	for row, least := range map[string]int{"S10": 5, "S57": 20, "S73": 50, "B125": 5, "B28": 5} {
		if rows[row] < least {
			t.Errorf("row %s is taken %d times, want %d", row, rows[row], least)
		}
	}
}

// A loss is exempt at rest only if an amnesia has named it, or if it had ended before anybody
// could.
func TestNarrow_WhatNobodyHasNamedIsHeldToBothSides(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    grid.Time
		named  bool
		exempt bool
	}{
		"found again":        {start.Add(grid.Hour), false, false},
		"named":              {start.Add(grid.Hour), true, true},
		"ended by then":      {start, false, true},
		"ended soon after":   {start.Add(unnamed), false, true},
		"ended, and named":   {start, true, true},
		"not quite so soon":  {start.Add(unnamed + 1), false, false},
		"long after, named":  {start.Add(grid.Day), true, true},
		"long after, unsaid": {start.Add(grid.Day), false, false},
	} {
		check := newChecker(newWorld(1, nil, sim.Options{}))
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
	site, other := siteID(siteNames[0]), siteID(siteNames[1])
	end := start.Add(grid.Hour)
	for name, c := range map[string]struct {
		by, from agents.ID
		at       grid.Time
		exempt   bool
	}{
		"heard at once":            {"broker:vo1", site, start, false},
		"heard in time":            {"broker:vo1", site, end.Add(-unnamed - 1), false},
		"heard too late":           {"broker:vo1", site, end.Add(-unnamed), true},
		"another site is heard":    {"broker:vo1", other, start, true},
		"another broker hears it":  {"broker:vo2", site, start, true},
		"it is its broker's turn":  {site, "broker:vo1", start, true},
		"it is heard after it all": {"broker:vo1", site, end.Add(grid.Day), true},
	} {
		check := newChecker(newWorld(1, nil, sim.Options{}))
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

// The checker sees an agent that still remembers, or has on its way, anything after a day.
func TestForgottenAtLast_NobodyRemembersAnything(t *testing.T) {
	t.Parallel()
	world := func() (*checker, *mirror) {
		check := newChecker(newWorld(1, nil, sim.Options{}))
		if err := check.w.Run(start); err != nil {
			t.Fatal(err)
		}
		for i := range check.w.sites {
			check.process(i, siteID(check.w.sites[i].config.Name))
		}
		return check, check.procs[0]
	}
	check, _ := world()
	holds(t, "nothing", check.sitesForget(), "")
	check, m := world()
	m.set(facts.LegMoved{Leg: first(firstTx), State: grid.Settled})
	holds(t, "a leg", check.sitesForget(), "S57: after a day "+string(m.id))
}
