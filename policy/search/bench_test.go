package search

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bourse"
	"bourse/policy/search/papercase"
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
			r.Length, r.MinPerformance, r.MaxPrice = 100*papercase.Unit, 1500, bourse.MaxPrice
			dense := bourse.Time(80)
			if a == AMP {
				dense, r.MaxPrice = 20, bourse.Price(0.9*3600e6)
			}
			r.Budget = r.DefaultBudget()
			for i := range c.Slots {
				s := &c.Slots[i]
				length := s.End - s.Start
				s.Start = s.Start * dense / bourse.Time(n)
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
