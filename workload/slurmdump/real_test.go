package slurmdump_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

var twinJobs = flag.Int("twin.jobs", shortRun, "jobs of the run on a real controller that the twin is compared with; from 150 on of up to 11 s, by the bounds of docs/TWIN.md")

// Runs on a real controller: one of half a minute, and those that are as long as the figures of
// docs/TWIN.md.
const (
	shortRun = 10
	longRun  = 150
)

// A real controller serves short jobs on eight nodes, and the twin is held against every start: in a
// free replay, and 30 s ahead from the recorded state, 10 s in the short run. That one has some ten
// starts that wait, so that one of them is 10 points: its bounds are wide.
func TestReal_TheTwinIsNearAController(t *testing.T) {
	if os.Getenv("BOURSE_SLURM") != "1" {
		t.Skip("needs a real Slurm: install slurmctld, slurmd, slurm-client and munge, and set BOURSE_SLURM=1")
	}
	dir, err := os.MkdirTemp("/tmp", "bourse-twin-") // the paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := func(args ...string) *exec.Cmd {
		cmd := exec.Command("bash", append([]string{"../../cluster/slurm/testdata/clusters.sh"}, args...)...)
		cmd.Env = append(os.Environ(), "SLURM_PORT=24000", "SLURM_EXTRA=SchedulerParameters=bf_interval=4,bf_resolution=1,bf_continue,sched_interval=10,sched_min_interval=0\nMinJobAge=3600")
		cmd.Stderr = os.Stderr
		return cmd
	}
	t.Cleanup(func() {
		if err := script("stop", dir).Run(); err != nil || t.Failed() {
			t.Logf("the controller's log is in %s: %v", dir, err)
			return
		}
		_ = os.RemoveAll(dir)
	})
	if err := script("start", dir, "1", "8").Run(); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "c1/slurm.conf")
	cluster := slurm.Commands{Conf: conf}
	runWorkload(t, cluster, *twinJobs)
	c, err := slurmdump.Open(slurmdump.Files{Conf: []string{conf}}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(dir, "jobs.sacct")
	if err := os.WriteFile(dump, []byte(recordOfRun(t, cluster)), 0o600); err != nil {
		t.Fatal(err)
	}
	jobs, err := c.OpenJobs(dump, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	free := simulation.DeviateTwin(simulation.RunTwin(&c.Config, jobs.List, false, nil), jobs.List, c.Scheduler.Interval)
	every, wait, least := 10*grid.Second, 0.5, 0.4
	if *twinJobs >= longRun {
		every, wait, least = 30*grid.Second, 0.15, 0.7
	}
	ahead := simulation.RunTwinAhead(&c.Config, jobs.List, every, nil)
	within, difference := easy(t, c, jobs)
	t.Logf("%d jobs: mean wait %+.1f %%, within a cycle %.0f %% (easy %.0f %%), mean difference %.1f s (easy %.1f s); %s ahead %.0f %% of %d",
		len(jobs.List), 100*free.MeanWait, 100*free.Within, 100*within, free.MeanDifference, difference, every.Words(), 100*ahead.Within, ahead.Starts)
	if free.Jobs != *twinJobs || free.MeanWait < -wait || free.MeanWait > wait {
		t.Errorf("%d of %d jobs start, their mean wait is off by %.1f %%; must be all, by at most %.0f %%", free.Jobs, *twinJobs, 100*free.MeanWait, 100*wait)
	}
	if ahead.Starts < *twinJobs/4 || ahead.Within < least {
		t.Errorf("%s ahead %.0f %% of %d starts are within a cycle; must be %.0f %%", every.Words(), 100*ahead.Within, ahead.Starts, 100*least)
	}
}

// runWorkload submits jobs of 2 to 11 s, one in 2 s, more than the nodes can hold, and waits until
// all have ended. In the short run they are of 2 to 7 s, wider, and come five times as often, so
// that they wait for long beside what a busy machine's controller takes to see them.
func runWorkload(t *testing.T, c slurm.Commands, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(36, 1))
	longest, pause, widths := 6, time.Second/5, []int{2, 3, 4, 6, 8}
	if n >= longRun {
		longest, pause, widths = 10, time.Second, []int{1, 1, 1, 2, 2, 3, 4, 6, 8}
	}
	next := time.Now()
	for range n {
		time.Sleep(time.Until(next)) // the controller goes by the wall clock
		next = next.Add(pause * time.Duration(500+r.IntN(2500)) / 1000)
		nodes := widths[r.IntN(len(widths))]
		if _, err := c.Run(t.Context(), "sbatch", "--parsable", "--exclusive", "--output=/dev/null", "--chdir=/", fmt.Sprintf("--nodes=%d", nodes),
			fmt.Sprintf("--time=%d", 1+r.IntN(3)), fmt.Sprintf("--wrap=sleep %d", 2+r.IntN(longest))); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(30 * time.Minute); ; time.Sleep(time.Second) {
		left, err := c.Run(t.Context(), "squeue", "--noheader", "--states=PD,R,CG")
		if err == nil && len(strings.TrimSpace(string(left))) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the jobs have not ended: %v\n%s", err, left)
		}
	}
}

// recordOfRun writes what the controller says of its jobs as sacct would.
func recordOfRun(t *testing.T, c slurm.Commands) string {
	t.Helper()
	text, err := c.Run(t.Context(), "scontrol", "show", "job", "-o")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("JobID|User|Submit|Eligible|Start|End|NNodes|AllocCPUS|Partition|Timelimit|State|NodeList\n")
	for line := range strings.Lines(string(text)) {
		of := map[string]string{}
		for _, pair := range strings.Fields(line) {
			key, value, _ := strings.Cut(pair, "=")
			of[key] = value
		}
		user, _, _ := strings.Cut(of["UserId"], "(")
		nodes, _, _ := strings.Cut(of["NumNodes"], "-")
		b.WriteString(strings.Join([]string{of["JobId"], user, of["SubmitTime"], of["EligibleTime"], of["StartTime"], of["EndTime"], nodes, of["NumCPUs"],
			of["Partition"], of["TimeLimit"], of["JobState"], of["NodeList"]}, "|") + "\n")
	}
	return b.String()
}
