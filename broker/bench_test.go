package broker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bourse"
	"bourse/policy/selection"
)

// BenchmarkCycle is a whole cycle, fake sites and virtual time included: offers
// of all sites, a search for 10 alternatives a job, selection, and every
// transaction to its end.
func BenchmarkCycle(b *testing.B) {
	for _, size := range []struct{ sites, jobs int }{{3, 10}, {20, 70}, {100, 70}} {
		for _, goal := range []selection.Goal{selection.MinTime, selection.MinCost, selection.MinFinish} {
			b.Run(fmt.Sprintf("sites=%d/jobs=%d/%v", size.sites, size.jobs, goal), func(b *testing.B) {
				w := benchWorld(b, size.sites, goal)
				rng := rand.New(rand.NewPCG(1, 2))
				b.ReportAllocs()
				for i := range b.N {
					benchCycle(w, rng, i, size.jobs)
				}
				b.ReportMetric(float64(len(w.b.txs))/float64(b.N*size.jobs), "tries/job")
			})
		}
	}
}

// benchWorld is a grid of sites that differ in size, speed and price.
func benchWorld(b *testing.B, sites int, goal selection.Goal) *testWorld {
	rng := rand.New(rand.NewPCG(3, 4))
	var list []*fakeSite
	for i := range sites {
		s := newFakeSite(fmt.Sprintf("s%03d", i), 32+rng.IntN(200), bourse.Price(500_000+rng.IntN(2_000_000)))
		s.groups[0].Performance = bourse.Performance(600 + rng.IntN(1400))
		list = append(list, s)
	}
	cfg := testConfig(list...)
	cfg.Cycle, cfg.Horizon = 30*bourse.Minute, 2*bourse.Day
	cfg.Budget, cfg.MaxAlternatives, cfg.Minimize = bourse.MaxBudget, 10, goal
	w := newTestWorld(b, cfg, list...)
	w.quiet, w.check.off = true, true
	return w
}

func benchCycle(w *testWorld, rng *rand.Rand, i, jobs int) {
	at := bourse.Time(i) * bourse.Time(w.b.cfg.Cycle)
	w.facts = w.facts[:0]
	for _, s := range w.sites {
		for g := range s.free {
			s.free[g].From(w.Now())
		}
	}
	for k := range jobs {
		j := testJob(fmt.Sprintf("j%d.%d", i, k), 1+rng.IntN(64), bourse.Duration(600+rng.IntN(14_000))*bourse.Second, 0)
		j.MinPerformance = bourse.Performance(500 + rng.IntN(500))
		j.MaxPrice = bourse.Price(1_500_000 + rng.IntN(2_000_000))
		w.submit(at, j)
	}
	w.Run(at.Add(w.b.cfg.Cycle - 1))
}
