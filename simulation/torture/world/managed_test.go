package world

import (
	"testing"
)

// Half of the worlds have managers, of both kinds, and in half of those the clusters
// die as well.
func TestManaged_HalfOfTheWorlds(t *testing.T) {
	t.Parallel()
	worlds, dying, sites := 0, 0, map[Behind]int{}
	for seed := range uint64(1000) {
		kinds, die := ManagedKinds(seed)
		if kinds == nil {
			if f := managedFaults(seed); f != nil {
				t.Fatalf("seed %d has no manager, and %v", seed, f[0])
			}
			continue
		}
		if worlds++; die {
			dying++
		}
		for _, k := range kinds {
			sites[k]++
		}
	}
	if worlds < 450 || worlds > 550 || dying < worlds*2/5 || dying > worlds*3/5 || sites[Reserving] < worlds || sites[Machine] < worlds/3 || sites[Simulated] < worlds {
		t.Errorf("%d worlds, %d of which die, with %v", worlds, dying, sites)
	}
}
