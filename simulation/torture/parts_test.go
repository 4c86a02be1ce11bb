package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// Worlds of jobs of parts hold every invariant under all faults.
func TestTorture_WorldsOfParts(t *testing.T) {
	t.Parallel()
	seeds, several, repaired := 0, 0, 0
	for seed := uint64(61); seeds < 3; seed++ {
		if !world.Composed(seed) {
			continue
		}
		seeds++
		r := Run(seed, Options{Rerun: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		several, repaired = several+r.Committed, repaired+r.Transactions
	}
	t.Logf("%d seeds, %d transactions, %d committed", seeds, repaired, several)
}

// Worlds of divided nodes hold every invariant under all faults: no slice is promised twice, and
// none lies on a node that is not taken for it.
func TestTorture_WorldsOfDividedNodes(t *testing.T) {
	t.Parallel()
	seeds, committed := 0, 0
	for seed := uint64(61); seeds < 3; seed++ {
		if !world.Sliced(seed) {
			continue
		}
		seeds++
		r := Run(seed, Options{Rerun: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		committed += r.Committed
	}
	if committed == 0 {
		t.Error("nothing was committed")
	}
}
