package slurmdump_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	twin "github.com/bourse-grid/bourse/policy/slurm"
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

// A record has whole seconds. What came between them moves the first starts, and each of these all that
// follow: the mean wait of a free replay differs by several points between two guesses. Over many guesses
// it is off by less than one replay may be.
func TestTwin_FractionsOfASecondMoveAFreeReplay(t *testing.T) {
	t.Parallel()
	const guesses = 24
	for _, run := range []string{"a", "b", "c"} {
		c, jobs := opened(t, run)
		var sum, squares, within float64
		for k := range guesses {
			list := guessed(jobs.List, uint64(k))
			d := simulation.DeviateTwin(simulation.RunTwin(&c.Config, list, false, nil), list, c.Scheduler.Interval)
			sum, squares, within = sum+d.MeanWait, squares+d.MeanWait*d.MeanWait, within+d.Within
		}
		mean := sum / guesses
		spread := math.Sqrt(squares/guesses - mean*mean)
		t.Logf("%s: mean wait %+.1f %%, of one guess +- %.1f; within a cycle %.0f %%", run, 100*mean, 100*spread, 100*within/guesses)
		if math.Abs(mean) > .07 || spread < .02 || spread > .09 {
			t.Errorf("%s: the mean wait is off by %.1f %%, one guess by +- %.1f; must be by at most 7, +- 2 to 9", run, 100*mean, 100*spread)
		}
	}
}

// guessed are the jobs of a record with fractions of a second in their submissions and runs.
func guessed(jobs []twin.Job, seed uint64) []twin.Job {
	r := rand.New(rand.NewPCG(36, seed))
	list := slices.Clone(jobs)
	last := grid.Time(0)
	for i := range list {
		j := &list[i]
		j.Submit = max(j.Submit.Add(grid.Duration(r.IntN(1000))), last)
		j.Run = max(100, j.Run+grid.Duration(r.IntN(1000)-r.IntN(1000)))
		last = j.Submit
	}
	return list
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
