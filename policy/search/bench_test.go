package search

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search/papercase"
)

func named(tb testing.TB, c *papercase.Case) *List {
	l, err := Named(c.Nodes, c.Slots)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// BenchmarkFind_Failing scans a million slots to the end in vain. Starts are so
// dense that ALP has about 2/5 of its nodes live all the time, and AMP about
// 3/2, which are always too dear.
func BenchmarkFind_Failing(b *testing.B) {
	for _, n := range []int{64, 300, 1000, 16384} {
		for _, a := range []Algorithm{ALP, AMP} {
			rng := rand.New(rand.NewPCG(1, 2))
			var c papercase.Case
			c.DrawSlots(rng, 1_000_000)
			r := papercase.DrawJob(rng, n)
			r.Length, r.MinPerformance, r.MaxPrice = 100*papercase.Unit, 1500, grid.MaxPrice
			dense := grid.Time(80)
			if a == AMP {
				dense, r.MaxPrice = 20, grid.Price(0.9*3600e6)
			}
			r.Budget = r.DefaultBudget()
			for i := range c.Slots {
				s := &c.Slots[i]
				length := s.End - s.Start
				s.Start = s.Start * dense / grid.Time(n)
				s.End = s.Start + length
			}
			l := named(b, &c)
			f := NewFinder(l)
			b.Run(fmt.Sprintf("%v/nodes=%d/slots=1e6", a, n), func(b *testing.B) {
				for b.Loop() {
					q := l.prepare(r, a, 0) // without the second scan for a reason
					if f.find(&q, a, Weights{}) {
						b.Fatal("found a window")
					}
				}
			})
		}
	}
}

// BenchmarkBatch_PaperCycle finds the alternatives of one cycle of the paper's
// experiment.
func BenchmarkBatch_PaperCycle(b *testing.B) {
	cases := make([]papercase.Case, 200)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range cases {
		cases[i].Draw(rng)
	}
	for _, a := range []Algorithm{ALP, AMP, AMPLiteral, Best} {
		b.Run(a.String(), func(b *testing.B) {
			l := new(List)
			f := NewFinder(l)
			i := 0
			for b.Loop() {
				c := &cases[i%len(cases)]
				i++
				if err := l.ResetNamed(c.Nodes, c.Slots); err != nil {
					b.Fatal(err)
				}
				f.Batch(c.Jobs, Options{Algorithm: a})
			}
		})
	}
}

// grid draws 100 sites of 1,000 alike nodes whose free counts step up and down
// over a week.
func randomGroups(rng *rand.Rand, steps int) (groups []grid.Group, free []grid.Profile) {
	const week = 7 * 24 * 3600 * 1000
	for g := range 100 {
		groups = append(groups, grid.Group{Site: fmt.Sprint("s", g), Nodes: 1000,
			Performance: grid.Performance(500 + rng.IntN(1500)), Price: grid.Price(500_000 + rng.IntN(1_500_000))})
		p := grid.NewProfile(0, 1000)
		for range steps {
			s := grid.Time(rng.Int64N(week))
			if rng.IntN(3) == 0 {
				s = 0
			}
			e := s + grid.Time(rng.Int64N(week/4)) + 60_000
			p.Add(s, e, -min(p.Min(s, e), 1+rng.IntN(300)))
		}
		free = append(free, p)
	}
	return groups, free
}

// BenchmarkBatch_Broker is the search of one cycle of a broker over 100 sites:
// list made anew, 70 jobs, 10 alternatives each.
func BenchmarkBatch_Broker(b *testing.B) {
	for _, steps := range []int{15, 100} {
		rng := rand.New(rand.NewPCG(1, 2))
		groups, free := randomGroups(rng, steps)
		var jobs []grid.Request
		for range 70 {
			r := grid.Request{Nodes: 1 + rng.IntN(16), Length: grid.Duration(600_000 + rng.IntN(4*3600_000)),
				MinPerformance: grid.Performance(500 + rng.IntN(500)), MaxPrice: grid.Price(1_000_000 + rng.IntN(1_000_000)), Deadline: grid.Never}
			r.Budget = r.DefaultBudget()
			jobs = append(jobs, r)
		}
		l := fungible(groups, free, 0, grid.Time(7*grid.Day))
		slots := l.Len()
		f := NewFinder(l)
		for _, a := range []Algorithm{ALP, AMP, Best} {
			for _, one := range []bool{false, true} {
				for i := range jobs {
					jobs[i].OneSite = one
				}
				b.Run(fmt.Sprintf("%v/slots=%d/jobs=70x10/onesite=%v", a, slots, one), func(b *testing.B) {
					b.ReportAllocs()
					found := 0
					for b.Loop() {
						l.ResetFungible(groups, free, 0, grid.Time(7*grid.Day))
						found = 0
						for _, w := range f.Batch(jobs, Options{Algorithm: a, MaxAlternatives: 10}).Alternatives {
							found += len(w)
						}
					}
					b.ReportMetric(float64(found), "windows")
				})
			}
		}
	}
}

// BenchmarkBatch_AboveCapacity20000Jobs is a batch of 20,000 jobs before 100 sites of 50 nodes of
// which a hundredth of the next day is free: nearly all are refused.
func BenchmarkBatch_AboveCapacity20000Jobs(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var groups []grid.Group
	var free []grid.Profile
	for g := range 100 {
		groups = append(groups, grid.Group{Site: fmt.Sprint("s", g), Nodes: 50, Performance: grid.Performance(1000 + 250*(g%5)), Price: grid.Price(1_000_000 + 200_000*(g%7))})
		p := grid.NewProfile(0, 0)
		for range 10 {
			at := grid.Time(rng.Int64N(int64(grid.Day)))
			p.Add(at, at.Add(10*grid.Minute+grid.Duration(rng.Int64N(int64(grid.Hour)))), 1+rng.IntN(3))
		}
		p.Add(grid.Time(grid.Day-grid.Hour), grid.Never, 50-p.At(grid.Time(grid.Day)))
		free = append(free, p)
	}
	var jobs []grid.Request
	for k := range 20_000 {
		r := grid.Request{Nodes: 1 + rng.IntN(16), Length: 10*grid.Minute + grid.Duration(rng.Int64N(int64(4*grid.Hour))),
			MinPerformance: grid.Performance(500 + rng.IntN(500)), MaxPrice: grid.Price(1_600_000 + rng.IntN(1_600_000)), Deadline: grid.Time(grid.Hour) + grid.Time(k)*grid.Time(grid.Day)/20_000}
		r.Budget = r.DefaultBudget()
		jobs = append(jobs, r)
	}
	l := fungible(groups, free, 0, grid.Time(grid.Day))
	f := NewFinder(l)
	b.ReportAllocs()
	found := 0
	for b.Loop() {
		l.ResetFungible(groups, free, 0, grid.Time(grid.Day))
		found = 0
		for _, w := range f.Batch(jobs, Options{Algorithm: AMP, MaxAlternatives: 10}).Alternatives {
			found += len(w)
		}
	}
	b.ReportMetric(float64(found), "windows")
}
