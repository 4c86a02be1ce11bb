package pricing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/backfill/backfilltest"
)

// drawState draws a state by way of rapid, so that a failure shrinks.
func drawState(t *rapid.T) (*backfill.State, *rand.Rand) {
	p := rapid.SampledFrom(policies).Draw(t, "policy")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	nodes := rapid.IntRange(1, 12).Draw(t, "nodes")
	jobs := rapid.IntRange(0, 14).Draw(t, "jobs")
	return randomState(r, p, nodes, jobs, rapid.Int64Range(1, 20).Draw(t, "span")), r
}

// drawStart draws a start within the plan or a little beyond.
func drawStart(t *rapid.T, b *Book) grid.Time {
	last := b.worth()[len(b.worth())-1]
	if rapid.Bool().Draw(t, "at an instant") {
		return rapid.SampledFrom(b.worth()).Draw(t, "start")
	}
	return grid.Time(rapid.Int64Range(int64(b.state.Now), int64(last)+3).Draw(t, "start"))
}

// Law 1: a reservation is free iff it fits into the finished base plan. With
// guarantees only the one way holds for all states, what fits is free: a job that
// must leave its guarantee may find an earlier place that an early end has left.
func TestLaw_FreeIffItFitsTheFinishedPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, _ := drawState(t)
		b := NewBook()
		b.Reset(s)
		for range 100 {
			start := drawStart(t, b)
			n := rapid.IntRange(1, s.Nodes).Draw(t, "n")
			d := grid.Duration(rapid.Int64Range(1, 30).Draw(t, "d"))
			f, ok := b.Additive(start, n, d)
			if !ok {
				continue
			}
			if fits := b.Clear().Min(start, start.Add(d)) >= n; fits != (f == 0) && (fits || !guaranteed(s)) {
				t.Fatalf("%d nodes at %v for %v: f %v, fits the finished plan: %v\n%+v", n, start, d, f, fits, s)
			}
			if (f == 0) != (len(b.Delays(nil, start, n, d)) == 0) {
				t.Fatalf("%d nodes at %v for %v: f %v, delays %v", n, start, d, f, b.Delays(nil, start, n, d))
			}
		}
	})
}

// Law 2: a reservation split by time or by nodes, the parts priced in turn, is
// never cheaper. Under the conservative policy it holds as long as the guarantees
// that the parts are priced by are those that the whole is priced by.
func TestLaw_SplittingIsNeverCheaper(t *testing.T) {
	t.Parallel()
	states := 20_000
	if testing.Short() {
		states = 2_000
	}
	r := rand.New(rand.NewPCG(5, 5))
	whole, rest := NewBook(), NewBook()
	priced := 0
	for i := range states {
		s := randomState(r, policies[i%len(policies)], 2+r.IntN(10), 14, int64(1+r.IntN(20)))
		whole.Reset(s)
		for range 4 {
			start := whole.worth()[r.IntN(len(whole.worth()))]
			n, d := 2+r.IntN(s.Nodes-1), grid.Duration(2+r.Int64N(30))
			f, ok := whole.Additive(start, n, d)
			if !ok {
				continue
			}
			n1, n2, s2, d1, d2 := 1+r.IntN(n-1), n, start, d, d
			if n2 -= n1; r.IntN(2) == 0 {
				n1, n2, d1 = n, n, 1+grid.Duration(r.Int64N(int64(d)-1))
				s2, d2 = start.Add(d1), d-d1
			}
			f1, ok1 := whole.Additive(start, n1, d1)
			rest.Reset(with(s, start, n1, d1))
			f2, ok2 := rest.Additive(s2, n2, d2)
			if !ok1 || !ok2 {
				t.Fatalf("the parts of an admissible reservation are not: %v %v", ok1, ok2)
			}
			if f1+f2 < f {
				t.Fatalf("%d nodes at %v for %v cost %v, in parts %v + %v\n%+v", n, start, d, f, f1, f2, s)
			}
			if f > 0 {
				priced++
			}
		}
	}
	if priced < states/4 {
		t.Errorf("only %d of %d reservations harmed anyone: the states are too easy", priced, 4*states)
	}
}

// Not a law: once the first part is accepted and the guarantees are re-placed, the
// second may find a queue that is harmed less than by the whole. It is rare.
func TestSplitting_PartsAcceptedInTurnAreSeldomCheaper(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	whole, rest := NewBook(), NewBook()
	priced, cheaper := 0, 0
	for range 5_000 {
		s := randomState(r, backfill.Conservative, 2+r.IntN(10), 14, int64(1+r.IntN(20)))
		whole.Reset(s)
		start := whole.worth()[r.IntN(len(whole.worth()))]
		n, d := 2+r.IntN(s.Nodes-1), grid.Duration(2+r.Int64N(30))
		f, ok := whole.Additive(start, n, d)
		if !ok || f == 0 {
			continue
		}
		priced++
		n1 := 1 + r.IntN(n-1)
		f1, _ := whole.Additive(start, n1, d)
		accepted := with(s, start, n1, d)
		accepted.Queue = slices.Clone(s.Queue)
		for i, v := range naivePlan(accepted) {
			accepted.Queue[i].Guarantee = v
		}
		rest.Reset(accepted)
		if f2, _ := rest.Additive(start, n-n1, d); f1+f2 < f {
			cheaper++
		}
	}
	if priced < 1000 || cheaper > priced/50 {
		t.Errorf("%d of %d were cheaper in parts", cheaper, priced)
	}
}

// The harm is that which accepting the reservation does to the guarantees.
func TestDelays_AreWhatReserveMakesOfTheGuarantees(t *testing.T) {
	t.Parallel()
	r, b := rand.New(rand.NewPCG(8, 8)), NewBook()
	harmed := 0
	for range 3_000 {
		g := backfill.New(8, backfill.Conservative, 0)
		ends := map[int64]grid.Time{}
		for id := range int64(20) {
			g.Arrive(backfill.Queued{ID: id, Nodes: 1 + r.IntN(8), Estimate: grid.Duration(1 + r.Int64N(20)), Weight: 1000})
			if r.IntN(4) > 0 {
				continue
			}
			for _, s := range g.Pass() {
				ends[s.ID] = s.End
			}
			g.Advance(min(g.Now()+1, g.Next()))
			for id := range int64(20) { // in order; half of them end early
				if end, runs := ends[id]; runs && (end == g.Now() || r.IntN(2) == 0) {
					g.End(id, end)
					delete(ends, id)
				}
			}
		}
		start, n, d := g.Now()+grid.Time(r.IntN(60)), 1+r.IntN(8), grid.Duration(1+r.Int64N(20))
		b.Reset(g.State())
		want := b.Delays(nil, start, n, d)
		before := slices.Clone(g.State().Queue)
		_, ok := b.Additive(start, n, d)
		if refused := g.Reserve(backfill.Reserved{ID: 99, Nodes: n, Start: start, End: start.Add(d)}).Refused(); refused == ok {
			t.Fatalf("admissible: %v, refused: %v", ok, refused)
		}
		var got []grid.Delay
		for i, q := range g.State().Queue {
			if by := q.Guarantee.Sub(before[i].Guarantee); by > 0 {
				got = append(got, grid.Delay{Job: q.ID, By: by, Nodes: q.Nodes})
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("Reserve delays %v, the book says %v", got, want)
		}
		if len(got) > 1 {
			harmed++
		}
	}
	if harmed < 500 {
		t.Errorf("only %d reservations harmed several: the states are too easy", harmed)
	}
}

// The plan is the one that living through it comes to.
func TestStarts_EqualTheQueuesOwnPlan(t *testing.T) {
	t.Parallel()
	r, b := rand.New(rand.NewPCG(9, 9)), NewBook()
	for i := range 6_000 {
		s := randomState(r, policies[i%len(policies)], 1+r.IntN(12), 14, int64(1+r.IntN(20)))
		b.Reset(s)
		if want := backfilltest.Plan(s); !slices.Equal(b.Starts(), want) {
			t.Fatalf("starts %v, the plain plan %v\n%+v", b.Starts(), want, s)
		}
	}
}

// A price says nothing of the order in which it was asked for.
func TestBook_AsksLeaveNoTrace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, _ := drawState(t)
		used, fresh := NewBook(), NewBook()
		used.Reset(s)
		for range 10 {
			start := drawStart(t, used)
			n := rapid.IntRange(1, s.Nodes).Draw(t, "n")
			d := grid.Duration(rapid.Int64Range(1, 30).Draw(t, "d"))
			fresh.Reset(s)
			f, ok := used.Additive(start, n, d)
			if g, same := fresh.Additive(start, n, d); f != g || ok != same {
				t.Fatalf("used %v %v, fresh %v %v", f, ok, g, same)
			}
			used.Delays(nil, start, n, d)
			used.Offers(n, d, rapid.Bool().Draw(t, "more"))
		}
	})
}

func TestOffers_MoreStartsEndWhereSomethingStartsOrEnds(t *testing.T) {
	t.Parallel()
	b := NewBook()
	b.Reset(figure1(backfill.EASY))
	var starts []grid.Time
	for _, o := range b.Offers(2, 4500, true) {
		starts = append(starts, o.Start)
	}
	want := []grid.Time{0, 500, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 7000}
	if !slices.Equal(starts, want) {
		t.Errorf("starts %v, want %v", starts, want)
	}
}

func TestBook_FixedPricesChargeNothingAndRefuseTheSame(t *testing.T) {
	t.Parallel()
	adaptive, fixed := NewBook(), NewBook()
	fixed.Price(Fixed)
	adaptive.Reset(figure1(backfill.EASY))
	fixed.Reset(figure1(backfill.EASY))
	a, f := adaptive.Offers(2, 3000, false), fixed.Offers(2, 3000, false)
	for i := range f {
		if f[i].Additive != 0 || f[i].Feasible != a[i].Feasible || f[i].Start != a[i].Start {
			t.Errorf("fixed %+v, adaptive %+v", f[i], a[i])
		}
		if g, ok := fixed.Additive(f[i].Start, 2, 3000); g != 0 || ok != f[i].Feasible {
			t.Errorf("start %v: %v, %v", f[i].Start, g, ok)
		}
	}
}

func TestBook_AllocatesNoMoreAfterAWhile(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, p := range policies {
		s := randomState(r, p, 64, 90, 300)
		b := NewBook()
		ask := func() {
			b.Reset(s)
			b.Offers(7, 50, true)
			b.Additive(s.Now+5, 3, 20)
		}
		ask()
		if n := testing.AllocsPerRun(20, ask); n != 0 {
			t.Errorf("%v: %v allocations a list", p, n)
		}
	}
}

// Harm beyond int64 becomes the largest Duration, a cost that nobody can pay.
func TestAdditive_Saturates(t *testing.T) {
	t.Parallel()
	s := figure1(backfill.EASY)
	for i := range s.Queue {
		s.Queue[i].Weight = 1 << 50
		s.Queue[i].Estimate = grid.MaxDuration
	}
	b := NewBook()
	b.Reset(s)
	f, ok := b.Additive(2000, 2, grid.MaxDuration)
	if !ok || f != 1<<63-1 {
		t.Errorf("f %v, %v", f, ok)
	}
	if c := grid.Cost(grid.MaxPrice, f); c != grid.MaxCredits {
		t.Errorf("cost %v", c)
	}
}

// Where estimates are predictions, a reservation may have to wait for limits: these are
// offered beside the ends that are predicted.
func TestOffers_WhereEstimatesArePredictionsLimitsAreOffered(t *testing.T) {
	t.Parallel()
	free, sure := grid.NewProfile(0, 4), grid.NewProfile(0, 4)
	free.Add(0, 10, -3)
	free.Add(0, 20, -1)
	sure.Add(0, 25, -3)
	sure.Add(0, 20, -1)
	b := NewBook()
	b.Reset(&backfill.State{
		Nodes: 4, Policy: backfill.EASY, Free: free, Sure: sure,
		Running: []backfill.Running{{ID: 1, Nodes: 3, End: 10, Limit: 25}, {ID: 2, Nodes: 1, End: 20, Limit: 20}},
	})
	want := []Offer{{0, false, 0}, {10, false, 0}, {20, false, 0}, {25, true, 0}}
	if got := b.Offers(2, 5, false); !slices.Equal(got, want) {
		t.Errorf("offers %v, want %v", got, want)
	}
}
