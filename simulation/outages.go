package simulation

import (
	"math"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// outages calls f with every failure of a site's nodes before the end of a scenario, in no
// particular order: those of its file or, for each node, those that it draws. Nothing else
// draws from their streams, and each node has its own, so a longer run, another node or other
// mean times change no draw of another failure.
func outages(s *configs.Site, until grid.Duration, seed uint64, f func(at grid.Time, m agents.NodesLost)) {
	seed = SeedOf(seed, "outages "+s.Name)
	if s.Outages.MTBF == 0 {
		chances := rand.New(rand.NewPCG(seed, 0))
		for _, o := range s.Outages.List {
			chance := chances.Uint64() | 1
			if o.From < grid.Time(until) {
				f(o.From, agents.NodesLost{Group: o.Group, Count: o.Nodes, For: o.For, Chance: chance})
			}
		}
		return
	}
	node := uint64(0)
	for _, g := range s.Groups {
		for range g.Nodes {
			draws := rand.New(rand.NewPCG(seed, node))
			node++
			for at := grid.Time(0); ; {
				at = at.Add(exponential(draws, s.Outages.MTBF))
				lasts, chance := exponential(draws, s.Outages.MTTR), draws.Uint64()|1
				if at >= grid.Time(until) {
					break
				}
				f(at, agents.NodesLost{Group: g.Name, Count: 1, For: lasts, Chance: chance})
				at = at.Add(lasts)
			}
		}
	}
}

// exponential draws a time from the exponential distribution with a mean: at least a
// millisecond and at most 37 means. A logarithm is the same on every machine.
func exponential(r *rand.Rand, mean grid.Duration) grid.Duration {
	times := -math.Log(1 - r.Float64())
	return max(grid.Millisecond, grid.Duration(min(times*float64(mean), float64(grid.MaxDuration))))
}

// fail has nodes of a site fail, as the scenario says.
func (w *world) fail(s *configs.Site, seed uint64) {
	outages(s, w.scenario.Until, seed, func(at grid.Time, m agents.NodesLost) {
		w.sim.Post(at, clusterID(s.Name), m)
	})
}
