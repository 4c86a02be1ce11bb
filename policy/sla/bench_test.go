package sla

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// drawn is a submission like those of the paper's experiment: a minute to half
// a day on 1 to 64 of 128 nodes, D = sub + Te x 1..10, half of them flexible.
func drawn(r *rand.Rand, id int64, now grid.Time) SLA {
	te := grid.Duration(60+r.ExpFloat64()*9000) * sec
	n := min(64, 1<<r.IntN(7))
	deadline := now.Add(te * grid.Duration(1+r.IntN(10)))
	a := Flexible(id, now, Size{n, te}, deadline.Add(-te), deadline)
	if r.IntN(2) == 0 {
		a.Deadline = a.Deadline.Add(te * grid.Duration(90+r.IntN(20)) / 100)
	}
	return a
}

// loaded is a schedule of 128 nodes with so many jobs waiting.
func loaded(tb testing.TB, o Order, waiting int) (*Schedule, *rand.Rand, int64) {
	r := rand.New(rand.NewPCG(1, 2))
	s := newSchedule(tb, Options{Nodes: 128, Order: o, Waiting: 1000, Shares: pricing.DefaultFlexibility, Keys: r.Int64})
	id := int64(0)
	for len(s.waiting) < waiting {
		id++
		s.Submit(drawn(r, id, s.now))
		s.Advance(s.now.Add(grid.Duration(r.IntN(60)) * sec))
		if id > 1_000_000 {
			tb.Fatal("the queue does not fill")
		}
	}
	return s, r, id
}

func benchSubmit(b *testing.B, o Order, waiting int) {
	s, r, id := loaded(b, o, waiting)
	list := make([]SLA, 1000)
	for i := range list {
		list[i] = drawn(r, id+1, s.now)
	}
	accepted, swaps := 0, 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		a := list[i%len(list)]
		if _, why := s.Submit(a); !why.Refused() {
			accepted++
			s.Cancel(a.ID)
		}
		swaps += s.t.swaps
	}
	b.ReportMetric(float64(accepted)/float64(b.N), "accepted/op")
	b.ReportMetric(float64(swaps)/float64(b.N), "swaps/op")
}

// An independent program takes 20 us for one submission with 88 waiting jobs.
func BenchmarkSubmit_EDF_88Waiting(b *testing.B)     { benchSubmit(b, EDF, 88) }
func BenchmarkSubmit_LFF_88Waiting(b *testing.B)     { benchSubmit(b, LFF, 88) }
func BenchmarkSubmit_Shuffle_88Waiting(b *testing.B) { benchSubmit(b, Shuffle, 88) }
