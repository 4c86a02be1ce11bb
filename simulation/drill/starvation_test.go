//go:build linux

package drill

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// docs/FAILURES.md: a user hands in thousands of jobs that never fit, at the
// highest priority that the API takes. Jobs of another are planned in the next
// cycle all the same, counted in the broker's journal; and what is above the user's
// bound is not taken.
func TestStarvation_OthersJobsArePlaced(t *testing.T) {
	t.Parallel()
	hopeless, others := int(forms(3_000, 10_000)), int(forms(5, 20))
	f := lay(t, plan{broker: fmt.Sprintf("max_waiting = %d\n", hopeless)})
	f.start()
	taken := 0
	for first := 0; first < hopeless+100; first += 500 {
		answer, err := f.client().Submit(context.Background(), flock("ben", first, min(500, hopeless+100-first)))
		must(t, err)
		for _, j := range answer.Jobs {
			if j.Taken {
				taken++
			} else if j.Reason == nil || j.Reason.Code != string(grid.QueueFull) {
				t.Fatalf("%s is not taken: %+v", j.Name, j.Reason)
			}
		}
	}
	if taken != hopeless {
		t.Errorf("%d of ben's %d jobs are taken, max_waiting is %d", taken, hopeless+100, hopeless)
	}
	for i := range others {
		f.place(fmt.Sprint("wave", i), 8, grid.Second, 2*time.Minute)
	}
	f.stop()
	f.verify()
	for job, cycles := range f.waited("olga") {
		if cycles > 2 {
			t.Errorf("%s was planned %d cycles after it was submitted, with nothing in its way but another user's jobs", job, cycles)
		}
	}
}

// flock is a batch of jobs of a user that cost more than they may.
func flock(user string, first, n int) api.Batch {
	b := api.Batch{ID: client.NewBatchID()}
	for i := range n {
		b.Jobs = append(b.Jobs, api.JobRequest{Name: fmt.Sprint("hopeless", first+i), User: user, Nodes: 48, Length: api.Seconds{Duration: grid.Hour},
			Budget: &api.Credits{Credits: 1}, Priority: 1_000_000})
	}
	return b
}

// waited is how many cycles closed between the submission of each of a user's jobs
// and its first try, by the broker's journal: the one that was under way, and the
// one that planned it.
func (f *federation) waited(user string) map[string]int {
	f.t.Helper()
	folder, err := journal.LookInto(f.broker.facts())
	must(f.t, err)
	defer func() { _ = folder.Close() }()
	cycles, since, tried := 0, map[string]int{}, map[string]int{}
	_, err = journal.Read(folder, journal.NewCodec(), func(r journal.Record) error {
		switch x := r.Fact.(type) {
		case facts.JobSubmitted:
			if x.Job.User == user {
				since[x.Job.Name] = cycles
			}
		case facts.CycleClosed:
			cycles++
		case facts.TxBegun:
			if at, ours := since[x.Job]; ours && tried[x.Job] == 0 {
				tried[x.Job] = cycles + 1 - at
			}
		}
		return nil
	})
	must(f.t, err)
	return tried
}
