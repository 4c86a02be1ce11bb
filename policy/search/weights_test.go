package search

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

// A dear slot early and a cheap one late: what is weighed says which comes first.
func TestBatch_OwnWeightsHoldForAllPasses(t *testing.T) {
	t.Parallel()
	node := func(name string) bourse.Group {
		return bourse.Group{Name: name, Nodes: 1, Performance: bourse.Unit}
	}
	list := func() *List {
		l, err := Named([]bourse.Group{node("fast"), node("cheap")}, []bourse.Slot{
			{Group: 0, Count: 1, Start: 0, End: 100_000, Performance: 2 * bourse.Unit, Price: 40_000_000},
			{Group: 1, Count: 1, Start: 50_000, End: 250_000, Performance: bourse.Unit, Price: 1_000_000},
		})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	job := bourse.Request{Nodes: 1, Length: 100 * bourse.Second, MinPerformance: bourse.Unit,
		MaxPrice: 40_000_000, Deadline: bourse.Never}
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
		r := Batch(list(), []bourse.Request{job}, Options{Algorithm: Best, Weights: c.weights})
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
