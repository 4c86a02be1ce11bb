package forecast

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// recordOf replays jobs and returns what became of them.
func recordOf(jobs []grid.LocalJob, nodes int, policy backfill.Policy) *Record {
	q := queue.New(queue.Options{Nodes: nodes, Policy: policy, Start: jobs[0].Submit})
	w := starts{}
	q.Watch(w)
	q.Feed(queue.Jobs(jobs))
	for t := q.Next(); t < grid.Never; t = q.Next() {
		q.Advance(t)
	}
	r := &Record{Nodes: nodes, Policy: policy}
	for i := range jobs {
		j := &jobs[i]
		start := w[j.ID]
		r.Jobs = append(r.Jobs, Recorded{Nodes: j.Nodes, Limit: j.Estimate, Submit: j.Submit, Start: start, End: start.Add(min(j.Run, j.Estimate))})
	}
	return r
}

func one(int) Random { return seeded(1) }

// Where everybody runs to the limit and nobody overtakes, the queue that is rebuilt from the
// record tells the start, to the second.
func TestLearn_RebuildsTheQueueOfEachInstant(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(300, 64, 1, 5)
	for i := range jobs {
		jobs[i].Run = jobs[i].Estimate
	}
	r := recordOf(jobs, 64, backfill.FCFS)
	var f Forecaster
	var said []*Said
	f.Learn(r, 100, 10, one, func(s *Said) { said = append(said, s) })
	if len(said) != 100 || r.Waited() < 100 {
		t.Fatalf("%d forecasts, %d waited", len(said), r.Waited())
	}
	for _, s := range said {
		if at := s.Submit.Add(grid.Duration(s.Draws[0] * 1000)); at != r.Jobs[s.ID].Start || s.Draws[0] != s.Draws[9] {
			t.Errorf("job %d: %v, started at %v", s.ID, at, r.Jobs[s.ID].Start)
		}
	}
	if f.Runs.Jobs() != 300 || len(f.jobs) != 0 {
		t.Errorf("%d ended, %d left", f.Runs.Jobs(), len(f.jobs))
	}
}

// The order in which a record lists jobs does not matter, nor do jobs that cannot be, nor how
// those go on that come later.
func TestLearn_ReadsNothingOfLater(t *testing.T) {
	t.Parallel()
	r := recordOf(workloadtest.Drawn(300, 64, 1, 6), 64, backfill.EASY)
	bands := func(r *Record, until grid.Time) (list []Draws) {
		var f Forecaster
		f.Learn(r, 1<<30, 10, one, func(s *Said) {
			if s.Submit <= until {
				list = append(list, s.Draws)
				for _, b := range s.Bands {
					list = append(list, Draws{b.Lower, b.Median, b.Upper})
				}
			}
		})
		return list
	}
	same := func(a, b []Draws) bool { return slices.EqualFunc(a, b, slices.Equal[Draws]) }
	until := r.Jobs[200].Submit
	all := bands(r, until)
	other := &Record{Nodes: r.Nodes, Policy: r.Policy, Jobs: []Recorded{{Nodes: 65, Limit: 1, Submit: 0, Start: 1, End: 2}, {Nodes: 1, Submit: 0, Start: 1, End: 2}}}
	for _, j := range r.Jobs {
		if j.Submit > until {
			continue
		}
		if j.End > until {
			j.End = until.Add(grid.Day)
		}
		if j.Start > until {
			j.Start, j.End = until.Add(grid.Day), until.Add(2*grid.Day)
		}
		other.Jobs = append(other.Jobs, j)
	}
	if got := bands(other, until); len(all) < 100 || !same(all, got) {
		t.Errorf("%d forecasts by then, %d without what came later, or others", len(all), len(got))
	}
	if same(all, bands(r, grid.Never)) {
		t.Error("nothing comes later")
	}
}
