package search

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A dear slot early and a cheap one late: what is weighed says which comes first.
func TestBatch_OwnWeightsHoldForAllPasses(t *testing.T) {
	t.Parallel()
	node := func(name string) grid.Group {
		return grid.Group{Name: name, Nodes: 1, Performance: grid.Unit}
	}
	list := func() *List {
		l, err := Named([]grid.Group{node("fast"), node("cheap")}, []grid.Slot{
			{Group: 0, Count: 1, Start: 0, End: 100_000, Performance: 2 * grid.Unit, Price: 40_000_000},
			{Group: 1, Count: 1, Start: 50_000, End: 250_000, Performance: grid.Unit, Price: 1_000_000},
		})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	job := grid.Request{Nodes: 1, Length: 100 * grid.Second, MinPerformance: grid.Unit,
		MaxPrice: 40_000_000, Deadline: grid.Never}
	job.Budget = job.DefaultBudget()
	for _, c := range []struct {
		name    string
		weights Weights
		want    []int32 // groups of the alternatives, in order
	}{
		{"cost alone", Weights{Cost: 1000}, []int32{1, 1, 0, 0}},
		{"time alone", Weights{Time: 1000}, []int32{0, 0, 1, 1}},
		{"turning", Weights{}, []int32{0, 1, 0, 1}},
	} {
		r := Batch(list(), []grid.Request{job}, Options{Algorithm: Best, Weights: c.weights})
		if len(r.Alternatives[0]) != len(c.want) {
			t.Fatalf("%s: %d alternatives, want %d", c.name, len(r.Alternatives[0]), len(c.want))
		}
		for i, w := range r.Alternatives[0] {
			if w.Parts[0].Group != c.want[i] {
				t.Errorf("%s: alternative %d is on %d, want %d", c.name, i+1, w.Parts[0].Group, c.want[i])
			}
		}
	}
}

// Weights times budgets of more than 64 bits are weighed as they are.
func TestBest_WeighsLargeBudgets(t *testing.T) {
	t.Parallel()
	groups := []grid.Group{{Name: "slow", Nodes: 1, Performance: grid.Unit}, {Name: "quick", Nodes: 1, Performance: 2 * grid.Unit}}
	l, err := Named(groups, []grid.Slot{
		{Group: 0, Count: 1, End: 200_000, Performance: grid.Unit, Price: 1},
		{Group: 1, Count: 1, End: 200_000, Performance: 2 * grid.Unit, Price: 40_000_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := grid.Request{Nodes: 1, Length: 100 * grid.Second, MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Deadline: grid.Never}
	for _, budget := range []grid.Credits{1 << 40, 1 << 45, 1 << 46, 1 << 50, grid.MaxBudget} {
		r.Budget = budget
		for _, c := range []struct {
			by   Weights
			want int32
		}{{Weights{Time: 1 << 19, Cost: 1}, 1}, {Weights{Finish: 1 << 19, Cost: 1}, 1}, {Weights{Time: 0, Cost: 1 << 19}, 0}} {
			if w, why := NewFinder(l).Find(r, Best, c.by, 0); why.Refused() || w.Parts[0].Group != c.want {
				t.Errorf("by %+v within %v: %+v (%v)", c.by, budget, w, why)
			}
		}
	}
}

// Of windows that score alike the shorter comes first, then the cheaper, then the earlier: a dear one
// early and a cheap one late take as long, and so do two of one price.
func TestBest_OfEqualScoresTheCheaperThenTheEarlier(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prices [2]grid.Price
		perf   [2]grid.Performance
		by     Weights
		want   int32
	}{
		{[2]grid.Price{3_600_000, 1_800_000}, [2]grid.Performance{1000, 1000}, Weights{Time: 1000}, 1},
		{[2]grid.Price{1_800_000, 1_800_000}, [2]grid.Performance{1000, 1000}, Weights{Time: 1000}, 0},
		{[2]grid.Price{1_800_000, 3_600_000}, [2]grid.Performance{1000, 2000}, Weights{Cost: 1000}, 1}, // one cost, half as long
	} {
		var groups []grid.Group
		var slots []grid.Slot
		for i := range c.prices {
			groups = append(groups, grid.Group{Name: string(rune('a' + i)), Nodes: 1, Performance: c.perf[i]})
			slots = append(slots, grid.Slot{Group: int32(i), Count: 1, Start: grid.Time(i) * 50_000, End: 300_000, Performance: c.perf[i], Price: c.prices[i]})
		}
		l, err := Named(groups, slots)
		if err != nil {
			t.Fatal(err)
		}
		r := grid.Request{Nodes: 1, Length: 100 * grid.Second, MinPerformance: grid.Unit, MaxPrice: 10_000_000, Deadline: grid.Never}
		r.Budget = r.DefaultBudget()
		w, why := NewFinder(l).Find(r, Best, c.by, 0)
		if why.Refused() || w.Parts[0].Group != c.want {
			t.Errorf("prices %v, by %+v: %+v %v, want group %d", c.prices, c.by, w, why, c.want)
		}
	}
}

// Best knows all that is free at once, however much that is: here each node that comes free
// is cheaper than all before it.
func TestBest_FindsTheLastOfMany(t *testing.T) {
	t.Parallel()
	const many = 5 * arrayMost
	var groups []grid.Group
	var slots []grid.Slot
	for i := range many {
		groups = append(groups, grid.Group{Name: fmt.Sprint(i), Nodes: 1, Performance: grid.Unit})
		slots = append(slots, grid.Slot{Group: int32(i), Count: 1, Start: grid.Time(i), End: grid.MaxTime, Performance: grid.Unit, Price: grid.Price(2*many - i)})
	}
	l, err := Named(groups, slots)
	if err != nil {
		t.Fatal(err)
	}
	job := grid.Request{Nodes: 2, Length: grid.Hour, MinPerformance: grid.Unit, MaxPrice: 3 * many, Deadline: grid.Never}
	job.Budget = job.DefaultBudget()
	if w, why := NewFinder(l).Find(job, Best, Weights{Cost: 1000}, 0); why.Refused() || w.Start != many-1 || w.Cost != 2*many+3 {
		t.Errorf("at %v for %v (%v), want the last two at %v for %v", w.Start, w.Cost, why, grid.Time(many-1), grid.Credits(2*many+3))
	}
}

// Best makes 12 passes over a batch, though a node that is free for ever has more windows.
func TestBest_MakesTwelvePasses(t *testing.T) {
	t.Parallel()
	l, err := Named([]grid.Group{{Name: "a", Nodes: 1}}, []grid.Slot{{Count: 1, End: grid.MaxTime, Performance: grid.Unit, Price: 1}})
	if err != nil {
		t.Fatal(err)
	}
	job := grid.Request{Nodes: 1, Length: grid.Hour, MinPerformance: grid.Unit, MaxPrice: 1, Deadline: grid.Never, Budget: 100}
	if r := Batch(l, []grid.Request{job}, Options{Algorithm: Best}); r.Passes != 12 || len(r.Alternatives[0]) != 12 {
		t.Errorf("%d alternatives in %d passes, want 12 in 12", len(r.Alternatives[0]), r.Passes)
	}
}
