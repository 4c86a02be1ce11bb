package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Each of the moments comes, and the crashes that are aimed at it strike; what the
// clusters' next lives make of that breaks nothing.
func TestAim_CrashesStrikeAtTheirMoments(t *testing.T) {
	t.Parallel()
	seed := uint64(1)
	kinds, die := world.ManagedKinds(seed)
	for !die {
		seed++
		kinds, die = world.ManagedKinds(seed)
	}
	for salt := range uint64(thorough.Count(world.Moments, 2)) {
		var aims []sim.Fault
		for i, k := range kinds {
			if k != world.Simulated {
				aims = append(aims, sim.Fault{Kind: world.CrashAimed, Host: world.ClusterID(world.SiteNames[i]), At: world.Start, Salt: salt, For: 5 * grid.Second})
			}
		}
		r := Run(seed, Options{Faults: aims})
		if r.Broken != nil {
			t.Errorf("moment %d: %v", salt, r.Broken)
		}
		if r.Struck[world.CrashAimed] == 0 {
			t.Errorf("no crash has struck at moment %d", salt)
		}
	}
}
