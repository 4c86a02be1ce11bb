package torture

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// Clusters that begin with older journals, at each second site together with the site, sell no
// nodes twice, begin no work twice, and agree with their sites in the end.
func TestPast_ClustersBeginWithOlderJournals(t *testing.T) {
	t.Parallel()
	forgot := 0
	for _, seed := range []uint64{9, 29} {
		faults := world.Faults(seed)
		for i, name := range world.SiteNames {
			for k := range 2 {
				f := sim.Fault{Kind: sim.OldJournal, Host: world.ClusterID(name), Salt: uint64(10*i + k + 1), At: world.Start.Add(grid.Duration(10+9*i+35*k) * grid.Minute), For: grid.Duration(2+4*k) * grid.Minute}
				if faults = append(faults, f); i%2 > 0 {
					f.Host = world.SiteID(name)
					faults = append(faults, f)
				}
			}
		}
		r := Run(seed, Options{Faults: faults, Alone: true})
		if r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
		if r.Struck[sim.OldJournal] < 12 || r.Committed < 20 {
			t.Errorf("seed %d: %d old journals, %d windows", seed, r.Struck[sim.OldJournal], r.Committed)
		}
		forgot += r.Rows["S123"]
	}
	if forgot == 0 {
		t.Error("no cluster has forgotten what its site knows")
	}
}
