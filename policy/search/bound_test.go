package search

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A node that is free for ever has windows without end for a short job.
func TestBatch_BreaksOffAtMaxParts(t *testing.T) {
	t.Parallel()
	job := grid.Request{Nodes: 1, Length: grid.Second, MinPerformance: grid.Unit, MaxPrice: 1_000_000, Deadline: grid.Never}
	job.Budget = job.DefaultBudget()
	batch := func(end grid.Time, jobs, parts int) Result {
		l, err := Named([]grid.Group{{Name: "a", Nodes: 1}},
			[]grid.Slot{{Count: 1, End: end, Performance: grid.Unit, Price: 1_000_000}})
		if err != nil {
			t.Fatal(err)
		}
		requests := make([]grid.Request, jobs)
		for i := range requests {
			requests[i] = job
		}
		return Batch(l, requests, Options{Algorithm: AMP, MaxParts: parts})
	}
	if r := batch(grid.MaxTime, 1, 50); !r.Cut || len(r.Alternatives[0]) != 50 {
		t.Errorf("%d alternatives, cut %v; want 50, cut", len(r.Alternatives[0]), r.Cut)
	}
	if r := batch(grid.MaxTime, 2, 3); !r.Cut || len(r.Alternatives[0]) != 2 || len(r.Alternatives[1]) != 1 {
		t.Errorf("two jobs have %d and %d alternatives, cut %v; want 2 and 1, cut",
			len(r.Alternatives[0]), len(r.Alternatives[1]), r.Cut)
	}
	if r := batch(grid.Time(40*grid.Second), 1, 50); r.Cut || len(r.Alternatives[0]) != 40 {
		t.Errorf("%d alternatives, cut %v; want 40, all there are", len(r.Alternatives[0]), r.Cut)
	}
}
