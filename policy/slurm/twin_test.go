package slurm

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// cluster is 4 nodes in one partition, all else by default, with priority/basic.
func cluster(nodes int) *Config {
	c := Defaults()
	c.CPUs = make([]int, nodes)
	for i := range c.CPUs {
		c.CPUs[i] = 1
	}
	all := NewSet(nodes)
	all.addRange(0, nodes)
	c.Partitions = []Partition{{Name: "batch", Nodes: all, Tier: 1, JobFactor: 1, MaxNodes: Unlimited, MaxTime: grid.MaxDuration}}
	c.Priority.Multifactor = false
	c.Limits, c.QOSLimits = true, true
	return &c
}

// job is a job of so many nodes, submitted at a second, that runs and asks for seconds.
func job(id int64, submit, nodes, run, limit int) Job {
	return Job{ID: id, Array: id, Submit: grid.Time(submit) * 1000, Nodes: nodes, CPUs: nodes, Run: grid.Duration(run) * grid.Second,
		Limit: grid.Duration(limit) * grid.Second, QOS: -1, Assoc: -1, Reservation: -1, Started: grid.Never}
}

// starts runs the jobs and returns when each starts, in ms, with by and why.
func starts(c *Config, jobs []Job) (at []grid.Time, words []string) {
	t := New(c, jobs, Options{})
	t.Run()
	for i := range jobs {
		o := t.Outcome(i)
		at, words = append(at, o.Start), append(words, o.By.String()+" "+o.Why.String())
	}
	return at, words
}

func expect(t *testing.T, c *Config, jobs []Job, wantAt []grid.Time, wantWords ...string) {
	t.Helper()
	at, words := starts(c, jobs)
	if !slices.Equal(at, wantAt) {
		t.Errorf("starts %v, want %v", at, wantAt)
	}
	if len(wantWords) > 0 && !slices.Equal(words, wantWords) {
		t.Errorf("by and why %q, want %q", words, wantWords)
	}
}

func TestMain_StartsWhenNodesComeBack(t *testing.T) {
	t.Parallel()
	// The second job waits for the first's nodes: its end at 10 s, and the epilog.
	expect(t, cluster(4), []Job{job(1, 0, 4, 10, 60), job(2, 1, 4, 10, 60)}, []grid.Time{0, 10_500}, "main ", "main Resources")
}

func TestMain_PassesAfterTheDelayOfABatch(t *testing.T) {
	t.Parallel()
	// A pass at 0 s; the next that a submission asks for is 3 s later.
	expect(t, cluster(4), []Job{job(1, 0, 1, 10, 60), job(2, 1, 1, 10, 60), job(3, 2, 1, 10, 60)}, []grid.Time{0, 3000, 3000})
}

func TestMain_WhoLacksNodesBlocksItsPartition(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	// Job 2 lacks a node and blocks job 3, which a cycle of backfill starts; job 4 is longer
	// than what is left until job 2 is planned.
	expect(t, c, []Job{job(1, 0, 3, 300, 600), job(2, 1, 4, 10, 60), job(3, 2, 1, 10, 60), job(4, 2, 1, 20, 3600)},
		[]grid.Time{0, 300_500, 30_000, 311_000}, "main ", "main Resources", "backfill Priority", "main Resources")
}

func TestMain_OtherPartitionsLoseTheNodesOfABlockedOne(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	part := c.Partitions[0]
	part.Name, part.Tier, part.Nodes = "low", 0, setOf(4, 2, 3)
	c.Partitions = append(c.Partitions, part)
	c.Scheduler.Interval = 1000 * grid.Second // main alone
	low := job(3, 1, 1, 10, 60)
	low.Partition = 1
	expect(t, c, []Job{job(1, 0, 3, 50, 60), job(2, 1, 2, 10, 60), low}, []grid.Time{0, 50_500, 50_500}, "main ", "main Resources", "main Priority")
}

func TestMain_AReservationInTheWayBlocksNobody(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	c.Reservations = []Reservation{{Start: 40_000, End: 100_000, Nodes: setOf(4, 0, 1)}}
	expect(t, c, []Job{job(1, 0, 3, 10, 60), job(2, 0, 1, 10, 30), job(3, 0, 1, 10, 60)}, []grid.Time{100_000, 0, 0}[:3:3], "backfill Reservation", "main ", "main ")
}

func TestArrays_ThrottledTasksBlockNobody(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	var jobs []Job
	for k := range 100 {
		j := job(int64(10+k), 0, 1, 10, 60)
		j.Array, j.Task, j.Throttle = 10, int64(k), 2
		jobs = append(jobs, j)
	}
	jobs = append(jobs, job(200, 0, 2, 10, 60))
	at, words := starts(c, jobs)
	if at[100] != 0 || at[2] != 10_500 || words[99] != "main JobArrayTaskLimit" {
		t.Errorf("the job beside 100 tasks, 2 of which may run, starts at %v, want 0; task 3 at %v, want 10500; the last: %s", at[100], at[2], words[99])
	}
	for i := range at[:100] {
		running := 0
		for k := range at[:100] {
			if at[k] <= at[i] && at[i] < at[k]+10_000 {
				running++
			}
		}
		if running > 2 {
			t.Fatalf("%d tasks run at %v", running, at[i])
		}
	}
}

func TestLimits_ACountOrAWidthBlocksNobody(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	one := NoLimits()
	one.UserJobs, one.GrpNodes = 1, 3
	c.QOS = []QOS{{Name: "small", UsageFactor: 1000, Limits: one}}
	of := func(j Job) Job { j.QOS = 0; return j }
	expect(t, c, []Job{of(job(1, 0, 1, 10, 60)), of(job(2, 0, 1, 10, 60)), of(job(3, 0, 4, 10, 60)), job(4, 0, 3, 10, 60)},
		[]grid.Time{0, 10_500, grid.Never, 0}, "main ", "main QOSLimit", " QOSLimit", "main ")
}

func TestLimits_NodesAreLookedAtOnceTheyAreFound(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	two := NoLimits()
	two.GrpNodes = 2
	c.Assocs = []Assoc{{Parent: -1, Limits: NoLimits()}, {Account: "chem", Shares: 1, Limits: two}, {Parent: 1, User: "lp", Shares: 1, Limits: NoLimits()}}
	lp := func(j Job) Job { j.Assoc = 2; return j }
	// Job 2 finds nodes, and is over the limit beside job 1: job 3 starts. Job 5 lacks nodes,
	// so that it still blocks job 6.
	expect(t, c, []Job{lp(job(1, 0, 1, 20, 60)), lp(job(2, 0, 2, 10, 60)), job(3, 0, 1, 10, 60)}, []grid.Time{0, 20_500, 0}, "main ", "main AssocLimit", "main ")
	c.Scheduler.Interval = 1000 * grid.Second
	expect(t, c, []Job{lp(job(1, 0, 1, 20, 60)), job(4, 0, 2, 20, 60), lp(job(5, 0, 2, 10, 60)), job(6, 0, 1, 10, 60)}, []grid.Time{0, 0, 20_500, 20_500})
}

func TestReady_BeginTimeDependencyAndHold(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	c.Scheduler.SchedInterval = 10 * grid.Second
	later, after, held := job(2, 0, 1, 10, 60), job(3, 0, 1, 10, 60), job(4, 0, 1, 10, 60)
	later.Begin, after.After, held.Held = 25_000, []int{0}, true
	expect(t, c, []Job{job(1, 0, 1, 12, 60), later, after, held}, []grid.Time{0, 30_000, 12_500, grid.Never}, "main ", "main BeginTime", "main Dependency", " Held")
}

func TestBackfill_EndsAreTakenInGroups(t *testing.T) {
	t.Parallel()
	c := cluster(3)
	tw := New(c, []Job{job(1, 0, 1, 1000, 61), job(2, 0, 1, 1000, 119), job(3, 0, 1, 1000, 200)}, Options{})
	tw.Until(0)
	p := &tw.plan
	p.begin(tw)
	wide := func(n int) grid.Time {
		j := job(9, 0, n, 10, 60)
		at, _ := p.find(&j)
		return at
	}
	// The first end is 61 s, the next multiple of 30 s is 90 s, the first group reaches to
	// 120 s: it holds the end at 119 s too. The second reaches to 150 s, then 210 s.
	if a, b, d := wide(1), wide(2), wide(3); a != 119_000 || b != 119_000 || d != 200_000 {
		t.Errorf("1, 2 and 3 nodes at %v, %v and %v s, want 119, 119 and 200", a, b, d)
	}
}

func TestBackfill_PastItsLimitAJobIsPlannedToEnd(t *testing.T) {
	t.Parallel()
	c := cluster(1)
	c.KillWait, c.OverTimeLimit = 30*grid.Second, grid.Minute
	tw := New(c, []Job{job(1, 0, 1, 1000, 60)}, Options{})
	tw.Until(0)
	for now, want := range map[grid.Time]grid.Time{0: 60_000, 59_500: 60_500, 61_000: 150_000, 149_500: 150_500, 400_000: 401_000} {
		if tw.now = now; tw.plannedEnd(0) != want {
			t.Errorf("at %v s: %v, want %v", now, tw.plannedEnd(0), want)
		}
	}
}

func TestCut_AtTheSweepAfterTheLimit(t *testing.T) {
	t.Parallel()
	c := cluster(1)
	c.KillWait, c.OverTimeLimit = 10*grid.Second, grid.Minute
	for _, of := range []struct{ run, limit, want int }{{50, 60, 50}, {115, 60, 115}, {1000, 60, 130}, {1000, 61, 160}, {125, 61, 125}} {
		tw := New(c, []Job{job(1, 0, 1, of.run, of.limit)}, Options{Cut: true})
		tw.Run()
		if got := tw.Outcome(0).End; got != grid.Time(of.want)*1000 {
			t.Errorf("run %d s, limit %d s: ends at %v, want %d", of.run, of.limit, got, of.want)
		}
	}
}

func TestRefused_WiderOrLongerThanThePartition(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	c.Partitions[0].MaxNodes, c.Partitions[0].MaxTime = 3, grid.Minute
	tw := New(c, []Job{job(1, 0, 4, 10, 60), job(2, 0, 1, 10, 61), job(3, 0, 3, 10, 60)}, Options{})
	tw.Run()
	if !tw.Refused(0) || !tw.Refused(1) || tw.Refused(2) {
		t.Error("must refuse the first two and no other")
	}
}

func TestOrder_ReservationTierPriorityArrayTask(t *testing.T) {
	t.Parallel()
	c := cluster(4)
	c.Partitions = append(c.Partitions, c.Partitions[0])
	c.Partitions[1].Tier = 5
	c.Reservations = []Reservation{{Start: 0, End: 1, Nodes: setOf(4, 0)}}
	jobs := []Job{job(7, 0, 1, 1, 1), job(6, 0, 1, 1, 1), job(8, 0, 1, 1, 1), job(9, 0, 1, 1, 1), job(20, 0, 1, 1, 1), job(21, 0, 1, 1, 1), job(5, 1, 1, 1, 1)}
	jobs[2].Partition = 1
	jobs[3].Reservation = 0
	jobs[4].Array, jobs[4].Task, jobs[5].Array, jobs[5].Task = 3, 2, 3, 1
	tw := New(c, jobs, Options{})
	queue := []int{0, 1, 2, 3, 4, 5, 6}
	slices.SortFunc(queue, tw.order)
	if !slices.Equal(queue, []int{3, 2, 5, 4, 1, 0, 6}) {
		t.Errorf("order %v", queue)
	}
	tw.state[6].priority = 2
	if slices.SortFunc(queue, tw.order); queue[2] != 6 {
		t.Errorf("with a higher priority: %v", queue)
	}
}

func TestTwin_CenturiesWithoutAJobCostNothing(t *testing.T) {
	t.Parallel()
	c := cluster(1)
	c.Priority.Multifactor = true
	expect(t, c, []Job{job(1, 0, 1, 10, 60), job(2, 9_000_000_000, 1, 10, 60), job(3, 9_000_000_000, 1, 10, 60)}, []grid.Time{0, 9_000_000_000_000, 9_000_000_010_500})
}

// drawn is a random cluster with jobs of all kinds.
func drawn(t *rapid.T) (*Config, []Job) {
	c := cluster(rapid.IntRange(2, 9).Draw(t, "nodes"))
	n := len(c.CPUs)
	c.Scheduler.Interval = grid.Duration(rapid.IntRange(1, 30).Draw(t, "interval")) * grid.Second
	c.Scheduler.QueueDepth = rapid.IntRange(1, 10).Draw(t, "depth")
	c.Scheduler.MaxJobTest = rapid.IntRange(1, 10).Draw(t, "tests")
	c.Scheduler.MaxJobUser = rapid.IntRange(0, 3).Draw(t, "of a user")
	c.Scheduler.AssocLimitStop, c.Scheduler.Defer = rapid.Bool().Draw(t, "stop"), rapid.Bool().Draw(t, "defer")
	c.Priority.Multifactor = rapid.Bool().Draw(t, "multifactor")
	c.Priority.Age, c.Priority.FairShare, c.Priority.Size = 1000, 2000, 500
	c.Priority.CalcPeriod, c.Priority.HalfLife = grid.Minute, 5*grid.Minute
	short := c.Partitions[0]
	short.Name, short.Tier, short.MaxNodes, short.Nodes = "short", 5, max(1, n/2), setOf(n, rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n, rapid.ID).Draw(t, "short")...)
	c.Partitions = append(c.Partitions, short)
	limited := NoLimits()
	limited.UserJobs, limited.GrpNodes = rapid.IntRange(1, 3).Draw(t, "jobs of a user"), rapid.IntRange(1, n).Draw(t, "nodes of a QOS")
	c.QOS = []QOS{{Name: "normal", Priority: 1, UsageFactor: 1000, Limits: NoLimits()}, {Name: "small", UsageFactor: 500, Limits: limited}}
	group := NoLimits()
	group.GrpNodes = rapid.IntRange(1, n).Draw(t, "nodes of an account")
	c.Assocs = []Assoc{{Parent: -1, Limits: NoLimits()}, {Account: "a", Shares: 2, Limits: group}, {Account: "b", Shares: 1, Limits: NoLimits()},
		{Parent: 1, User: "u", Shares: 1, Limits: NoLimits()}, {Parent: 2, User: "v", Shares: 1, Limits: NoLimits()}}
	from := grid.Time(rapid.IntRange(0, 400).Draw(t, "reserved from")) * 1000
	c.Reservations = []Reservation{{Start: from, End: from + 60_000, Nodes: setOf(n, 0)}}
	var jobs []Job
	at := 0
	for id := range rapid.IntRange(1, 40).Draw(t, "jobs") {
		at += rapid.IntRange(0, 20).Draw(t, "gap")
		j := job(int64(id+1), at, rapid.IntRange(1, n).Draw(t, "wide"), rapid.IntRange(1, 60).Draw(t, "run"), rapid.IntRange(1, 120).Draw(t, "limit"))
		j.Partition, j.QOS, j.Assoc = rapid.IntRange(0, 1).Draw(t, "partition"), rapid.IntRange(-1, 1).Draw(t, "QOS"), rapid.SampledFrom([]int{-1, 3, 4}).Draw(t, "user")
		j.User = j.Assoc
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			j.Begin = j.Submit + 30_000
		case 1:
			if id > 0 {
				j.After = []int{rapid.IntRange(0, id-1).Draw(t, "after")}
			}
		case 2, 3:
			j.Array, j.Task, j.Throttle = 1000, int64(id), 2
		case 4:
			j.Held = true
		case 5:
			j.Reservation = 0
		}
		jobs = append(jobs, j)
	}
	return c, jobs
}

// The list of what must never happen, at every start.
func TestTwin_Never(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, jobs := drawn(t)
		tw := New(c, jobs, Options{Cut: rapid.Bool().Draw(t, "cut")})
		tw.Run()
		var all []Outcome
		for i := range jobs {
			all = append(all, tw.Outcome(i))
		}
		for i := range jobs {
			if all[i].Start < grid.Never {
				checkStart(t, c, jobs, all, i, tw)
			}
		}
		twice := New(c, jobs, Options{Cut: tw.opt.Cut})
		for at := grid.Time(0); at < 2_000_000; at += 7_000 { // stopping on the way changes nothing
			twice.Until(at)
		}
		twice.Run()
		for i := range jobs {
			if o := twice.Outcome(i); o.Start != all[i].Start || o.Why != all[i].Why {
				t.Fatalf("job %d: %v, and %v if the twin stops on the way", i, all[i].Start, o.Start)
			}
		}
	})
}

func checkStart(t *rapid.T, c *Config, jobs []Job, all []Outcome, i int, tw *Twin) {
	j, o := &jobs[i], all[i]
	if j.Held || o.Start < max(j.Submit, j.Begin) {
		t.Fatalf("job %d starts at %v before it is ready", i, o.Start)
	}
	for _, a := range j.After {
		if !tw.Refused(a) && all[a].End.Add(c.Epilog) > o.Start {
			t.Fatalf("job %d starts at %v, job %d that it depends on ends at %v", i, o.Start, a, all[a].End)
		}
	}
	p := &c.Partitions[j.Partition]
	if o.On.Count() != j.Nodes || o.On.common(p.Nodes) != j.Nodes || j.Nodes > p.MaxNodes {
		t.Fatalf("job %d of %d nodes is on %v", i, j.Nodes, nodesIn(o.On))
	}
	for k, r := range c.Reservations {
		in := r.Start < o.Start.Add(j.Limit) && o.Start < r.End
		if j.Reservation != k && in && o.On.overlaps(r.Nodes) || j.Reservation == k && (o.Start < r.Start || o.Start.Add(j.Limit) > r.End || o.On.common(r.Nodes) != j.Nodes) {
			t.Fatalf("job %d at %v is in the way of a reservation, or outside of its own", i, o.Start)
		}
	}
	tasks, user, qos, account := 0, 0, 0, 0
	for k := range jobs {
		if all[k].Start > o.Start || all[k].Start >= grid.Never || all[k].End.Add(c.Epilog) <= o.Start {
			continue
		}
		if k != i && all[k].On.overlaps(o.On) {
			t.Fatalf("jobs %d and %d share a node at %v", i, k, o.Start)
		}
		if all[k].End <= o.Start {
			continue
		}
		if jobs[k].Array == j.Array {
			tasks++
		}
		if jobs[k].QOS == 1 {
			qos += jobs[k].Nodes
			if jobs[k].User == j.User {
				user++
			}
		}
		if jobs[k].Assoc == 3 && (jobs[k].QOS != 1 || all[k].Start < o.Start) { // the QOS's own limit goes before the account's: such a job may follow
			account += jobs[k].Nodes
		}
	}
	small := c.QOS[1].Limits
	if j.Throttle > 0 && tasks > j.Throttle || j.QOS == 1 && (user > small.UserJobs || qos > small.GrpNodes) || j.Assoc == 3 && j.QOS != 1 && account > c.Assocs[1].GrpNodes {
		t.Fatalf("job %d starts at %v beyond a limit: %d tasks, %d jobs of the user, %d nodes of the QOS, %d of the account", i, o.Start, tasks, user, qos, account)
	}
}

// From the state of a run that is followed, a twin goes on as the run did, if it was the
// twin's own.
func TestAhead_GoesOnAsItsOwnRun(t *testing.T) {
	t.Parallel()
	c := cluster(8)
	c.Scheduler.SchedInterval = 10 * grid.Second
	var jobs []Job
	for k := range 60 {
		jobs = append(jobs, job(int64(k+1), 3*k, 1+k%7, 5+k%23, 60*(1+k%3)))
	}
	own := New(c, jobs, Options{})
	own.Run()
	for i := range jobs {
		o := own.Outcome(i)
		jobs[i].Started, jobs[i].On = o.Start, o.On
	}
	record := New(c, jobs, Options{Follow: true})
	seen, hits := 0, 0
	for at := grid.Time(30_000); !record.Over(); at += 30_000 {
		record.Until(at)
		tw := record.Ahead(at + 30_000)
		from, to := tw.Window()
		var waiting []int
		for i := from; i < to; i++ {
			if tw.Waiting(i) && jobs[i].Started <= at+30_000 {
				waiting = append(waiting, i)
			}
		}
		tw.Until(at + 30_000)
		for _, i := range waiting {
			seen++
			if tw.Outcome(i).Start == jobs[i].Started {
				hits++
			}
		}
	}
	if seen < 20 || hits < seen*9/10 {
		t.Errorf("%d of %d starts are as in its own run", hits, seen)
	}
}
