package slurm

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Two legs share a node: the second joins it while the work of the first runs there, both run
// at once, and a job from outside waits.
func TestReal_PartsOfANodeRunAtOnce(t *testing.T) {
	r := newReal(t, 1)
	if err := Dividable(context.Background(), r.d.c, []string{"batch"}); err != nil {
		t.Fatal(err)
	}
	first, second := r.window(3*time.Second, 2*time.Minute, 11), r.window(8*time.Second, time.Minute, 11)
	first.Part, second.Part = grid.LegPart{Slices: 2, Of: 8, Cores: 2, GPUs: 2}, grid.LegPart{Slices: 6, Of: 8, Cores: 6, GPUs: 6}
	for _, m := range []*agents.Command{&first, &second} {
		m.Work = script("echo gpus $BOURSE_GPUS cores $BOURSE_CORES; sleep 600\n")
	}
	running := func(name string) bool {
		return slices.ContainsFunc(r.jobs(name), func(j grid.ManagedJob) bool { return j.State == grid.ManagedRunning && !j.Exclusive })
	}
	place := func(m agents.Command) {
		r.must(agents.Reserve, m)
		r.must(agents.Reserve, m) // the answer was lost
		r.must(agents.Assign, m)
		r.must(agents.Run, m)
	}
	place(first)
	r.until("the first runs", func() bool { return running(first.Name) })
	second.Joins = true
	place(second)
	outside := r.hand("sbatch", "--parsable", "--nodelist=c1n11", "--gres=gpu:1", "--time=1", "--output=/dev/null", "--wrap=true", "--chdir=/")
	defer func() { r.hand("scancel", outside) }()
	r.until("both run", func() bool { return running(first.Name) && running(second.Name) })
	if got := r.hand("squeue", "-h", "-j", outside, "-o", "%T"); got != "PENDING" {
		t.Errorf("the job from outside is %s", got)
	}
	r.until("it has printed", func() bool {
		return string(r.output(agents.OutputRequest{Name: second.Name, From: -1}).Data) == "gpus 6 cores 6\n"
	})
	r.until("the opener is deleted", func() bool { outcome, _ := r.do(agents.Delete, first); return outcome == agents.Done })
	if !running(second.Name) {
		t.Error("the other went with it")
	}
	if got := r.hand("squeue", "-h", "-j", outside, "-o", "%T"); got != "PENDING" {
		t.Errorf("beside what is left the job from outside is %s", got)
	}
	r.until("the other is deleted", func() bool { outcome, _ := r.do(agents.Delete, second); return outcome == agents.Done })
	r.until("the job from outside has run", func() bool { return r.hand("squeue", "-h", "-j", outside, "-t", "all", "-o", "%T") == "COMPLETED" })
}

// One that does not say that it joins is refused where work runs, whosever it is.
func TestReal_APartBesideAJobFromOutsideIsRefused(t *testing.T) {
	r := newReal(t, 1)
	job := r.hand("sbatch", "--parsable", "--nodelist=c1n12", "--gres=gpu:1", "--time=30", "--output=/dev/null", "--wrap=sleep 600", "--chdir=/")
	defer func() { r.hand("scancel", job) }()
	r.until("the job runs", func() bool { return r.hand("squeue", "-h", "-j", job, "-o", "%T") == "RUNNING" })
	m := r.window(time.Minute, time.Minute, 12)
	m.Part = grid.LegPart{Slices: 2, Of: 8, GPUs: 2}
	r.mustDeny(agents.Reserve, m, grid.Busy, "busy")
}
