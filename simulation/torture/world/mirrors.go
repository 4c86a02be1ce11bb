package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// drawMirrors draws the disk faults of sites with mirrored journals, in every fourth world:
// two or three sites have a mirror there, and each is struck several times. It has its own
// stream, so everything else of a seed stays the same.
func drawMirrors(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamMirrors))
	if r.IntN(4) != 0 {
		return nil
	}
	for _, i := range r.Perm(len(SiteNames))[:2+r.IntN(2)] {
		for range 2 + r.IntN(3) {
			f := sim.Fault{Kind: sim.Mirror, Host: SiteID(SiteNames[i]), Salt: 1 + r.Uint64N(1<<32), Size: r.Int64N(3)}
			f.At = Start.Add(grid.Minute + grid.Duration(r.Int64N(int64(Storm-10*grid.Minute))))
			f.For = grid.Duration(100 + r.Int64N(int64(30*grid.Second)))
			if f.Size == sim.MirrorRefuses {
				f.For *= 4
			}
			list = append(list, f)
		}
	}
	return list
}

// mirrored says whether a site of a world with such faults has its journal on two disks,
// and whether it speaks while the second one does not take it.
func (w *World) mirrored(id agents.ID) (is, required bool) {
	for _, f := range w.faults {
		if f.Kind == sim.Mirror && f.Host == id {
			return true, f.Salt%2 == 0
		}
	}
	return false, false
}
