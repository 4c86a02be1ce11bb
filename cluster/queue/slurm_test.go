package queue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// bySlurm are the options of a group that is served by Slurm's rules, without accounts.
func bySlurm(nodes int) Options {
	conf := slurm.Defaults()
	all := slurm.NewSet(nodes)
	for n := range nodes {
		conf.CPUs = append(conf.CPUs, 2)
		all.Add(n)
	}
	conf.Partitions = []slurm.Partition{{Name: "main", Nodes: all, Tier: 1, JobFactor: 1, MaxNodes: slurm.Unlimited, MaxTime: grid.Day}}
	conf.Priority.Size = 1000
	none := func(int64) int { return -1 }
	return Options{Nodes: nodes, Policy: backfill.Reserving(conf.Scheduler.MaxJobTest),
		Slurm: &Slurm{Config: &conf, Assoc: none, QOS: func(int) int { return -1 }}}
}

// startsOf collects starts and refusals.
type startsOf struct {
	nobody
	at      map[int64]grid.Time
	refused map[int64]grid.Reason
}

func (s startsOf) Started(j *grid.LocalJob, x *backfill.Start) { s.at[j.ID] = x.End.Add(-x.Estimate) }
func (s startsOf) Refused(j *grid.LocalJob, why grid.Reason)   { s.refused[j.ID] = why }

// A queue starts each job when the twin of the same jobs does, and refuses what the partition does.
func TestSlurm_StartsAreTheTwins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		opt := bySlurm(6)
		var jobs []grid.LocalJob
		var twins []slurm.Job
		at := grid.Time(0)
		for i := range rapid.IntRange(1, 30).Draw(rt, "jobs") {
			at = at.Add(grid.Duration(rapid.IntRange(0, 200_000).Draw(rt, "after")))
			limit := grid.Duration(rapid.IntRange(1, 1000).Draw(rt, "limit")) * grid.Second
			j := grid.LocalJob{ID: int64(i + 1), Submit: at, Nodes: rapid.IntRange(1, 6).Draw(rt, "nodes"), Estimate: limit,
				Run: min(limit, grid.Duration(rapid.IntRange(1, 1_000_000).Draw(rt, "run")))}
			jobs = append(jobs, j)
			twins = append(twins, slurm.Job{ID: j.ID, Array: j.ID, Submit: at, QOS: -1, Assoc: -1, Reservation: -1, Nodes: j.Nodes, CPUs: 2 * j.Nodes, Limit: limit, Run: j.Run, Started: grid.Never})
		}
		tw := slurm.New(opt.Slurm.Config, twins, slurm.Options{})
		tw.Run()
		opt.Start = jobs[0].Submit
		q := New(opt)
		got := startsOf{at: map[int64]grid.Time{}, refused: map[int64]grid.Reason{}}
		q.Watch(got)
		q.Feed(Jobs(jobs))
		for q.Next() < grid.Never {
			q.Advance(q.Next())
			if err := q.State().Audit(); err != nil {
				rt.Fatal(err)
			}
		}
		for i := range jobs {
			if want := tw.Outcome(i).Start; got.at[jobs[i].ID] != want {
				rt.Fatalf("job %d starts at %v, by the twin at %v", jobs[i].ID, got.at[jobs[i].ID], want)
			}
		}
	})
}

// Reservations come, go and are released beside the queue; what the twin starts has its nodes in the
// group, too, which Begin would panic about.
func TestSlurm_ReservationsAndTheQueueAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		nodes := rapid.IntRange(1, 8).Draw(rt, "nodes")
		q := New(bySlurm(nodes))
		now, id := grid.Time(0), int64(0)
		seconds := func(most int, name string) grid.Duration {
			return grid.Duration(rapid.IntRange(1, most).Draw(rt, name)) * grid.Second
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "time passes") {
				now = now.Add(seconds(300, "later"))
				q.Advance(now)
			}
			id++
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0, 1:
				limit := seconds(900, "limit")
				q.reach(now)
				q.enter(&grid.LocalJob{ID: id, Submit: now, Nodes: rapid.IntRange(1, nodes).Draw(rt, "wide"), Estimate: limit, Run: min(limit, seconds(900, "run"))})
				q.armed = true
			case 2:
				start := now.Add(seconds(600, "from") - grid.Second)
				q.Reserve(now, backfill.Reserved{ID: id, Nodes: rapid.IntRange(1, nodes).Draw(rt, "held"), Start: start, End: start.Add(seconds(900, "for"))})
			case 3:
				q.Release(now, int64(rapid.IntRange(1, int(id)).Draw(rt, "gone")))
			default:
				whose := int64(rapid.IntRange(1, int(id)).Draw(rt, "whose"))
				if !q.Kill(now, whose) {
					q.Cancel(now, whose)
				}
			}
			if err := q.State().Audit(); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// The queue stands in Slurm's order: by default the widest job first, as its weight is on size here.
func TestSlurm_TheQueueIsInSlurmsOrder(t *testing.T) {
	t.Parallel()
	q := New(bySlurm(4))
	q.Feed(Jobs([]grid.LocalJob{{ID: 1, Nodes: 4, Estimate: grid.Hour, Run: grid.Hour}, {ID: 2, Submit: 5000, Nodes: 1, Estimate: grid.Hour, Run: 1}, {ID: 3, Submit: 6000, Nodes: 3, Estimate: grid.Hour, Run: 1}, {ID: 4, Submit: 7000, Nodes: 2, Estimate: 2 * grid.Day, Run: 1}}))
	got := startsOf{at: map[int64]grid.Time{}, refused: map[int64]grid.Reason{}}
	q.Watch(got)
	q.Advance(10_000)
	var order []int64
	for _, w := range q.State().Queue {
		order = append(order, w.ID)
	}
	if fmt.Sprint(order) != "[3 2]" {
		t.Errorf("the queue is %v, want 3 before 2", order)
	}
	if why := got.refused[4]; why.Code != grid.TooLong || why.Detail != "job 4 has a limit of 2d, partition main takes 1d at most" {
		t.Errorf("job 4 is refused: %v", why)
	}
}
