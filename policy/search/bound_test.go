package search

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

// A node that is free for ever has windows without end for a short job.
func TestBatch_BreaksOffAtMaxParts(t *testing.T) {
	t.Parallel()
	job := bourse.Request{Nodes: 1, Length: bourse.Second, MinPerformance: bourse.Unit, MaxPrice: 1_000_000, Deadline: bourse.Never}
	job.Budget = job.DefaultBudget()
	batch := func(end bourse.Time, jobs, parts int) Result {
		l, err := Named([]bourse.Group{{Name: "a", Nodes: 1}},
			[]bourse.Slot{{Count: 1, End: end, Performance: bourse.Unit, Price: 1_000_000}})
		if err != nil {
			t.Fatal(err)
		}
		requests := make([]bourse.Request, jobs)
		for i := range requests {
			requests[i] = job
		}
		return Batch(l, requests, Options{Algorithm: AMP, MaxParts: parts})
	}
	if r := batch(bourse.MaxTime, 1, 50); !r.Cut || len(r.Alternatives[0]) != 50 {
		t.Errorf("%d alternatives, cut %v; want 50, cut", len(r.Alternatives[0]), r.Cut)
	}
	if r := batch(bourse.MaxTime, 2, 3); !r.Cut || len(r.Alternatives[0]) != 2 || len(r.Alternatives[1]) != 1 {
		t.Errorf("two jobs have %d and %d alternatives, cut %v; want 2 and 1, cut",
			len(r.Alternatives[0]), len(r.Alternatives[1]), r.Cut)
	}
	if r := batch(bourse.Time(40*bourse.Second), 1, 50); r.Cut || len(r.Alternatives[0]) != 40 {
		t.Errorf("%d alternatives, cut %v; want 40, all there are", len(r.Alternatives[0]), r.Cut)
	}
}
