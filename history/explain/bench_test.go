package explain

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bourse"
	"bourse/agents"
)

// BenchmarkExplain_LongJournal is a look at a million facts of other jobs.
func BenchmarkExplain_LongJournal(b *testing.B) {
	g := newGrid(b)
	g.site("north", 4, 3_600_000)
	g.start()
	g.submit(job("wave", 4, 1000*bourse.Second, 4*bourse.Credit))
	g.run(0)
	others := make([]agents.Fact, 0, 1_000_000)
	for i := range 200_000 {
		id := bourse.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: uint64(i + 10)}
		leg := bourse.LegID{Tx: id}
		name := fmt.Sprint("job", i)
		others = append(others, bourse.JobSubmitted{Job: bourse.Job{Name: name}},
			bourse.TxBegun{Tx: id, Job: name, Sites: []string{"north"}, Legs: []bourse.Leg{{Group: "main"}}, Limits: []bourse.Credits{1}},
			bourse.LegPriced{Leg: leg}, bourse.TxDecided{Tx: id, Job: name, Commit: true}, bourse.LegClosed{Leg: leg, Commit: true})
	}
	all := func(yield func(bourse.Time, agents.Fact) bool) {
		for at, f := range g.journal() {
			if !yield(at, f) {
				return
			}
		}
		for _, f := range others {
			if !yield(g.now, f) {
				return
			}
		}
	}
	for b.Loop() {
		if _, err := Explain(all, "wave", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExplain_LargeCycle is an explanation of one job of 50 over 100 groups
// with 100 steps each, as far as the bound on work lets it go.
func BenchmarkExplain_LargeCycle(b *testing.B) {
	for _, size := range []struct{ sites, steps, jobs int }{{5, 50, 1}, {20, 100, 20}, {100, 100, 50}} {
		b.Run(fmt.Sprintf("sites=%d/steps=%d/jobs=%d", size.sites, size.steps, size.jobs), func(b *testing.B) {
			g := newGrid(b)
			g.cfg.Explain, g.cfg.MaxAlternatives, g.cfg.Horizon = 1<<30, 20, 7*bourse.Day
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range size.sites {
				s := g.site(fmt.Sprintf("s%03d", i), 256, bourse.Price(500_000+rng.IntN(2_000_000)))
				for range size.steps / 2 {
					from := bourse.Time(rng.IntN(600_000)) * sec
					to := from.Add(bourse.Duration(1+rng.IntN(40_000)) * bourse.Second)
					if n := s.free.Min(from, to); n > 0 {
						s.free.Add(from, to, -1-rng.IntN(n))
					}
				}
			}
			g.start()
			for i := range size.jobs {
				j := job(fmt.Sprint("j", i), 1+rng.IntN(600), bourse.Duration(600+rng.IntN(14_000))*bourse.Second, bourse.Credits(1000)*bourse.Credit)
				g.submit(j)
			}
			g.run(0)
			var e *Explanation
			for b.Loop() {
				e = g.explain("j0")
			}
			bytes := 0
			for _, f := range g.facts {
				if f, ok := f.(bourse.CycleSeen); ok {
					for _, s := range f.Sites {
						for _, x := range s.Groups {
							bytes += len(x.Free) + len(x.Clear)
						}
					}
				}
			}
			b.ReportMetric(float64(bytes), "curveBytes")
			b.ReportMetric(float64(len(e.Changes)+len(e.Tried)), "answers")
		})
	}
}
