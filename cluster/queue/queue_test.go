package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"

	"pgregory.net/rapid"
)

// diary writes down what a queue does, one line each.
type diary struct{ lines []string }

func (d *diary) Started(j *grid.LocalJob, s *backfill.Start) {
	d.lines = append(d.lines, fmt.Sprintf("start %d %v until %d", j.ID, s.Class, s.End))
}

func (d *diary) Ended(j *grid.LocalJob, start, end grid.Time, killed bool) {
	d.lines = append(d.lines, fmt.Sprintf("end %d at %d killed %v", j.ID, end, killed))
}

func (d *diary) Refused(j *grid.LocalJob, why grid.Reason) {
	d.lines = append(d.lines, fmt.Sprintf("refuse %d %s", j.ID, why.Code))
}

func (d *diary) want(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(d.lines, "\n"); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
	d.lines = nil
}

func openQueue(opt Options, jobs ...grid.LocalJob) (*Queue, *diary) {
	q, d := New(opt), &diary{}
	q.Watch(d)
	q.Feed(Jobs(jobs))
	return q, d
}

func TestQueue_EndsBeforeArrivalsThenOnePass(t *testing.T) {
	t.Parallel()
	q, d := openQueue(Options{Nodes: 4, Policy: backfill.EASY},
		grid.LocalJob{ID: 1, Nodes: 4, Run: 10, Estimate: 20},
		grid.LocalJob{ID: 2, Submit: 10, Nodes: 2, Run: 5, Estimate: 5},
		grid.LocalJob{ID: 3, Submit: 10, Nodes: 2, Run: 9, Estimate: 5},
		grid.LocalJob{ID: 4, Submit: 11, Nodes: 5, Run: 9, Estimate: 5},
		grid.LocalJob{ID: 2, Submit: 11, Nodes: 1, Run: 9, Estimate: 5},
	)
	q.Advance(grid.MaxTime)
	d.want(t, `
start 1 immediate until 20
end 1 at 10 killed false
start 2 immediate until 15
start 3 immediate until 15
refuse 4 too-large
refuse 2 conflict
end 2 at 15 killed false
end 3 at 15 killed true`)
	if q.Passes() != 4 || q.Refused() != 2 || q.Next() != grid.Never {
		t.Errorf("%d passes, %d refused, next %v; want 4, 2, never", q.Passes(), q.Refused(), q.Next())
	}
}

func TestQueue_MessageLaterInTheInstantArmsThePassAgain(t *testing.T) {
	t.Parallel()
	q, d := openQueue(Options{Nodes: 4, Policy: backfill.EASY},
		grid.LocalJob{ID: 1, Submit: 5, Nodes: 2, Run: 10, Estimate: 10})
	if why := q.Reserve(0, backfill.Reserved{ID: 7, Nodes: 3, Start: 5, End: 50}); why.Refused() {
		t.Fatal(why)
	}
	if q.Next() != 0 {
		t.Errorf("after a reservation at 0 the next pass is due at %v", q.Next())
	}
	q.Advance(20)
	d.want(t, "")
	if why := q.Reserve(20, backfill.Reserved{ID: 8, Nodes: 2, Start: 30, End: 31}); why.Code != grid.Busy {
		t.Errorf("a second reservation: %+v, want busy", why)
	}
	if !q.Release(20, 7) || q.Release(20, 7) {
		t.Error("a reservation is released once")
	}
	if q.Next() != 20 {
		t.Errorf("after a release at 20 the next pass is due at %v", q.Next())
	}
	q.Advance(20)
	d.want(t, "start 1 reserved until 30")
}

func TestQueue_CancelledJobNeverStarts(t *testing.T) {
	t.Parallel()
	q, d := openQueue(Options{Nodes: 1, Policy: backfill.Conservative},
		grid.LocalJob{ID: 1, Nodes: 1, Run: 10, Estimate: 10},
		grid.LocalJob{ID: 2, Nodes: 1, Run: 10, Estimate: 10},
		grid.LocalJob{ID: 3, Nodes: 1, Run: 10, Estimate: 10})
	q.Advance(3)
	if !q.Cancel(3, 2) || q.Cancel(3, 2) || q.Cancel(3, 1) {
		t.Error("a waiting job is cancelled once, a running one never")
	}
	q.Advance(grid.MaxTime)
	d.want(t, `
start 1 immediate until 10
end 1 at 10 killed false
start 3 reserved until 20
end 3 at 20 killed false`)
}

func TestQueue_OverrunIsExtendedUntilAReservationNeedsTheNodes(t *testing.T) {
	t.Parallel()
	q, d := openQueue(Options{Nodes: 1, Policy: backfill.EASY, Extend: true},
		grid.LocalJob{ID: 1, Nodes: 1, Run: 100, Estimate: 10})
	q.Reserve(0, backfill.Reserved{ID: 1, Nodes: 1, Start: 25, End: 26})
	q.Advance(grid.MaxTime)
	d.want(t, "start 1 immediate until 10\nend 1 at 20 killed true")
}

// User 1's first job has a request of 10 h and runs 2 min, so that the next one is taken
// to run as long: it overtakes job 3, which waits for both nodes until job 2 ends. It runs for
// 20 min though: the prediction is put right after 2, 3 and 18 min, and job 3 waits.
func TestQueue_APredictionLetsAJobOvertakeAndIsPutRightWhenItIsOutlived(t *testing.T) {
	t.Parallel()
	const m = grid.Minute
	jobs := []grid.LocalJob{
		{ID: 1, Nodes: 2, Run: 2 * m, Estimate: 600 * m, User: 1},
		{ID: 2, Submit: grid.Time(10 * m), Nodes: 1, Run: 5 * m, Estimate: 5 * m, User: 2},
		{ID: 3, Submit: grid.Time(10 * m), Nodes: 2, Run: 5 * m, Estimate: 5 * m, User: 2},
		{ID: 4, Submit: grid.Time(10 * m), Nodes: 1, Run: 20 * m, Estimate: 600 * m, User: 1},
	}
	for rule, want := range map[estimates.Rule]string{
		estimates.Request: "3 starts at 15, 4 at 20", estimates.LastTwo: "3 starts at 30, 4 at 10",
	} {
		q, _ := openQueue(Options{Nodes: 2, Policy: backfill.EASY, Estimates: rule}, jobs...)
		at := map[int64]grid.Time{}
		q.Watch(starts(at))
		q.Advance(grid.MaxTime)
		if got := fmt.Sprintf("3 starts at %d, 4 at %d", at[3]/grid.Time(m), at[4]/grid.Time(m)); got != want {
			t.Errorf("%v: %s, want %s", rule, got, want)
		}
	}
}

// starts notes when jobs start.
type starts map[int64]grid.Time

func (s starts) Started(j *grid.LocalJob, x *backfill.Start)    { s[j.ID] = x.End.Add(-x.Estimate) }
func (starts) Ended(*grid.LocalJob, grid.Time, grid.Time, bool) {}
func (starts) Refused(*grid.LocalJob, grid.Reason)              {}

// A reservation has its nodes, though the job that runs there was predicted to be over,
// and the job runs to its request.
func TestQueue_NodesThatAJobMayNeedUpToItsRequestAreNotReserved(t *testing.T) {
	t.Parallel()
	const m = grid.Minute
	q, d := openQueue(Options{Nodes: 1, Policy: backfill.EASY, Estimates: estimates.LastTwo},
		grid.LocalJob{ID: 1, Nodes: 1, Run: m, Estimate: m, User: 1},
		grid.LocalJob{ID: 2, Submit: grid.Time(2 * m), Nodes: 1, Run: 30 * m, Estimate: 10 * m, User: 1})
	q.Advance(grid.Time(2 * m))
	if p := q.State().Running[0]; p.End != grid.Time(3*m) || p.Limit != grid.Time(12*m) {
		t.Fatalf("it runs until %v, %v at most", p.End, p.Limit)
	}
	for start, free := range map[grid.Duration]bool{5 * m: false, 12 * m: true} {
		why := q.Reserve(grid.Time(2*m), backfill.Reserved{ID: int64(start), Nodes: 1, Start: grid.Time(start), End: grid.Time(start + m)})
		if why.Refused() == free || !free && !strings.Contains(why.Detail, "running job 2 holds 1 until 720") {
			t.Errorf("at %v: %v", start, why)
		}
	}
	d.lines = nil
	q.Advance(grid.MaxTime)
	d.want(t, "end 2 at 720000 killed true")
}

func TestQueue_HigherPriorityGoesFirst(t *testing.T) {
	t.Parallel()
	opt := Options{Nodes: 1, Policy: backfill.EASY, Queues: []Named{{}, {Name: "express", Priority: 5, DelayCost: 2000}}}
	q, d := openQueue(opt,
		grid.LocalJob{ID: 1, Nodes: 1, Run: 10, Estimate: 10},
		grid.LocalJob{ID: 2, Submit: 1, Nodes: 1, Run: 10, Estimate: 10},
		grid.LocalJob{ID: 3, Submit: 2, Nodes: 1, Run: 10, Estimate: 10, Queue: 1})
	q.Advance(2)
	if w := q.State().Queue; len(w) != 2 || w[0].ID != 3 || w[0].Weight != 2000 {
		t.Errorf("queue %+v, want job 3 first", w)
	}
	q.Advance(10)
	d.want(t, "start 1 immediate until 10\nend 1 at 10 killed false\nstart 3 reserved until 20")
}

func TestQueue_LimitRefusesWithAClearWord(t *testing.T) {
	t.Parallel()
	q, d := openQueue(Options{Nodes: 1, Policy: backfill.FCFS, Limit: 1},
		grid.LocalJob{ID: 1, Nodes: 1, Run: 10, Estimate: 10},
		grid.LocalJob{ID: 2, Submit: 1, Nodes: 1, Run: 10, Estimate: 10},
		grid.LocalJob{ID: 3, Submit: 2, Nodes: 1, Run: 10, Estimate: 10})
	q.Advance(2)
	d.want(t, "start 1 immediate until 10\nrefuse 3 queue-full")
}

// Reservations taken inside a query never start late, local jobs never twice,
// and the state holds its audit at every instant.
func TestQueue_KeepsReservationsWhateverTheJobsDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]backfill.Policy{backfill.FCFS, backfill.FirstFit, backfill.EASY,
			backfill.Reserving(3), backfill.Conservative}).Draw(t, "policy")
		nodes := rapid.IntRange(1, 8).Draw(t, "nodes")
		var jobs []grid.LocalJob
		var at grid.Time
		for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
			at += grid.Time(rapid.IntRange(0, 5).Draw(t, "gap"))
			jobs = append(jobs, grid.LocalJob{ID: int64(i), Submit: at, Nodes: rapid.IntRange(1, nodes).Draw(t, "n"),
				Run: grid.Duration(rapid.IntRange(0, 20).Draw(t, "run")), Estimate: grid.Duration(rapid.IntRange(0, 15).Draw(t, "estimate"))})
		}
		rule := rapid.SampledFrom([]estimates.Rule{estimates.Request, estimates.Exact, estimates.Tsafrir, estimates.LastTwo, estimates.Regression}).Draw(t, "estimates")
		for i := range jobs {
			if rule != estimates.Request { // predictions are of seconds
				jobs[i].Run, jobs[i].Estimate = 400*jobs[i].Run, 400*jobs[i].Estimate
			}
		}
		q, d := openQueue(Options{Nodes: nodes, Policy: policy, Extend: rapid.Bool().Draw(t, "extend"), Estimates: rule}, jobs...)
		taken := 0
		q.Query(func(now grid.Time, j *grid.LocalJob) bool {
			if j.ID%5 > 0 {
				return false
			}
			start := now + grid.Time(j.ID%7)
			ok := !q.Reserve(now, backfill.Reserved{ID: j.ID, Nodes: j.Nodes, Start: start, End: start.Add(3)}).Refused()
			if ok {
				taken++
			}
			return ok
		})
		for next := q.Next(); next < grid.Never; next = q.Next() {
			q.Advance(next)
			if q.Next() > next { // no zero-length job left to end at this instant
				if err := q.State().Audit(); err != nil {
					t.Fatalf("at %v: %v", next, err)
				}
			}
		}
		starts, ends := 0, 0
		slices.SortFunc(d.lines, cmp.Compare)
		for _, l := range slices.Compact(d.lines) {
			switch l[0] {
			case 's':
				starts++
			case 'e':
				ends++
			}
		}
		if starts != len(jobs)-taken || ends != starts {
			t.Fatalf("%d of %d jobs started, %d ended, %d reserved", starts, len(jobs), ends, taken)
		}
	})
}
