package simulation

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
)

// Two jobs of two nodes end in one instant, long before their estimates. Looked at once, all
// four nodes are free, and the head starts. Looked at after the first end, only two are: the head
// may expect the other two at 20, and the small job behind it fits before that.
func TestReplay_PassAfterEachEvent(t *testing.T) {
	t.Parallel()
	jobs := []grid.LocalJob{
		{ID: 1, Submit: 0, Nodes: 2, Run: 10_000, Estimate: 20_000}, {ID: 2, Submit: 0, Nodes: 2, Run: 10_000, Estimate: 20_000},
		{ID: 3, Submit: 1_000, Nodes: 4, Run: 10_000, Estimate: 10_000}, {ID: 4, Submit: 2_000, Nodes: 2, Run: 5_000, Estimate: 5_000},
	}
	for each, want := range map[bool][]grid.Time{false: {0, 0, 10_000, 20_000}, true: {0, 0, 15_000, 10_000}} {
		r, err := RunReplay(jobs, ReplayOptions{Nodes: 4, Policy: backfill.EASY, EachEvent: each})
		if err != nil {
			t.Fatal(err)
		}
		var starts []grid.Time
		for i := range r.Outcomes {
			starts = append(starts, r.Outcomes[i].Start)
		}
		if !slices.Equal(starts, want) {
			t.Errorf("after each event %t: starts are %v, want %v", each, starts, want)
		}
	}
}

// Many events share an instant, jobs end at their limits, beyond their predictions and early:
// every job runs, no node is taken twice, and where no two events share an instant nothing
// differs.
func TestReplay_PassAfterEachEventRunsAllJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "jobs")
		apart := rapid.Bool().Draw(t, "no two events share an instant")
		jobs := make([]grid.LocalJob, n)
		for i := range jobs {
			j := grid.LocalJob{ID: int64(i + 1), User: int64(i % 3), Submit: grid.Time(rapid.IntRange(0, 8).Draw(t, "submit")) * 1000, Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"),
				Run: grid.Duration(rapid.IntRange(0, 6).Draw(t, "run")) * 1000, Estimate: grid.Duration(rapid.IntRange(1, 6).Draw(t, "estimate")) * 1000}
			jobs[i] = j
		}
		slices.SortStableFunc(jobs, func(a, b grid.LocalJob) int { return int(a.Submit - b.Submit) })
		if apart { // one job at a time
			for i := range jobs {
				jobs[i].Submit = grid.Time(i) * 20_000
				jobs[i].Nodes = 4
				jobs[i].Run = max(jobs[i].Run, 1000)
			}
		}
		opt := ReplayOptions{Nodes: 4, EachEvent: true, Extend: rapid.Bool().Draw(t, "extend"),
			Policy:    rapid.SampledFrom([]backfill.Policy{backfill.EASY, backfill.FCFS, backfill.Conservative}).Draw(t, "policy"),
			Estimates: rapid.SampledFrom([]estimates.Rule{estimates.Request, estimates.Tsafrir}).Draw(t, "estimates")}
		a, err := RunReplay(jobs, opt)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Outcomes {
			x := &a.Outcomes[i]
			used := 0
			for k := range a.Outcomes {
				if y := &a.Outcomes[k]; y.Start <= x.Start && y.End > x.Start {
					used += y.Job.Nodes
				}
			}
			if !x.Ran() || used > 4 {
				t.Fatalf("job %d starts at %v, where %d nodes of 4 are used", x.Job.ID, x.Start, used)
			}
		}
		opt.EachEvent = false
		b, err := RunReplay(jobs, opt)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Outcomes {
			if apart && a.Outcomes[i].Start != b.Outcomes[i].Start {
				t.Fatalf("job %d starts at %v, and looked at once an instant at %v", i+1, a.Outcomes[i].Start, b.Outcomes[i].Start)
			}
		}
	})
}
