//go:build plants

package torture

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents/plant"
)

// plantSeeds is within how many seeds a planted bug must be caught.
const plantSeeds = 200

// Every planted bug is caught, by a check that the test names. Bugs come one
// after the other, for there is one switch. A bug's file has a seed that catches
// it, which is tried first. When the world has changed and it passes, the test
// looks through all the others; put in what it then finds.
func TestTorture_CatchesEveryPlantedBug(t *testing.T) {
	if n := len(plant.List()); n < 20 {
		t.Errorf("%d planted bugs; there must be 20", n)
	}
	var seeds []uint64
	for _, b := range plant.List() {
		if b.Caught != "" {
			continue // by a test of that package
		}
		seeds = append(seeds, b.Seed)
		t.Run(b.Name, func(t *testing.T) {
			if err := plant.Set(b.Name); err != nil {
				t.Fatal(err)
			}
			defer plant.Set("")
			r, caught := catch(b.Seed)
			if !caught {
				t.Errorf("nobody notices in %d seeds: %s", plantSeeds, b.Breaks)
				return
			}
			t.Logf("caught by %s at seed %d: %.200s", Invariant(r.Broken), r.Seed, r.Broken)
		})
	}
	slices.Sort(seeds)
	for _, seed := range slices.Compact(seeds) {
		t.Run(fmt.Sprint("without/", seed), func(t *testing.T) {
			t.Parallel()
			if r := Run(seed, Options{Alone: true}); r.Broken != nil {
				t.Errorf("without any planted bug it breaks too: %v", r.Broken)
			}
		})
	}
}

// catch runs the first seed, and where it does not break, all others.
func catch(first uint64) (Result, bool) {
	if r := Run(first, Options{Rerun: true, Alone: true}); r.Broken != nil {
		return r, true
	}
	var caught *Result
	_ = Each(1, plantSeeds, Options{Alone: true}, func(r Result) error {
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
