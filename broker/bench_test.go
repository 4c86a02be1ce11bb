package broker

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// BenchmarkCycle is a whole cycle, fake sites and virtual time included: offers
// of all sites, a search for 10 alternatives a job, selection, and every
// transaction to its end.
func BenchmarkCycle(b *testing.B) {
	for _, size := range []struct{ sites, jobs int }{{3, 10}, {20, 70}, {100, 70}} {
		for _, goal := range []grid.Goal{grid.GoalTime, grid.GoalCost, grid.GoalFinish} {
			b.Run(fmt.Sprintf("sites=%d/jobs=%d/%v", size.sites, size.jobs, goal), func(b *testing.B) {
				w := benchWorld(b, size.sites, goal)
				rng := rand.New(rand.NewPCG(1, 2))
				b.ReportAllocs()
				for i := range b.N {
					benchCycle(w, rng, i, size.jobs)
				}
				b.ReportMetric(float64(len(w.b.mem.Txs.All()))/float64(b.N*size.jobs), "tries/job")
			})
		}
	}
}

// benchWorld is a grid of sites that differ in size, speed and price.
func benchWorld(b *testing.B, sites int, goal grid.Goal) *testWorld {
	rng := rand.New(rand.NewPCG(3, 4))
	var list []*fakeSite
	for i := range sites {
		s := newFakeSite(fmt.Sprintf("s%03d", i), 32+rng.IntN(200), grid.Price(500_000+rng.IntN(2_000_000)))
		s.groups[0].Performance = grid.Performance(600 + rng.IntN(1400))
		list = append(list, s)
	}
	cfg := testConfig(list...)
	cfg.Cycle, cfg.Horizon = 30*grid.Minute, 2*grid.Day
	cfg.Budget, cfg.MaxAlternatives, cfg.Minimize = grid.MaxBudget, 10, goal
	w := newTestWorld(b, cfg, list...)
	w.quiet, w.check.off = true, true
	return w
}

func benchCycle(w *testWorld, rng *rand.Rand, i, jobs int) {
	at := grid.Time(i) * grid.Time(w.b.mem.cfg.Cycle)
	w.facts = w.facts[:0]
	for _, s := range w.sites {
		for g := range s.free {
			s.free[g].From(w.Now())
		}
	}
	for k := range jobs {
		j := testJob(fmt.Sprintf("j%d.%d", i, k), 1+rng.IntN(64), grid.Duration(600+rng.IntN(14_000))*grid.Second, 0)
		j.MinPerformance = grid.Performance(500 + rng.IntN(500))
		j.MaxPrice = grid.Price(1_500_000 + rng.IntN(2_000_000))
		w.submit(at, j)
	}
	w.Run(at.Add(w.b.mem.cfg.Cycle - 1))
}

// BenchmarkPlan_100Jobs100000Slots is a cycle of 100 jobs over 20 sites whose
// free nodes change 10,000 times each within the horizon, which is 100,000 slots;
// the transactions are part of it.
func BenchmarkPlan_100Jobs100000Slots(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := benchWorld(b, 20, grid.GoalTime)
		w.b.mem.cfg.Horizon = 8 * grid.Day
		for _, s := range w.sites {
			n := s.groups[0].Nodes
			p := make(grid.Profile, 0, 10_000)
			for k := range 10_000 {
				p = append(p, grid.Step{At: grid.Time(k) * 60 * sec, Free: n * (1 + k%2) / 2})
			}
			s.free[0] = p
		}
		rng := rand.New(rand.NewPCG(1, 2))
		b.StartTimer()
		benchCycle(w, rng, 0, 100)
		b.StopTimer()
		c := only[facts.CycleClosed](w)
		b.ReportMetric(float64(c[0].Slots), "slots")
		b.ReportMetric(float64(len(w.b.mem.Txs.All())), "transactions")
		b.StartTimer()
	}
}

// BenchmarkForesee_10Sites is a dry run over ten sites whose free nodes change 1,000 times
// each within the horizon: three plans, and a look at the queues.
func BenchmarkForesee_10Sites(b *testing.B) {
	for _, jobs := range []int{1, 100} {
		b.Run(fmt.Sprintf("Jobs%d", jobs), func(b *testing.B) {
			w := benchWorld(b, 10, grid.GoalValue)
			for _, s := range w.sites {
				n := s.groups[0].Nodes
				p := make(grid.Profile, 0, 1000)
				for k := range 1000 {
					p = append(p, grid.Step{At: grid.Time(k) * 170 * sec, Free: n * (1 + k%2) / 2})
				}
				s.free[0] = p
			}
			w.Add("user:ana", &looker{})
			w.Post(100*sec, "user:ana", agents.SitesLook{})
			w.Run(102 * sec)
			var list []grid.Job
			for k := range jobs {
				j := testJob(fmt.Sprintf("j%d", k), 1+k%64, grid.Hour, 3*grid.Credit)
				j.Origin.Label = j.Name
				list = append(list, j)
			}
			for b.Loop() {
				if got := Foresee(w.b.Foresee(102*sec, list), nil); got[0].Now.Taken() == nil {
					b.Fatalf("nothing is foreseen: %v", got[0].Now.Reason)
				}
			}
		})
	}
}
