package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

func TestReal_ReserveIsSeenAndRetriedWithTheSameAnswer(t *testing.T) {
	r := newReal(t, 1)
	m := r.window(time.Hour, time.Hour, 1, 2)
	r.must(agents.Reserve, m)
	r.must(agents.Reserve, m)
	got := r.reservation(m.Name)
	if got == nil || got.Start != m.Start || got.End != m.End || !slices.Equal(got.Nodes, m.Nodes) || !slices.Equal(got.Users, []string{"mail"}) {
		t.Fatalf("there is %+v", got)
	}
	rival := r.window(90*time.Minute, time.Hour, 2)
	r.mustDeny(agents.Reserve, rival, grid.Busy, "overlaps")
	moved := m
	moved.End += 60_000
	r.mustDeny(agents.Reserve, moved, grid.Conflict, "exists already")
	r.must(agents.Assign, m)
	r.must(agents.Assign, m)
	if got := r.reservation(m.Name); got == nil || !slices.Equal(got.Users, []string{r.user}) {
		t.Errorf("it is for %+v", got)
	}
	r.must(agents.Delete, m)
	r.must(agents.Delete, m)
	if got := r.reservation(m.Name); got != nil {
		t.Errorf("still there: %+v", got)
	}
	r.mustDeny(agents.Assign, m, grid.Unknown, "there is no such reservation")
}

func TestReal_NodesThatAreNotFreeAreRefused(t *testing.T) {
	r := newReal(t, 1)
	job := r.hand("sbatch", "--parsable", "--nodelist=c1n3", "--exclusive", "--time=30", "--output=/dev/null", "--wrap=sleep 600", "--chdir=/")
	defer func() { r.hand("scancel", job) }()
	r.until("the job runs", func() bool { return r.hand("squeue", "-h", "-j", job, "-o", "%T") == "RUNNING" })
	r.mustDeny(agents.Reserve, r.window(time.Minute, time.Hour, 3), grid.Busy, "busy")

	r.hand("scontrol", "update", "NodeName=c1n4", "State=DRAIN", "Reason=test")
	defer func() { r.hand("scontrol", "update", "NodeName=c1n4", "State=RESUME") }()
	r.mustDeny(agents.Reserve, r.window(time.Hour, time.Hour, 4), grid.Busy, "c1n4 is drain")
	look := r.look()
	if i := slices.IndexFunc(look.Nodes, func(n grid.ManagedNode) bool { return n.Name == "c1n4" }); look.Nodes[i].State != grid.NodeDrained {
		t.Errorf("it looks %s", look.Nodes[i].State)
	}
	nowhere := r.window(time.Hour, time.Hour)
	nowhere.Nodes = []string{"c1n99"}
	if outcome, why := r.do(agents.Reserve, nowhere); outcome != agents.Denied {
		t.Errorf("a node that is not there: %s, %v", outcome, why)
	}
}

func TestReal_NobodyRunsAsRootOrAsNobodyKnown(t *testing.T) {
	r := newReal(t, 1)
	m := r.window(time.Hour, time.Hour, 5)
	r.must(agents.Reserve, m)
	m.Work = script("true\n")
	for user, words := range map[string]string{"root": "is root", "no-such-account": "there is no account"} {
		m.User = user
		if os.Geteuid() != 0 && user != "root" {
			continue
		}
		r.mustDeny(agents.Assign, m, grid.NotAllowed, words)
		r.mustDeny(agents.Run, m, grid.NotAllowed, words)
	}
	m.User = r.user
	r.mustDeny(agents.Run, m, grid.NotAllowed, "not for this account") // still the holder's
	if jobs := r.jobs(m.Name); len(jobs) != 0 {
		t.Errorf("there are jobs: %+v", jobs)
	}
}

// An account without rights is told which rights it lacks.
func TestReal_ARightThatIsMissingIsNamed(t *testing.T) {
	r := newReal(t, 1)
	if r.other == "" {
		t.Skip("needs root, to be another account")
	}
	a, err := accountNamed(r.other)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.d.c.run(context.Background(), a, "", "scontrol", "create", "reservation", "ReservationName=x", "StartTime=now+60", "Duration=5", "Nodes=c1n5", "Users="+r.other)
	if outcome, why := judge(err); outcome != agents.Denied || why.Code != grid.NotAllowed || !strings.Contains(why.String(), "AdminLevel=Operator") {
		t.Errorf("%s, %v", outcome, why)
	}
}

func TestReal_WorkRunsOnceInItsWindowAsItsAccount(t *testing.T) {
	r := newReal(t, 1)
	m := r.window(4*time.Second, time.Minute, 6, 7)
	m.Work = script("id -un; id -gn; echo $BOURSE_NODES; srun --overlap hostname >/dev/null && echo everywhere; exit 3\n")
	r.must(agents.Reserve, m)
	r.must(agents.Assign, m)
	r.must(agents.Run, m)
	r.must(agents.Run, m) // the answer was lost
	jobs := r.jobs(m.Name)
	if len(jobs) != 1 || jobs[0].User != r.user || jobs[0].Reservation != m.Name || jobs[0].State != grid.ManagedPending {
		t.Fatalf("jobs %+v", jobs)
	}
	r.until("the work has ended", func() bool { jobs = r.jobs(m.Name); return len(jobs) == 1 && jobs[0].State == grid.ManagedEnded })
	j := jobs[0]
	if j.Exit != 3 || j.Signal != 0 || j.Why != "" || j.Start < m.Start || j.Start > m.Start.Add(15*grid.Second) || !slices.Equal(j.Nodes, m.Nodes) {
		t.Errorf("it has run as %+v in the window from %v", j, m.Start)
	}
	r.mustDeny(agents.Run, m, grid.BadState, "before")

	// Without accounting the controller forgets it.
	forgotten := &grid.Look{}
	r.d.completeHere(context.Background(), forgotten)
	if len(forgotten.Jobs) != 1 || forgotten.Jobs[0].Name != m.Name || forgotten.Jobs[0].Number != j.Number || forgotten.Jobs[0].Exit != 3 || forgotten.Jobs[0].State != grid.ManagedEnded || !slices.Equal(forgotten.Jobs[0].Nodes, m.Nodes) {
		t.Errorf("of what the controller has forgotten there is left %+v", forgotten.Jobs)
	}
	own, err := accountNamed(r.user)
	if err != nil {
		t.Fatal(err)
	}
	group := strings.TrimSpace(string(must(exec.Command("id", "-gn", own.name).Output())))
	want := fmt.Sprintf("%s\n%s\n%s\neverywhere\n", r.user, group, strings.Join(m.Nodes, ","))
	for _, when := range []string{"before", "after"} {
		if out := r.output(agents.OutputRequest{Ref: 5, Name: m.Name, From: -1}); out.Ref != 5 || string(out.Data) != want || out.Size != int64(len(want)) || out.From != 0 {
			t.Errorf("%s it was deleted it has printed %q, %v; must be %q", when, out.Data, out.Failure, want)
		}
		r.must(agents.Delete, m)
	}
	if out := r.output(agents.OutputRequest{Name: m.Name, From: 3}); string(out.Data) != want[3:] || out.From != 3 {
		t.Errorf("from the third byte on %q", out.Data)
	}
}

func TestReal_EndLetsWorkCleanUpAndTouchesNoOther(t *testing.T) {
	r := newReal(t, 1)
	m := r.window(3*time.Second, time.Minute, 8)
	m.Work = script("trap 'echo cleaned; exit 7' TERM\necho begun\nwhile :; do sleep 0.1; done\n")
	r.must(agents.Reserve, m)
	r.must(agents.Assign, m)
	r.must(agents.Run, m)
	// A job of the same name that is not ours.
	foreign := r.hand("sbatch", "--parsable", "--job-name="+m.Name, "--hold", "--output=/dev/null", "--wrap=true", "--chdir=/")
	defer func() { r.hand("scancel", foreign) }()
	r.until("the work runs", func() bool {
		return slices.ContainsFunc(r.jobs(m.Name), func(j grid.ManagedJob) bool { return j.State == grid.ManagedRunning })
	})
	r.until("it has printed", func() bool {
		return string(r.output(agents.OutputRequest{Name: m.Name, From: -1}).Data) == "begun\n"
	})
	jobs := r.jobs(m.Name)
	i := slices.IndexFunc(jobs, func(j grid.ManagedJob) bool { return j.Number != foreign })
	ours := jobs[i]

	reused := m // the number belongs to a job that was submitted at another time
	reused.Number, reused.Submit = ours.Number, ours.Submit-60_000
	r.must(agents.End, reused)
	if jobs := r.jobs(m.Name); jobs[slices.IndexFunc(jobs, func(j grid.ManagedJob) bool { return j.Number == ours.Number })].State != grid.ManagedRunning {
		t.Error("a job that was submitted at another time was ended")
	}

	m.Number, m.Submit = ours.Number, ours.Submit
	r.must(agents.End, m)
	r.until("it has ended", func() bool {
		jobs = r.jobs(m.Name)
		return jobs[slices.IndexFunc(jobs, func(j grid.ManagedJob) bool { return j.Number == ours.Number })].State == grid.ManagedEnded
	})
	j := jobs[slices.IndexFunc(jobs, func(j grid.ManagedJob) bool { return j.Number == ours.Number })]
	if j.Exit != 7 || j.Why != "CANCELLED" {
		t.Errorf("it has ended as %+v", j)
	}
	if out := r.output(agents.OutputRequest{Name: m.Name, From: -1}); !strings.Contains(string(out.Data), "cleaned\n") {
		t.Errorf("it has printed %q, %v", out.Data, out.Failure)
	}
	r.must(agents.End, m)
	r.must(agents.Delete, m)
	if got := r.hand("squeue", "-h", "-j", foreign, "-o", "%T"); got != "PENDING" {
		t.Errorf("the other job is %s", got)
	}
}

func TestReal_DeleteEndsWhatRunsFirst(t *testing.T) {
	r := newReal(t, 1)
	waits := r.window(time.Hour, time.Hour, 9)
	waits.Work = script("true\n")
	r.must(agents.Reserve, waits)
	r.must(agents.Assign, waits)
	r.must(agents.Run, waits)
	r.must(agents.Delete, waits)
	if jobs := r.jobs(waits.Name); len(jobs) != 1 || jobs[0].State != grid.ManagedEnded || jobs[0].Nodes != nil {
		t.Errorf("jobs %+v", jobs)
	}

	runs := r.window(3*time.Second, time.Minute, 9)
	runs.Work = script("trap '' TERM\nwhile :; do sleep 0.1; done\n")
	r.must(agents.Reserve, runs)
	r.must(agents.Assign, runs)
	r.must(agents.Run, runs)
	r.until("the work runs", func() bool { return r.jobs(runs.Name)[0].State == grid.ManagedRunning })
	r.until("it is deleted", func() bool {
		outcome, why := r.do(agents.Delete, runs)
		if outcome == agents.Failure || outcome == agents.Denied && why.Code != grid.Busy {
			t.Fatalf("%s: %v", outcome, why)
		}
		return outcome == agents.Done
	})
	if r.reservation(runs.Name) != nil {
		t.Error("the reservation is still there")
	}
	r.until("the work has ended", func() bool { return r.jobs(runs.Name)[0].State == grid.ManagedEnded })
}

// Slurm forgets in a crash what it has acknowledged seconds before; the next look
// shows what there is, and what has gone is made again.
func TestReal_ALookShowsWhatACrashHasLost(t *testing.T) {
	r := newReal(t, 2)
	first := r.window(time.Hour, time.Hour, 1)
	r.must(agents.Reserve, first)
	second := r.window(time.Hour, time.Hour, 2)
	r.must(agents.Reserve, second)
	if err := clusters("kill", realDir, "2"); err != nil {
		t.Fatal(err)
	}
	third := r.window(time.Hour, time.Hour, 3)
	if outcome, why := r.do(agents.Reserve, third); outcome != agents.Failure || why.Code != grid.NoCluster {
		t.Errorf("without a controller: %s, %v", outcome, why)
	}
	var looked agents.Looked
	r.d.Do(context.Background(), agents.LookRequest{}, func(a agents.Message) { looked = a.(agents.Looked) })
	if looked.Look != nil || looked.Failure.Code != grid.NoCluster {
		t.Errorf("without a controller a look shows %+v, %v", looked.Look, looked.Failure)
	}
	if err := clusters("resume", realDir, "2"); err != nil {
		t.Fatal(err)
	}
	shown := r.hand("scontrol", "show", "res", "-o")
	for _, m := range []agents.Command{first, second} {
		there := strings.Contains(shown, m.Name)
		t.Logf("%s has outlived the crash: %v", m.Name, there)
		if seen := r.reservation(m.Name) != nil; seen != there {
			t.Errorf("%s is there: %v; a look shows it: %v", m.Name, there, seen)
		}
		r.must(agents.Reserve, m)
		if r.reservation(m.Name) == nil {
			t.Errorf("%s was not made again", m.Name)
		}
	}
}
