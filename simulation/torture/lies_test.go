package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Sites that lie about one thing or another all the time, while brokers begin anew with disks of
// the past, which have them list their legs, and users give up what they have, break nothing.
func TestLies_BreakNothing(t *testing.T) {
	t.Parallel()
	for about := range int64(thorough.Count(world.LieKinds, 1)) {
		var faults []sim.Fault
		for i, name := range world.SiteNames {
			faults = append(faults, sim.Fault{Kind: world.LyingSite, Host: world.SiteID(name), Share: []int{100, 300, 1000, 1000}[about], Size: about, At: world.Start, For: world.Storm, Salt: uint64(1 + i)},
				sim.Fault{Kind: world.NodeLost, Host: world.ClusterID(name), Size: 6, At: world.Start.Add(grid.Duration(30+12*i) * grid.Minute), Salt: uint64(20 + i)})
		}
		for i, name := range world.BrokerNames {
			faults = append(faults, sim.Fault{Kind: sim.OldJournal, Host: world.BrokerID(name), At: world.Start.Add(grid.Duration(20+25*i) * grid.Minute), For: 6 * grid.Minute, Salt: uint64(10 + i)})
			for k := range 8 {
				faults = append(faults, sim.Fault{Kind: world.UserCancel, Host: world.UsersID(name), At: world.Start.Add(grid.Duration(25+10*k+i) * grid.Minute), Salt: uint64(300 + 1000*k)})
			}
		}
		r := Run(15, Options{Faults: faults, Alone: true})
		if r.Broken != nil {
			t.Errorf("lies %d: %v", about, r.Broken)
		}
		if r.Struck[world.LyingSite] < 9 || r.Committed < 30 {
			t.Errorf("lies %d: %d lies, %d windows", about, r.Struck[world.LyingSite], r.Committed)
		}
	}
}

// A leader takes on what sites have invented as a broker alone does.
func TestLies_ToABrokerOfReplicas(t *testing.T) {
	t.Parallel()
	if r := Run(47, Options{}); r.Broken != nil || r.Leaderships == 0 || r.Struck[world.LyingSite] == 0 {
		t.Errorf("%d leaderships, %d lies: %v", r.Leaderships, r.Struck[world.LyingSite], r.Broken)
	}
}
