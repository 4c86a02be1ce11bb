//go:build plants

package torture

import (
	"maps"
	"slices"
	"testing"

	"bourse/agents/plant"
)

// plantSeeds is within how many seeds a planted bug must be caught.
const plantSeeds = 200

// caughtAt is a seed at which a planted bug was caught, where it was not the
// first: it is tried first. When the world has changed and it passes, the test
// looks through all the others; put in what it then finds.
var caughtAt = map[string]uint64{
	"no-fence": 26, "no-list-fence": 192, "forget-release": 2, "forget-void": 30, "free-move": 2, "endless-hold": 7,
	"above-limit": 2, "any-version": 6, "no-cap": 21, "unknown-aborts": 173, "tell-once": 18, "patient-broker": 2,
	"no-broker-repeat": 6, "silent-loss": 24, "unfenced": 4, "life-too-low": 15, "no-list": 2, "commit-at-restart": 2,
	"no-adoption": 2, "no-reassert": 4, "assert-open-only": 3, "believe-for-ever": 2, "untold-return": 2,
	"keep-torn-tail": 6, "skip-damage": 4, "early-remove": 2, "believe-the-clock": 9,
}

// Every planted bug is caught, by a check that the test names. Bugs come one
// after the other, for there is one switch.
func TestTorture_CatchesEveryPlantedBug(t *testing.T) {
	if n := len(plant.List()); n < 20 {
		t.Errorf("%d planted bugs; there must be 20", n)
	}
	for _, b := range plant.List() {
		t.Run(b.Name, func(t *testing.T) {
			if err := plant.Set(b.Name); err != nil {
				t.Fatal(err)
			}
			defer plant.Set("")
			r, caught := catch(max(caughtAt[b.Name], 1))
			if !caught {
				t.Errorf("nobody notices in %d seeds: %s", plantSeeds, b.Breaks)
				return
			}
			t.Logf("caught by %s at seed %d: %.200s", Invariant(r.Broken), r.Seed, r.Broken)
		})
	}
	seeds := slices.Sorted(maps.Values(caughtAt))
	for _, seed := range append([]uint64{1}, slices.Compact(seeds)...) {
		if r := Run(seed, Options{}); r.Broken != nil {
			t.Errorf("without any planted bug seed %d breaks too: %v", seed, r.Broken)
		}
	}
}

// catch runs the first seed, and where it does not break, all others.
func catch(first uint64) (Result, bool) {
	if r := Run(first, Options{Rerun: true}); r.Broken != nil {
		return r, true
	}
	var caught *Result
	_ = Each(1, plantSeeds, Options{}, func(r Result) error {
		if r.Broken != nil {
			caught = &r
		}
		return r.Broken // one is enough
	})
	if caught == nil {
		return Result{}, false
	}
	return *caught, true
}
