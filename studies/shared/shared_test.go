package shared

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// In parts the same requests are held on far fewer node-hours, wait less and are sold a larger
// share; whole nodes are held for all of them. Rows of differences are differences.
func TestStudy_PartsSellMoreOfWhatIsHeld(t *testing.T) {
	t.Parallel()
	rows, err := Study(Options{Seed: 1, Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	here := func(measure string, i int) float64 { return evidence.Find(rows, measure, settings[i].name()).Here }
	for i := 0; i < len(settings); i += 2 {
		for f, name := range names {
			if got, want := here(evidence.MoreThan(name, settings[i].name()), i+1), here(name, i+1)-here(name, i); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s, %s: %v more, want %v", names[f], settings[i+1].name(), got, want)
			}
		}
		if whole, parts := here(names[heldHours], i), here(names[heldHours], i+1); parts > 0.7*whole {
			t.Errorf("%s: %v node-hours are held in parts, %v in whole nodes", settings[i].world, parts, whole)
		}
		if whole, parts := here(names[sold], i), here(names[sold], i+1); whole > 60 || parts < 70 || parts > 100 {
			t.Errorf("%s: %v %% are sold in whole nodes, %v %% in parts", settings[i].world, whole, parts)
		}
		if whole, parts := here(names[waits], i), here(names[waits], i+1); parts > whole*2/3 {
			t.Errorf("%s: jobs wait %v h in parts, %v in whole nodes", settings[i].world, parts, whole)
		}
	}
	if text := Finding(rows); strings.Count(text, "At load") != len(settings)/2 {
		t.Error(text)
	}
	if _, err := Study(Options{}); err == nil {
		t.Error("0 runs are no experiment")
	}
}

// A node that legs share is held for as long as any is on it, and what a leg gives back early is
// held no longer.
func TestHeld_ANodeThatIsSharedCountsOnce(t *testing.T) {
	t.Parallel()
	const h = grid.Time(grid.Hour)
	part := func(seq uint64, start, end grid.Time, on ...int32) facts.NodesLocked {
		return facts.NodesLocked{Leg: grid.LegID{Tx: grid.TxID{Seq: seq}}, On: on,
			What: grid.Leg{Nodes: len(on), Start: start, End: end, Part: grid.LegPart{Slices: 2, Of: 8}}}
	}
	whole := facts.NodesLocked{Leg: grid.LegID{Tx: grid.TxID{Seq: 9}}, What: grid.Leg{Nodes: 2, Start: h, End: 3 * h}}
	locks := newHeld(map[string]float64{"a": 0.25, "b": 1})
	locked := []facts.NodesLocked{part(1, 0, 4*h, 1), part(2, h, 2*h, 1, 2), part(3, 6*h, 8*h, 1), whole}
	for i, l := range locked {
		locks.take(0, []agents.Fact{facts.LegMoved{Leg: l.Leg, Job: []string{"a", "b"}[i/3]}, l})
	}
	for _, l := range locked {
		end := l.What.End
		if l.Leg.Tx.Seq == 3 {
			end = 7 * h // it ends early
		}
		locks.take(end, []agents.Fact{facts.NodesFreed{Leg: l.Leg}})
	}
	locks.take(9*h, []agents.Fact{facts.NodesFreed{Leg: whole.Leg}}) // again
	if got := locks.nodeHours(); got != 4+1+1+4 {
		t.Errorf("%v node-hours are held, not 10", got)
	}
	if got := locks.sold(); got != 0.25*(4+2+1)+4 {
		t.Errorf("%v node-hours are sold, not 5.75", got)
	}
}
