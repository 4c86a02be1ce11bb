package world

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

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
		w := NewPlain(1, nil, sim.Options{})
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
		if _, changed := NewPlain(1, nil, sim.Options{}).lie("site:ash", about, 1, m); changed {
			t.Errorf("lies %d are about %s too", about, m.Kind())
		}
	}
	if _, changed := NewPlain(1, nil, sim.Options{}).lie("site:ash", ofAll, 1, agents.Prepared{Leg: id}); changed {
		t.Error("a message without figures is changed")
	}
}
