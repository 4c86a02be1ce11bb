package simulation

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// crowded is a day of eight nodes that are wanted by more than they hold.
func crowded() (*slurm.Config, []slurm.Job) {
	c := slurm.Defaults()
	c.Priority.Multifactor = false
	all := slurm.NewSet(8)
	for n := range 8 {
		c.CPUs = append(c.CPUs, 1)
		all.Add(n)
	}
	c.Partitions = []slurm.Partition{{Name: "p", Nodes: all, Tier: 1, JobFactor: 1, MaxNodes: slurm.Unlimited, MaxTime: grid.MaxDuration}}
	var jobs []slurm.Job
	for i := range 200 {
		nodes, limit := 1+i*7%5, grid.Duration(20+i*13%50)*grid.Minute
		jobs = append(jobs, slurm.Job{ID: int64(i + 1), Array: int64(i + 1), Submit: grid.Time(i) * grid.Time(7*grid.Minute), QOS: -1, Assoc: -1, Reservation: -1,
			Nodes: nodes, CPUs: nodes, Limit: limit, Run: limit * grid.Duration(3+i%7) / 10, Started: grid.Never})
	}
	return &c, jobs
}

// A VO gets its share and no more, others wait for it, and what it buys is never more than there is: no
// node has two jobs, or a job and a reservation. Twice is the same.
func TestTwinVO_BuysItsShareAndOthersWait(t *testing.T) {
	t.Parallel()
	c, jobs := crowded()
	before := RunTwin(c, jobs, true, nil)
	after, bought, vo := RunTwinVO(c, jobs, 0.2, 1, nil)
	if vo.Reservations < 20 || vo.Share < 0.15 || vo.Share > 0.2 || len(c.Reservations) != 0 {
		t.Fatalf("%+v", vo)
	}
	n := 0
	var waits, with grid.Duration
	for i := range jobs {
		switch o := after.Outcome(i); {
		case bought[i]:
			if n++; o.Start < grid.Never {
				t.Errorf("job %d was bought and runs from the queue at %v", i, o.Start)
			}
		case o.Start >= grid.Never:
			t.Errorf("job %d never starts", i)
		default:
			waits += before.Outcome(i).Start.Sub(jobs[i].Submit)
			with += o.Start.Sub(jobs[i].Submit)
		}
	}
	if n != vo.Reservations+vo.NotSold || vo.Free <= 0 || vo.Free >= 1 || vo.MeanAdditive <= 0 || vo.MeanRatio <= 0 {
		t.Errorf("%d bought, %+v", n, vo)
	}
	if with <= waits {
		t.Errorf("others wait %v, without a VO %v", with, waits)
	}
	if _, _, again := RunTwinVO(c, jobs, 0.2, 1, nil); again != vo {
		t.Errorf("again %+v, first %+v", again, vo)
	}
}

// A machine that nobody else wants is free: the VO begins at once, and pays for no delay.
func TestTwinVO_DelaysNobodyWhereNobodyWaits(t *testing.T) {
	t.Parallel()
	c, jobs := crowded()
	for i := range jobs {
		jobs[i].Submit *= 30
	}
	_, _, vo := RunTwinVO(c, jobs, 0.3, 1, nil)
	if vo.Reservations < 30 || vo.Free != 1 || vo.MeanAdditive != 0 || vo.NotSold != 0 || vo.MeanWait > 60 {
		t.Errorf("%+v", vo)
	}
}
