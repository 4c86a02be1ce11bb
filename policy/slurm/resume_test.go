package slurm

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A queue of a controller: one job runs on two of four nodes, an array lets one task run at a time,
// a job depends on the running one, one is at the limit of its QOS, and a reservation is ahead.
func waitingQueue() (*Config, []Job) {
	c := Defaults()
	c.CPUs = []int{1, 1, 1, 1}
	all := NewSet(4)
	all.addRange(0, 4)
	c.Partitions = []Partition{{Name: "p", Nodes: all, Tier: 1, JobFactor: 1, MaxNodes: Unlimited, MaxTime: grid.MaxDuration}}
	one := NoLimits()
	one.GrpJobs = 1
	c.QOS, c.Limits, c.QOSLimits = []QOS{{Name: "small", UsageFactor: 1000, Limits: one}}, true, true
	now := grid.Time(10_000 * grid.Second)
	c.Reservations = []Reservation{{Name: "maintenance", Start: now.Add(2 * grid.Hour), End: now.Add(3 * grid.Hour), Nodes: all}}
	job := func(id int64, nodes int, limit grid.Duration, priority int64) Job {
		return Job{ID: id, Array: id, Submit: now.Add(-grid.Hour), Started: grid.Never, QOS: -1, Assoc: -1, Reservation: -1, Nodes: nodes, CPUs: nodes, Limit: limit, Run: limit, Priority: priority}
	}
	runs := job(1, 2, grid.Hour, 0)
	runs.Started, runs.On, runs.QOS = now.Add(-30*grid.Minute), NewSet(4), 0
	runs.On.addRange(0, 2)
	first, second := job(2, 1, 10*grid.Minute, 90), job(2, 1, 10*grid.Minute, 90)
	first.Throttle, second.Throttle, first.Task, second.Task = 1, 1, 1, 2
	depends := job(3, 1, 10*grid.Minute, 80)
	depends.After = []int{0}
	limited := job(4, 1, 10*grid.Minute, 70)
	limited.QOS = 0
	long := job(5, 1, 4*grid.Hour, 60)
	return &c, []Job{runs, first, second, depends, limited, long}
}

// Each waits for what holds it, and starts when that ends: nobody before, nobody for another reason.
func TestResume_EachWaitsForWhatHoldsIt(t *testing.T) {
	t.Parallel()
	c, jobs := waitingQueue()
	now := grid.Time(10_000 * grid.Second)
	twin := Resume(c, jobs, now)
	twin.Until(now.Add(c.Scheduler.Interval))
	for i, want := range []Why{Nothing, Nothing, JobArrayTaskLimit, Dependency, QOSLimit, Reserved} {
		if got := twin.Outcome(i).Why; got != want {
			t.Errorf("job %d waits for %q, want %q", i, got, want)
		}
	}
	twin.Until(now.Add(4 * grid.Hour))
	for i, want := range []struct{ from, to grid.Duration }{
		{-30 * grid.Minute, -30 * grid.Minute},
		{0, grid.Minute},
		{10 * grid.Minute, 11 * grid.Minute},
		{30 * grid.Minute, 31 * grid.Minute},
		{30 * grid.Minute, 31 * grid.Minute},
		{3 * grid.Hour, 3*grid.Hour + grid.Minute},
	} {
		if at := twin.Outcome(i).Start.Sub(now); at < want.from || at > want.to {
			t.Errorf("job %d starts after %v, want %v to %v", i, at, want.from, want.to)
		}
	}
}

// The controller's priority stays, and age is all that is added: after half of PriorityMaxAge half of
// its weight, and nothing beyond the whole.
func TestResume_OnlyTheAgeGrows(t *testing.T) {
	t.Parallel()
	c, jobs := waitingQueue()
	c.Priority.Age, c.Priority.MaxAge, c.Priority.FairShare = 1000, 2*grid.Hour, 5000
	jobs[5].Eligible = jobs[5].Submit
	twin := Resume(c, jobs, grid.Time(10_000*grid.Second))
	if p := twin.of(5).priority; p < 60 || p > 60+21 {
		t.Errorf("at first %d, want the controller's 60", p)
	}
	twin.Until(twin.Now().Add(31 * grid.Minute))
	if p := twin.of(5).priority; p < 60+230 || p > 60+290 {
		t.Errorf("half an hour later %d, want some 310", p)
	}
	twin.Until(twin.Now().Add(90 * grid.Minute))
	if p := twin.of(5).priority; p < 60+500 || p > 60+521 {
		t.Errorf("at the age of PriorityMaxAge %d, want some 560", p)
	}
}

// StartOf takes others' jobs as they are submitted: one of a higher priority is in the way.
func TestStartOf_OthersComeLater(t *testing.T) {
	t.Parallel()
	c, jobs := waitingQueue()
	c.Reservations = nil
	now := grid.Time(10_000 * grid.Second)
	wide := jobs[5]
	wide.ID, wide.Array, wide.Nodes, wide.Limit, wide.Run = 9, 9, 4, grid.Hour, grid.Hour
	list := append(jobs[:1:1], wide)
	nobody := func() (Job, bool) { return Job{}, false }
	alone := Resume(c, list, now).StartOf(1, grid.Never-1, nobody)
	if at := alone.Sub(now); at < 30*grid.Minute || at > 31*grid.Minute {
		t.Fatalf("starts after %v, want when the running job ends", at)
	}
	other := jobs[5]
	other.ID, other.Array, other.Priority, other.Submit, other.Nodes, other.Limit, other.Run = 10, 10, 1000, now.Add(grid.Minute), 1, 45*grid.Minute, 45*grid.Minute
	once := true
	with := Resume(c, list, now).StartOf(1, grid.Never-1, func() (Job, bool) { was := once; once = false; return other, was })
	if at := with.Sub(now); at < 46*grid.Minute || at > 48*grid.Minute {
		t.Errorf("starts after %v, want when the job that came has ended", at)
	}
	if at := Resume(c, list, now).StartOf(1, now.Add(grid.Minute), nobody); at != grid.Never {
		t.Errorf("starts at %v, though nobody looks so far", at)
	}
}
