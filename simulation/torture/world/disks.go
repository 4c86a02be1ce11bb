package world

import (
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// What real disks and busy processes do beyond a crash: several steps share a sync, a disk
// says that it has synced and has not, and bits of older segments rot.

func ofDisks(k sim.Kind) bool { return k == sim.Batch || k == sim.LyingSync || k == sim.Rot }

// diskFaults draws them, each kind in every second world, from a stream of its own.
func diskFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamDisks))
	between := func(lo, hi grid.Duration) grid.Duration { return lo + grid.Duration(r.Int64N(int64(hi-lo)+1)) }
	for _, k := range []sim.Kind{sim.Batch, sim.LyingSync, sim.Rot} {
		there := r.IntN(2) == 0
		for range 1 + r.IntN(often[k]) {
			f := sim.Fault{Kind: k, Host: anyHost(r), At: Start.Add(between(grid.Minute, Storm-10*grid.Minute)), For: between(10*grid.Second, 10*grid.Minute), Salt: 1 + r.Uint64N(1<<32)}
			if k == sim.Batch {
				f.For, f.Size = 4*f.For, int64(between(1, 50))
			}
			if k != sim.LyingSync && clustersDie(seed) && r.IntN(3) == 0 {
				f.Host = ClusterID(SiteNames[r.IntN(len(SiteNames))])
			}
			if there {
				list = append(list, f)
			}
		}
	}
	return list
}

// keeps is how long older segments stay in a world of these faults: where a disk lies, some
// are removed, and may be there again.
func keeps(faults []sim.Fault) grid.Duration {
	if slices.ContainsFunc(faults, func(f sim.Fault) bool { return f.Kind == sim.LyingSync }) {
		return 20 * grid.Minute
	}
	return 0
}
