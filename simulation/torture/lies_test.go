package torture

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Sites that lie about one thing or another all the time, while brokers begin anew with disks of
// the past, which have them list their legs, and users give up what they have, break nothing.
func TestLies_BreakNothing(t *testing.T) {
	t.Parallel()
	for about := range int64(thorough.Count(ofSomeOf, 1)) {
		var faults []sim.Fault
		for i, name := range siteNames {
			faults = append(faults, sim.Fault{Kind: LyingSite, Host: siteID(name), Share: []int{100, 300, 1000, 1000}[about], Size: about, At: start, For: storm, Salt: uint64(1 + i)},
				sim.Fault{Kind: NodeLost, Host: clusterID(name), Size: 6, At: start.Add(grid.Duration(30+12*i) * grid.Minute), Salt: uint64(20 + i)})
		}
		for i, name := range brokerNames {
			faults = append(faults, sim.Fault{Kind: sim.OldJournal, Host: brokerID(name), At: start.Add(grid.Duration(20+25*i) * grid.Minute), For: 6 * grid.Minute, Salt: uint64(10 + i)})
			for k := range 8 {
				faults = append(faults, sim.Fault{Kind: UserCancel, Host: usersID(name), At: start.Add(grid.Duration(25+10*k+i) * grid.Minute), Salt: uint64(300 + 1000*k)})
			}
		}
		r := Run(15, Options{Faults: faults, Alone: true})
		if r.Broken != nil {
			t.Errorf("lies %d: %v", about, r.Broken)
		}
		if r.Struck[LyingSite] < 9 || r.Committed < 30 {
			t.Errorf("lies %d: %d lies, %d windows", about, r.Struck[LyingSite], r.Committed)
		}
	}
}

// One world of sixteen has sites that lie, and each lie differs from the truth.
func TestLies_EachIsOne(t *testing.T) {
	t.Parallel()
	worlds := 0
	for seed := range uint64(160) {
		for _, f := range Faults(seed) {
			if f.Kind == LyingSite {
				worlds++
				break
			}
		}
	}
	if worlds != 10 {
		t.Errorf("%d of 160 worlds have sites that lie, want 10", worlds)
	}
	id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}}
	for _, truth := range []agents.Message{
		agents.Held{Leg: id, Fare: grid.Fare{Base: 5}}, agents.Confirmed{Leg: id}, agents.Released{Leg: id, Refund: 5}, agents.Degraded{Leg: id, Refund: 5, Penalty: 1},
		agents.Settled{Leg: id, Charged: 5}, agents.Shifted{Leg: id, Start: 10, End: 20, Shifts: 1}, agents.Listing{Legs: []agents.ListedLeg{{Leg: id, State: grid.Confirmed}}},
	} {
		w := newWorld(1, nil, sim.Options{})
		about := map[grid.LegID]bool{}
		w.lied = func(_ agents.ID, leg grid.LegID) { about[leg] = true }
		seen := map[string]bool{}
		for draw := range uint64(40) {
			said, changed := w.lie("site:ash", ofAll, draw<<20|draw<<28|7<<32, truth)
			if !changed {
				t.Fatalf("%s is said as it is", truth.Kind())
			}
			seen[describe(said)] = true
		}
		if seen[describe(truth)] && truth.Kind() != (agents.Degraded{}).Kind() {
			t.Errorf("%s is said as it is, and counts as a lie", truth.Kind())
		}
		if !about[id] {
			t.Errorf("%s: it is not noted what is lied about", truth.Kind())
		}
	}
	for about, m := range map[int64]agents.Message{ofHolds: agents.Released{Leg: id}, ofEnds: agents.Held{Leg: id}, ofLists: agents.Settled{Leg: id}} {
		if _, changed := newWorld(1, nil, sim.Options{}).lie("site:ash", about, 1, m); changed {
			t.Errorf("lies %d are about %s too", about, m.Kind())
		}
	}
	if _, changed := newWorld(1, nil, sim.Options{}).lie("site:ash", ofAll, 1, agents.Prepared{Leg: id}); changed {
		t.Error("a message without figures is changed")
	}
}

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
	check := newChecker(newWorld(1, nil, sim.Options{}))
	named := facts.Amnesia{Legs: []grid.LegID{first(firstTx)}}
	holds(t, "nobody has lied", check.amnesia("broker:vo1", named), "has lost nothing")
	check.deceived("site:ash", first(firstTx))
	holds(t, "of what is invented", check.amnesia("broker:vo1", named), "")
	named.Legs = append(named.Legs, first(secondTx))
	holds(t, "of more", check.amnesia("broker:vo1", named), "has lost nothing")
}

// A leader takes on what sites have invented as a broker alone does.
func TestLies_ToABrokerOfReplicas(t *testing.T) {
	t.Parallel()
	if r := Run(47, Options{}); r.Broken != nil || r.Leaderships == 0 || r.Struck[LyingSite] == 0 {
		t.Errorf("%d leaderships, %d lies: %v", r.Leaderships, r.Struck[LyingSite], r.Broken)
	}
}
