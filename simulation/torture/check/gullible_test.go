package check

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// The checker sees a broker that believes what it must not, even of an exempt leg.
func TestGullible_WhatCannotBeIsNotBelieved(t *testing.T) {
	t.Parallel()
	id := first(firstTx)
	closed := facts.LegClosed{Leg: id, Commit: true, Posted: 5}
	limit := begins(firstTx)
	limit.Limits[0] = 5
	for name, c := range map[string]struct {
		before []agents.Fact
		f      agents.Fact
		words  string
	}{
		"at its limit":           {[]agents.Fact{limit}, facts.LegPriced{Leg: id, Fare: grid.Fare{Base: 5}}, ""},
		"above its limit":        {[]agents.Fact{limit}, facts.LegPriced{Leg: id, Fare: grid.Fare{Base: 5, Additive: 1}}, "its limit is"},
		"below zero":             {[]agents.Fact{limit}, facts.LegPriced{Leg: id, Fare: grid.Fare{Base: -1, Additive: 1}}, "its limit is"},
		"all back":               {[]agents.Fact{limit, closed}, facts.LegDone{Leg: id, Refund: 5, Penalty: 50}, ""},
		"more than all":          {[]agents.Fact{limit, closed}, facts.LegDone{Leg: id, Refund: 6}, "brings back"},
		"less than nothing":      {[]agents.Fact{limit, closed}, facts.LegDone{Leg: id, Refund: -1}, "brings back"},
		"a penalty without end":  {[]agents.Fact{limit, closed}, facts.LegDone{Leg: id, Penalty: 51}, "brings back"},
		"a penalty that is owed": {[]agents.Fact{limit, closed}, facts.LegDone{Leg: id, Penalty: -1}, "brings back"},
	} {
		m := record(t, newMirror("broker:vo1"), c.before...)
		_ = m.apply(c.f)
		err := gullible(m, c.f)
		if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", name, err, c.words)
		}
	}
}

// A broker that has taken on what a site has invented says so by an amnesia of its own. Of
// anything else it has lost something, or says what is not so.
func TestAmnesia_OfWhatASiteHasInvented(t *testing.T) {
	t.Parallel()
	check := New(world.NewPlain(1, nil, sim.Options{}))
	named := facts.Amnesia{Legs: []grid.LegID{first(firstTx)}}
	holds(t, "nobody has lied", check.amnesia("broker:vo1", named), "has lost nothing")
	check.deceived("site:ash", first(firstTx))
	holds(t, "of what is invented", check.amnesia("broker:vo1", named), "")
	named.Legs = append(named.Legs, first(secondTx))
	holds(t, "of more", check.amnesia("broker:vo1", named), "has lost nothing")
}
