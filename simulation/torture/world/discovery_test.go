package world

import (
	"testing"
)

// Half of the worlds have rumours, of all kinds.
func TestDiscovery_HalfOfTheWorlds(t *testing.T) {
	t.Parallel()
	worlds, kinds := 0, map[int64]int{}
	for seed := range uint64(1000) {
		list := discoveryFaults(seed)
		if list != nil {
			worlds++
		}
		for _, f := range list {
			kinds[f.Size]++
		}
	}
	if worlds < 450 || worlds > 550 || len(kinds) != Rumours {
		t.Errorf("%d worlds, with %v", worlds, kinds)
	}
}
