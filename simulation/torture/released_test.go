package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// One agent says and hears what the last release knows: a broker among sites that divide their
// nodes, and a site. All invariants hold, and it takes part: windows of it are confirmed.
func TestReleased_AnAgentOfTheLastRelease(t *testing.T) {
	t.Parallel()
	seeds := []uint64{61, 69, 65, 77}
	seeds = seeds[:thorough.Count(len(seeds), 1)]
	for _, seed := range seeds {
		if !world.Mixed(seed) {
			t.Fatalf("seed %d has one version", seed)
		}
		r := Run(seed, Options{Alone: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		if r.Carried["Confirmed"] == 0 {
			t.Errorf("seed %d: of the agent of the last release nothing is confirmed: %v", seed, r.Carried)
		}
		t.Logf("seed %d: %v", seed, r.Carried)
	}
}
