package pricing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

func TestOffers_FigureOneCostsInfiniteSixEightTenZero(t *testing.T) {
	t.Parallel()
	for _, p := range []backfill.Policy{backfill.EASY, backfill.Conservative} {
		b := NewBook()
		b.Reset(figure1(p))
		if v := b.Starts(); !slices.Equal(v, []grid.Time{2000, 2000}) {
			t.Fatalf("%v: planned starts %v, want 2 and 2", p, v)
		}
		want := []Offer{{0, false, 0}, {2000, true, 6000}, {3000, true, 8000}, {4000, true, 10000},
			{5000, true, 0}, {6000, true, 0}, {7000, true, 0}}
		if got := b.Offers(2, 3*grid.Second, false); !slices.Equal(got, want) {
			t.Errorf("%v: offers\n%v, want\n%v", p, got, want)
		}
		if c := grid.Cost(grid.Price(grid.Credit), 6000); c.String() != "0.001667" {
			t.Errorf("6 node-seconds cost %v, want 0.001667", c)
		}
	}
}

func TestDelays_FigureOneDelaysOnlyD(t *testing.T) {
	t.Parallel()
	b := NewBook()
	b.Reset(figure1(backfill.EASY))
	for i, by := range []grid.Duration{3000, 4000, 5000} {
		got := b.Delays(nil, grid.Time(2000+1000*i), 2, 3000)
		if !slices.Equal(got, []grid.Delay{{Job: 4, By: by, Nodes: 2}}) {
			t.Errorf("start %d: delays %v, want D by %v", 2+i, got, by)
		}
	}
}

// checkState compares everything a book says of s with the naive twin.
func checkState(t *testing.T, b *Book, s *backfill.State, r *rand.Rand) {
	t.Helper()
	b.Reset(s)
	v := naivePlan(s)
	if !slices.Equal(b.Starts(), v) {
		t.Fatalf("starts %v, naive %v\n%+v", b.Starts(), v, s)
	}
	clear := s.Free.Clone()
	for i, q := range s.Queue {
		if v[i] < grid.Never {
			clear.Add(v[i], v[i].Add(q.Estimate), -q.Nodes)
		}
	}
	if !slices.Equal(b.Clear(), clear) {
		t.Fatalf("clear %v, naive %v\n%+v", b.Clear(), clear, s)
	}
	n := 1 + r.IntN(s.Nodes)
	d := grid.Duration(1 + r.IntN(40))
	if r.IntN(2) == 0 && len(s.Queue) > 0 {
		d = s.Queue[r.IntN(len(s.Queue))].Estimate
	}
	more := r.IntN(2) == 0
	offers := slices.Clone(b.Offers(n, d, more))
	starts := naiveInstants(s, v)
	if more {
		for _, x := range starts {
			if x.Add(-d) > s.Now {
				starts = append(starts, x.Add(-d))
			}
		}
		slices.Sort(starts)
		starts = slices.Compact(starts)
	}
	if !slices.EqualFunc(offers, starts, func(o Offer, x grid.Time) bool { return o.Start == x }) {
		t.Fatalf("offers %v, want one at each of %v\n%+v", offers, starts, s)
	}
	for _, o := range offers {
		f, delays, ok := naiveHarm(s, v, o.Start, n, d)
		if ok != o.Feasible || f != o.Additive {
			t.Fatalf("offer %+v of %d nodes for %v: naive %v %v\n%+v", o, n, d, f, ok, s)
		}
		// A job that must leave its guarantee may find an earlier place that an
		// early end has left, so with guarantees the law holds one way only.
		if fits := clear.Min(o.Start, o.Start.Add(d)) >= n; ok && fits != (f == 0) && (fits || !guaranteed(s)) {
			t.Fatalf("law 1: offer %+v of %d nodes for %v, fits in the clear profile: %v\n%+v", o, n, d, fits, s)
		}
		if got := b.Delays(nil, o.Start, n, d); !slices.Equal(got, delays) {
			t.Fatalf("delays %v, naive %v", got, delays)
		}
		if refused := b.state.Refusal(o.Start, n, d).Refused(); refused == o.Feasible {
			t.Fatalf("offer %+v: obstacle %v", o, b.state.Refusal(o.Start, n, d))
		}
	}
	list := b.Offers(n, d, false)
	if i := slices.IndexFunc(list, func(o Offer) bool { return o.Feasible }); i >= 0 {
		want := list[i]
		if got, ok := b.Earliest(n, d); !ok || got != want {
			t.Fatalf("earliest %+v %v, want %+v\n%+v", got, ok, want, s)
		}
	} else if got, ok := b.Earliest(n, d); ok {
		t.Fatalf("earliest %+v of no feasible offer\n%+v", got, s)
	}
}

// guaranteed reports whether any job of s has a guarantee.
func guaranteed(s *backfill.State) bool {
	return slices.ContainsFunc(s.Queue, func(q backfill.Queued) bool { return q.Guarantee < grid.Never })
}

func TestBook_EqualsTheNaiveTwin(t *testing.T) {
	t.Parallel()
	states := 30_000
	if testing.Short() {
		states = 3_000
	}
	for k, p := range policies {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			r, b := rand.New(rand.NewPCG(1, uint64(k))), NewBook()
			for i := range states / len(policies) {
				nodes, jobs, span := 1+r.IntN(10), 12, int64(1+r.IntN(20))
				switch {
				case i%200 == 0:
					nodes, jobs, span = 64, 90, 300
				case i%20 == 0: // long enough for the bit sets
					nodes, jobs, span = 16, 50, 20
				}
				checkState(t, b, randomState(r, p, nodes, jobs, span), r)
			}
		})
	}
}

// A group may hand over a profile that begins before now, as it leaves the past until
// it is in the way: what is offered, and what is clear, begins now.
func TestBook_AProfileThatBeganBeforeNowIsReadFromNowOn(t *testing.T) {
	t.Parallel()
	old, cut := NewBook(), NewBook()
	r := rand.New(rand.NewPCG(8, 8))
	for i := range 200 {
		s := randomState(r, policies[i%len(policies)], 6, 8, 10)
		cut.Reset(s)
		earlier := *s
		earlier.Free = append(grid.Profile{{At: s.Now - 5, Free: 1}}, s.Free...)
		earlier.Free[1].At = s.Now - 2
		old.Reset(&earlier)
		if a, b := old.Offers(2, 3, true), cut.Offers(2, 3, true); !slices.Equal(a, b) || !slices.Equal(old.Clear(), cut.Clear()) {
			t.Fatalf("offers\n%v, clear %v from a profile with a past\n%v, clear %v without", a, old.Clear(), b, cut.Clear())
		}
	}
}
