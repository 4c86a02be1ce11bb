package search_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bourse"
	"bourse/policy/search"
	"bourse/policy/search/papercase"
)

func named(tb testing.TB, c *papercase.Case) *search.List {
	l, err := search.Named(c.Nodes, c.Slots)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// BenchmarkFind_Failing scans a million slots to the end in vain. A window of
// 64 nodes fails on the paper's density; one of 16,384 needs slots so dense that
// many thousands are live.
func BenchmarkFind_Failing(b *testing.B) {
	for _, n := range []int{64, 1000, 16384} {
		rng := rand.New(rand.NewPCG(1, 2))
		var c papercase.Case
		c.DrawSlots(rng, 1_000_000)
		if n > 64 { // slots of the same lengths, starts n/48 times as dense
			for i := range c.Slots {
				s := &c.Slots[i]
				length := s.End - s.Start
				s.Start = s.Start * 40 / bourse.Time(n)
				s.End = s.Start + length
			}
		}
		l := named(b, &c)
		f := search.NewFinder(l)
		for _, a := range []search.Algorithm{search.ALP, search.AMP} {
			r := papercase.DrawJob(rng, n)
			r.Length, r.MinPerformance = 100*papercase.Unit, 1500
			r.MaxPrice = bourse.Price(2.2 * 3600e6)
			if a == search.AMP {
				r.MaxPrice = bourse.Price(0.9 * 3600e6)
			}
			r.Budget = r.DefaultBudget()
			b.Run(fmt.Sprintf("%v/nodes=%d/slots=1e6", a, n), func(b *testing.B) {
				for b.Loop() {
					if _, why := f.Find(r, a, search.Weights{}, 0); !why.Refused() {
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
	for _, a := range []search.Algorithm{search.ALP, search.AMP, search.AMPLiteral, search.Best} {
		b.Run(a.String(), func(b *testing.B) {
			l := new(search.List)
			f := search.NewFinder(l)
			i := 0
			for b.Loop() {
				c := &cases[i%len(cases)]
				i++
				if err := l.ResetNamed(c.Nodes, c.Slots); err != nil {
					b.Fatal(err)
				}
				f.Batch(c.Jobs, search.Options{Algorithm: a})
			}
		})
	}
}
