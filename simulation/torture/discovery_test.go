package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Each rumour by itself, and a broker that begins anew with a disk of the past in the middle,
// breaks nothing, and takes the rows of discovery where it says what a broker has to heed.
func TestDiscovery_BreaksNothing(t *testing.T) {
	t.Parallel()
	for size := range int64(thorough.Count(world.Rumours, 2)) {
		var faults []sim.Fault
		for i, name := range world.BrokerNames {
			faults = append(faults, sim.Fault{Kind: world.Discovery, Host: world.BrokerID(name), Peer: world.SiteID(world.SiteNames[i]), At: world.Start.Add(grid.Duration(20+5*i) * grid.Minute), For: 15 * grid.Minute, Size: size, Salt: uint64(1 + i)},
				sim.Fault{Kind: sim.OldJournal, Host: world.BrokerID(name), At: world.Start.Add(grid.Duration(22+5*i) * grid.Minute), For: 4 * grid.Minute, Salt: uint64(10 + i)})
		}
		r := Run(4, Options{Faults: faults, Alone: true})
		if r.Broken != nil {
			t.Errorf("rumour %d: %v", size, r.Broken)
		}
		if heeded := size != world.Senseless && size != world.OtherCase && size != world.JoinAgain; (r.Rows["B65"] > 0) != heeded || r.Rows["B130"] == 0 {
			t.Errorf("rumour %d: B65 taken %d times, B130 %d times", size, r.Rows["B65"], r.Rows["B130"])
		}
		if r.Struck[world.Discovery] != len(world.BrokerNames) {
			t.Errorf("rumour %d has spread %d times", size, r.Struck[world.Discovery])
		}
	}
}
