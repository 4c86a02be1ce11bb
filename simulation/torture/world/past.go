package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// Clusters of the past: where clusters have journals, some begin again with an older one, and
// then locks, reservations and the local queue are those of an earlier instant.

// pastFaults draws which clusters of a world that has journals there begin with an older one,
// from a stream of its own. Half of them do so together with their sites, as if the disk of
// the machine that both run on had been restored.
func pastFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamPast))
	for range 1 + r.IntN(3) {
		name := SiteNames[r.IntN(len(SiteNames))]
		f := sim.Fault{Kind: sim.OldJournal, Host: ClusterID(name), Salt: 1 + r.Uint64N(1<<32),
			At:  Start.Add(5*grid.Minute + grid.Duration(r.Int64N(int64(Storm-30*grid.Minute)))),
			For: 10*grid.Second + grid.Duration(r.Int64N(int64(15*grid.Minute)))}
		list = append(list, f)
		if r.IntN(2) == 0 {
			f.Host = SiteID(name)
			list = append(list, f)
		}
	}
	return list
}
