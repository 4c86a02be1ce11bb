package slurmdump_test

import (
	"os"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// opened reads a recorded run of a real controller, Slurm 22.05.8 on 8 nodes of 1 CPU: a is
// first come first served; b by age, size and fair share; c has tiers, QOS, limits, arrays of
// which two tasks may run, dependencies, begin times and a reservation.
func opened(t *testing.T, run string) (*slurmdump.Cluster, *slurmdump.Jobs) {
	t.Helper()
	file := func(ext string) string {
		name := "testdata/" + run + ext
		if _, err := os.Stat(name); err != nil {
			return ""
		}
		return name
	}
	c, err := slurmdump.Open(slurmdump.Files{Conf: []string{file(".conf")}, QOS: file(".qos"), Assoc: file(".assoc"), Reservations: file(".res")}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := c.OpenJobs(file(".sacct"), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return c, jobs
}

// The bounds of docs/TWIN.md, which has what each run reaches.
func TestTwin_RecordedRunsOfAController(t *testing.T) {
	t.Parallel()
	for run, n := range map[string]int{"a": 160, "b": 160, "c": 187} {
		c, jobs := opened(t, run)
		if len(jobs.List) != n {
			t.Fatalf("%s: %d jobs, want %d", run, len(jobs.List), n)
		}
		free := simulation.DeviateTwin(simulation.RunTwin(&c.Config, jobs.List, false, nil), jobs.List, c.Scheduler.Interval)
		ahead := simulation.RunTwinAhead(&c.Config, jobs.List, 30*grid.Second, nil)
		within, difference := easy(t, c, jobs)
		t.Logf("%s: mean wait %+.1f %%, within a cycle %.0f %% (easy %.0f %%), mean difference %.1f s (easy %.1f s); 30 s ahead %.0f %% of %d",
			run, 100*free.MeanWait, 100*free.Within, 100*within, free.MeanDifference, difference, 100*ahead.Within, ahead.Starts)
		if free.Jobs != n || free.MeanWait < -0.15 || free.MeanWait > 0.15 {
			t.Errorf("%s: %d jobs start, their mean wait is off by %.1f %%; must be all, by at most 15 %%", run, free.Jobs, 100*free.MeanWait)
		}
		if ahead.Starts < 100 || ahead.Within < 0.7 {
			t.Errorf("%s: 30 s ahead %.0f %% of %d starts are within a cycle; must be 70 %%", run, 100*ahead.Within, ahead.Starts)
		}
		if free.Within <= within || free.MeanDifference >= difference {
			t.Errorf("%s: easy is as near: %.0f %% within a cycle, %.1f s off", run, 100*within, difference)
		}
	}
}

// easy is how near plain first come first served with backfilling comes.
func easy(t *testing.T, c *slurmdump.Cluster, jobs *slurmdump.Jobs) (within, difference float64) {
	t.Helper()
	var list []grid.LocalJob
	for i := range jobs.List {
		j := &jobs.List[i]
		list = append(list, grid.LocalJob{ID: int64(i), Submit: j.Submit, Run: j.Run, Estimate: j.Limit, Nodes: j.Nodes})
	}
	r, err := simulation.RunReplay(list, simulation.ReplayOptions{Nodes: len(c.Nodes), Policy: backfill.EASY})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range r.Outcomes {
		off := max(o.Start.Sub(jobs.List[i].Started), jobs.List[i].Started.Sub(o.Start))
		if difference += off.Seconds(); off <= c.Scheduler.Interval {
			within++
		}
	}
	return within / float64(len(list)), difference / float64(len(list))
}
