package driven

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// firstCome is FCFS as an outside would write it.
type firstCome struct {
	queue []Job
	free  int
}

func (f *firstCome) answer(r *Request) (a Answer) {
	f.queue, f.free = append(f.queue, r.Arrived...), r.Free
	for len(f.queue) > 0 && f.queue[0].Nodes <= f.free {
		a.Start = append(a.Start, f.queue[0].ID)
		f.free -= f.queue[0].Nodes
		f.queue = f.queue[1:]
	}
	a.Wake = grid.Never
	return a
}

// The outcome of FCFS from outside is that of the policy, to the class of each start.
func TestWorld_FirstComeIsThePolicys(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(3000, 64, 0.9, 1)
	jobs[7].Nodes = 65
	for _, extend := range []bool{false, true} {
		want, err := simulation.RunReplay(jobs, simulation.ReplayOptions{Nodes: 64, Policy: backfill.FCFS, Extend: extend})
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(jobs, 64, extend)
		if err != nil {
			t.Fatal(err)
		}
		var f firstCome
		for {
			r, ok, err := w.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			a := f.answer(r)
			if err := w.Apply(&a); err != nil {
				t.Fatal(err)
			}
		}
		ran := slices.DeleteFunc(slices.Clone(want.Outcomes), func(o simulation.Outcome) bool { return !o.Ran() })
		if got := w.Outcomes(); !slices.Equal(got, ran) || w.Refused() != 1 {
			t.Errorf("extend %v: %d outcomes, or other ones; the policy has %d", extend, len(got), len(ran))
		}
	}
}

func small(t *testing.T) *World {
	t.Helper()
	w, err := New([]grid.LocalJob{
		{ID: 3, Nodes: 3, Run: 10_000, Estimate: 20_000, User: 5},
		{ID: 4, Nodes: 2, Run: 10_000, Estimate: 20_000, Submit: 1000, User: -1},
		{ID: 9, Nodes: 1, Run: 5000, Estimate: 5000, Submit: 30_000},
	}, 4, false)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Each wrong answer ends the run with the time, the job and what would be right.
func TestApply_RefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		first, then Answer
		want        string
	}{
		{Answer{Start: []int64{7}}, Answer{}, "at 0: start of job 7, which is unknown; only jobs that have arrived and wait can be started"},
		{Answer{Start: []int64{9}}, Answer{}, "at 0: start of job 9, which is unknown"}, // it comes later
		{Answer{Start: []int64{3, 3}}, Answer{}, "at 0: start of job 3, which runs already"},
		{Answer{Start: []int64{3}}, Answer{Start: []int64{4}}, "at 1: start of job 4, which needs 2 nodes; 1 are free; start it once they are"},
		{Answer{Kill: []int64{3}}, Answer{}, "at 0: kill of job 3, which waits; only jobs that run can be killed"},
		{Answer{Start: []int64{3}}, Answer{Kill: []int64{3, 3}}, "at 1: kill of job 3, which was killed"},
		{Answer{Start: []int64{3}}, Answer{Reject: []int64{3}}, "at 1: reject of job 3, which runs already"},
		{Answer{Reject: []int64{3}, Start: []int64{3}}, Answer{}, "at 0: start of job 3, which was rejected"},
		{Answer{Wake: -5}, Answer{}, "at 0: wake -0.005 is not later; leave it out, or give a later instant"},
	} {
		w := small(t)
		var err error
		for _, a := range []*Answer{&x.first, &x.then} {
			if a.Wake == 0 {
				a.Wake = grid.Never
			}
			if _, _, err = w.Next(); err != nil {
				break
			}
			if err = w.Apply(a); err != nil {
				break
			}
		}
		if err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %s", x.first, err, x.want)
		}
	}
}

func TestNext_SaysThatJobsWaitForEver(t *testing.T) {
	t.Parallel()
	w := small(t)
	for {
		_, ok, err := w.Next()
		if err != nil {
			if want := "at 30: 3 jobs wait for ever, job 3 first: nothing runs, is due or arrives; start or reject them, or ask for a wake"; err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			return
		}
		if !ok {
			t.Fatal("all is over, though three jobs wait")
		}
		if err := w.Apply(&Answer{Wake: grid.Never}); err != nil {
			t.Fatal(err)
		}
	}
}

// A killed job's nodes are free at once and its end is not told; a wish is carried out once,
// and a later one replaces it.
func TestNext_WakesAndKills(t *testing.T) {
	t.Parallel()
	w := small(t)
	step := func(now grid.Time, free, ended, arrived int, a Answer) {
		t.Helper()
		if a.Wake == 0 {
			a.Wake = grid.Never
		}
		r, ok, err := w.Next()
		if err != nil || !ok || r.Now != now || r.Free != free || len(r.Ended) != ended || len(r.Arrived) != arrived {
			t.Fatalf("%+v, %v, %v; want at %v %d free, %d ended, %d arrived", r, ok, err, now, free, ended, arrived)
		}
		if err := w.Apply(&a); err != nil {
			t.Fatal(err)
		}
	}
	step(0, 4, 0, 1, Answer{Start: []int64{3}, Wake: 5000})
	step(1000, 1, 0, 1, Answer{Kill: []int64{3}, Start: []int64{4}, Wake: 3000})
	step(3000, 2, 0, 0, Answer{})
	step(11_000, 4, 1, 0, Answer{})
	step(30_000, 4, 0, 1, Answer{Reject: []int64{9}, Wake: 99_000})
	if _, ok, err := w.Next(); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if o := w.Outcomes(); o[0].End != 1000 || o[1].End != 11_000 || o[2].Ran() || w.Refused() != 1 {
		t.Errorf("%+v", o)
	}
}

func TestNew_RefusesTwoJobsOfOneNumber(t *testing.T) {
	t.Parallel()
	if _, err := New([]grid.LocalJob{{ID: 3, Nodes: 1}, {ID: 3, Nodes: 1}}, 4, false); err == nil || !strings.Contains(err.Error(), "two jobs have the number 3") {
		t.Error(err)
	}
}

// Whoever decides, at no instant are more nodes taken than there are, and each job that was
// started has run for its time or was killed.
func TestWorld_TakesNoNodeTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs := workloadtest.Drawn(rapid.IntRange(1, 40).Draw(t, "jobs"), 8, 0.9, rapid.Uint64().Draw(t, "seed"))
		w, err := New(jobs, 8, false)
		if err != nil {
			t.Fatal(err)
		}
		sizes, waiting, running := map[int64]int{}, []int64{}, map[int64]int{}
		for {
			r, ok, err := w.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			for _, id := range r.Ended {
				delete(running, id)
			}
			for _, j := range r.Arrived {
				sizes[j.ID] = j.Nodes
				waiting = append(waiting, j.ID)
			}
			taken := 0
			for _, n := range running {
				taken += n
			}
			if taken+r.Free != 8 {
				t.Fatalf("%d taken, %d free", taken, r.Free)
			}
			a, free := Answer{Wake: grid.Never}, r.Free
			waiting = slices.DeleteFunc(waiting, func(id int64) bool {
				if sizes[id] > free || len(running) > 0 && rapid.Bool().Draw(t, "later") {
					return false
				}
				free -= sizes[id]
				running[id] = sizes[id]
				a.Start = append(a.Start, id)
				return true
			})
			if err := w.Apply(&a); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range w.Outcomes() {
			if o.Ran() && (o.Start < o.Job.Submit || o.End.Sub(o.Start) != min(o.Job.Run, o.Job.Limit())) {
				t.Fatalf("%+v", o)
			}
		}
	})
}
