package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// Worlds that are strained in one way or another: in one of sixteen bounds are so low that they
// are reached, users are choosy and change their minds often, and a day and a half passes in the
// end; in one of sixteen sites lie.

// narrow reports whether the bounds of a seed's world are low.
func narrow(seed uint64) bool { return seed%16 == 7 }

// lying reports whether sites lie in the world of a seed.
func lying(seed uint64) bool { return seed%16 == 15 }

// drawNarrow lowers what sites and brokers remember, have waiting and sell, gives nodes and jobs
// what tells them apart, and some jobs one site alone.
func (w *World) drawNarrow() {
	r := rand.New(rand.NewPCG(w.seed, streamNarrow))
	for i := range w.Sites {
		s := &w.Sites[i].Config
		switch i % 3 {
		case 0:
			s.MaxKept = 60 + r.IntN(60)
		case 1:
			s.MaxWork = 1 + r.IntN(2)
		default:
			s.VOShares = map[string]int{BrokerNames[r.IntN(len(BrokerNames))]: 50 + r.IntN(150)}
		}
		for k := range s.Groups {
			s.Groups[k].Machine.GPUs = r.IntN(3)
		}
	}
	for i := range w.Brokers {
		b := &w.Brokers[i]
		b.Config.MaxWaiting, b.Config.MaxAsked = 2+r.IntN(3), 3+r.IntN(4)
		for k := range b.Jobs {
			j := &b.Jobs[k]
			switch r.IntN(6) {
			case 0:
				j.OneSite = true
			case 1:
				j.MinPerformance = grid.Performance(1250 + 250*r.IntN(3))
			case 2:
				j.Require.GPUs = 1 + r.IntN(2)
			}
		}
	}
}

// narrowFaults are many changes of mind, and faults aimed at what follows from them.
func narrowFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamNarrowFaults))
	for range 20 {
		list = append(list, otherWindow(r))
	}
	for range 6 {
		list = append(list, sim.Fault{Kind: LegAimed, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Salt: 1 + r.Uint64N(1<<32), Share: ofMove,
			At: Start.Add(grid.Duration(r.Int64N(int64(Storm - 30*grid.Minute)))), Size: int64(grid.Second) + r.Int64N(int64(5*grid.Minute))})
	}
	return list
}

// ADayAndAHalf is how long a narrow world goes on after the calm: a day longer than anything lasts
// that was begun before.
const ADayAndAHalf = 34 * grid.Hour
