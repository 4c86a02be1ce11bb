//go:build plants

package torture

import (
	"testing"

	"bourse/agents/plant"
)

// plantSeeds is within how many seeds a planted bug must be caught.
const plantSeeds = 200

// Every planted bug is caught, by a check that the test names. Seeds run in
// parallel; bugs one after the other, for there is one switch.
func TestTorture_CatchesEveryPlantedBug(t *testing.T) {
	for _, b := range plant.List() {
		t.Run(b.Name, func(t *testing.T) {
			if err := plant.Set(b.Name); err != nil {
				t.Fatal(err)
			}
			defer plant.Set("")
			var caught *Result
			_ = Each(1, plantSeeds, Options{}, func(r Result) error {
				if r.Broken == nil {
					return nil
				}
				caught = &r
				return r.Broken // enough
			})
			if caught == nil {
				t.Errorf("nobody notices in %d seeds: %s", plantSeeds, b.Breaks)
				return
			}
			t.Logf("caught by %s at seed %d: %.200s", Invariant(caught.Broken), caught.Seed, caught.Broken)
		})
	}
	if r := Run(1, Options{}); r.Broken != nil {
		t.Errorf("without any planted bug: %v", r.Broken)
	}
}
