package queue

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"

	"pgregory.net/rapid"
)

// A user may run one job at a time. The second waits although there are free nodes, and
// holds up nobody, not even under first come first served. It starts when the first ends.
func TestLimits_WhatIsBeyondARunningLimitWaitsAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for _, policy := range []backfill.Policy{backfill.FCFS, backfill.FirstFit, backfill.EASY, backfill.EASYShortest, backfill.Conservative} {
		q, d := openQueue(Options{Nodes: 4, Policy: policy, Limits: JobLimits{UserRunning: 1}},
			grid.LocalJob{ID: 1, Nodes: 1, Run: 10, Estimate: 10, User: 7},
			grid.LocalJob{ID: 2, Submit: 1, Nodes: 1, Run: 10, Estimate: 10, User: 7},
			grid.LocalJob{ID: 3, Submit: 2, Nodes: 3, Run: 20, Estimate: 20, User: 8},
			grid.LocalJob{ID: 4, Submit: 3, Nodes: 4, Run: 5, Estimate: 5, User: -1})
		q.Advance(2)
		class := "backfilled" // job 2 waits before it
		if !policy.Conservative() {
			class = "immediate"
		}
		d.want(t, "start 1 immediate until 10\nstart 3 "+class+" until 22")
		q.Advance(10)
		d.want(t, "end 1 at 10 killed false\nstart 2 reserved until 20")
		q.Advance(grid.MaxTime)
		d.want(t, "end 2 at 20 killed false\nend 3 at 22 killed false\nstart 4 reserved until 27\nend 4 at 27 killed false")
	}
}

// A job that can never start is refused with the limit, and so is one more job that
// waits than may.
func TestLimits_WhatIsBeyondABoundIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	opt := Options{Nodes: 8, Policy: backfill.EASY, Limits: JobLimits{Length: 100, UserNodes: 4},
		Queues: []Named{{Limits: JobLimits{Waiting: 2, UserWaiting: 1}}, {Name: "small", Limits: JobLimits{Nodes: 2}}}}
	jobs := []grid.LocalJob{
		{ID: 1, Nodes: 4, Run: 10, Estimate: 50, User: 7},
		{ID: 2, Nodes: 1, Run: 10, Estimate: 101, User: 7},
		{ID: 3, Nodes: 5, Run: 10, Estimate: 50, User: 7},
		{ID: 4, Nodes: 5, Run: 10, Estimate: 50, User: -1}, // nobody knows whose it is
		{ID: 5, Nodes: 3, Run: 10, Estimate: 50, User: 7, Queue: 1},
		{ID: 6, Submit: 1, Nodes: 4, Run: 10, Estimate: 50, User: 7},
		{ID: 7, Submit: 2, Nodes: 4, Run: 10, Estimate: 50, User: 7},
		{ID: 8, Submit: 2, Nodes: 1, Run: 10, Estimate: 50, User: 8, Queue: 1}, // another queue
		{ID: 9, Submit: 3, Nodes: 1, Run: 10, Estimate: 50, User: 9},
	}
	q, _ := openQueue(opt, jobs...)
	said := refusals{}
	q.Watch(said)
	q.Advance(3)
	for id, want := range map[int64]string{2: "asks for 0.101 s, jobs may ask for 0.1 s", 3: "a user may have 4", 5: "jobs may have 2 in all",
		7: "1 jobs of user 7 wait already", 9: "2 jobs wait already"} {
		if !strings.Contains(said[id], want) {
			t.Errorf("job %d: %q, want %q", id, said[id], want)
		}
	}
	if len(said) != 5 {
		t.Errorf("refused: %v", said)
	}
}

type refusals map[int64]string

func (refusals) Started(*grid.LocalJob, *backfill.Start)          {}
func (refusals) Ended(*grid.LocalJob, grid.Time, grid.Time, bool) {}
func (r refusals) Refused(j *grid.LocalJob, why grid.Reason)      { r[j.ID] = why.Detail }

// tally counts by itself what runs and waits, and remembers what was beyond its limits.
type tally struct {
	limits         JobLimits
	running, nodes map[int64]int
	wrong          string
}

func (x *tally) Started(j *grid.LocalJob, _ *backfill.Start) {
	x.running[j.User]++
	if x.nodes[j.User] += j.Nodes; x.running[j.User] > x.limits.UserRunning || x.nodes[j.User] > x.limits.UserNodes {
		x.wrong = "too much of a user runs"
	}
}

func (x *tally) Ended(j *grid.LocalJob, _, _ grid.Time, _ bool) {
	x.running[j.User]--
	x.nodes[j.User] -= j.Nodes
}

func (x *tally) Refused(*grid.LocalJob, grid.Reason) {}

// Whatever is submitted, no user exceeds the limits, every job that enters runs, and under
// first fit no job waits that could start, by an account of the test's own.
func TestLimits_HoldAtEveryInstantAndNobodyWaitsForNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]backfill.Policy{backfill.FCFS, backfill.FirstFit, backfill.EASY, backfill.EASYShortest, backfill.EASYFair, backfill.Conservative}).Draw(t, "policy")
		x := &tally{JobLimits{UserRunning: rapid.IntRange(1, 3).Draw(t, "running"), UserNodes: 4}, map[int64]int{}, map[int64]int{}, ""}
		var jobs []grid.LocalJob
		at := grid.Time(0)
		for id := range rapid.IntRange(1, 30).Draw(t, "jobs") {
			at += grid.Time(rapid.IntRange(0, 5).Draw(t, "gap"))
			jobs = append(jobs, grid.LocalJob{ID: int64(id), Submit: at, User: int64(rapid.IntRange(0, 2).Draw(t, "user")),
				Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), Estimate: 20, Run: grid.Duration(rapid.IntRange(0, 25).Draw(t, "run"))})
		}
		q, _ := openQueue(Options{Nodes: 6, Policy: policy, Limits: x.limits}, jobs...)
		q.Watch(x)
		for next := q.Next(); next < grid.Never; next = q.Next() {
			q.Advance(next)
			s := q.State()
			if err := s.Audit(); err != nil && q.Next() > next {
				t.Fatal(err)
			}
			for _, w := range s.Queue {
				j := jobs[w.ID]
				free := s.Free.At(s.Now) >= j.Nodes && x.running[j.User] < x.limits.UserRunning && x.nodes[j.User]+j.Nodes <= x.limits.UserNodes
				if free && policy == backfill.FirstFit && q.Next() > next {
					t.Fatalf("job %d waits at %v for nothing", w.ID, next)
				}
			}
		}
		if x.wrong != "" || q.State().Queue != nil && len(q.State().Queue) > 0 || q.Refused() > 0 {
			t.Fatalf("%s; %d wait for ever, %d are refused", x.wrong, len(q.State().Queue), q.Refused())
		}
	})
}
