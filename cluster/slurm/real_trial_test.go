package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A window as long as the partition lets a job run is reserved with its padding, and its
// work runs. A longer one is refused as too long.
func TestReal_AWindowAsLongAsItsPartitionAllows(t *testing.T) {
	r := newReal(t, 1)
	r.d.cfg.Partitions = []string{"short"}
	if i := slices.IndexFunc(r.look().Partitions, func(p grid.ManagedPartition) bool { return p.Name == "short" && p.Limit == grid.Hour }); i < 0 {
		t.Errorf("a look shows the partitions %+v", r.look().Partitions)
	}
	m := r.window(4*time.Second, time.Hour, 10)
	m.Work = script("sleep 60\n")
	padded := m
	padded.End, padded.Padding = m.End.Add(2*grid.Minute), 2*grid.Minute
	r.must(agents.Reserve, padded)
	if got := r.reservation(m.Name); got == nil || got.End != padded.End {
		t.Errorf("the reservation is %+v", got)
	}
	r.must(agents.Assign, padded)
	r.must(agents.Run, m)
	if got := r.hand("squeue", "-h", "-n", m.Name, "-o", "%P %l"); got != "short 1:00:00" {
		t.Errorf("the job is in %s", got)
	}
	r.until("the work runs", func() bool { return r.jobs(m.Name)[0].State == grid.ManagedRunning })

	long := r.window(2*time.Hour, time.Hour+time.Second, 10)
	long.End, long.Padding = long.End.Add(2*grid.Minute), 2*grid.Minute
	r.mustDeny(agents.Reserve, long, grid.TooLarge, "partition short lets no job run for 3601s")
}

// as is the commands of a cluster as run by another account.
func (r *real) as(account string) Commands {
	r.Helper()
	if r.other == "" {
		r.Skip("needs root, to be another account")
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		r.Skip("needs setpriv, to be another account")
	}
	c := r.d.c
	c.Folder = r.TempDir()
	for _, name := range []string{"squeue", "sinfo", "scontrol", "sbatch"} {
		path, err := exec.LookPath(name)
		if err != nil {
			r.Fatal(err)
		}
		text := fmt.Sprintf("#!/bin/sh\nexec setpriv --reuid=%s --regid=%s --clear-groups %s \"$@\"\n", account, account, path)
		if err := os.WriteFile(filepath.Join(c.Folder, name), []byte(text), 0o755); err != nil {
			r.Fatal(err)
		}
	}
	return c
}

// An account without rights is told at once, with the remedy, and one with rights leaves no
// trace. Both see the controller and its clock.
func TestReal_TrialOfRights(t *testing.T) {
	r := newReal(t, 1)
	name := fmt.Sprintf("bourse-check.%d", os.Getpid())
	trial := Trial{Commands: r.d.c, Partitions: []string{"batch", "short"}, Holder: "mail", Folder: string(r.d.work.(folder)), Name: name}
	ctx := context.Background()
	if said, why := trial.Controller(ctx); why.Refused() || !strings.Contains(said, "12 nodes") {
		t.Errorf("controller: %s, %v", said, why)
	}
	for range 2 {
		if said, why := trial.Rights(ctx); why.Refused() || !strings.Contains(said, "was made and deleted") {
			t.Errorf("rights: %s, %v", said, why)
		}
	}
	r.hand("scontrol", "create", "reservation", "ReservationName="+name, "StartTime=now+100", "Duration=1", "Nodes=c1n1", "Users=mail") // an earlier trial died
	if _, why := trial.Rights(ctx); why.Refused() {
		t.Errorf("with one left: %v", why)
	}
	if shown := r.hand("scontrol", "show", "res", "-o"); strings.Contains(shown, name) {
		t.Errorf("it has left %s", shown)
	}
	if why := trial.Submits(ctx, r.user, nil); why.Refused() {
		t.Errorf("work of %s: %v", r.user, why)
	}
	if jobs := r.hand("squeue", "-h", "-u", r.user, "-o", "%j"); strings.Contains(jobs, "wrap") {
		t.Errorf("it has submitted %s", jobs)
	}
	if why := trial.Submits(ctx, r.user, []string{"--nodelist=c1n99"}); !why.Refused() || !strings.Contains(why.Detail, "in partition batch") {
		t.Errorf("with an option that Slurm refuses: %v", why)
	}
	if why := trial.Submits(ctx, "no-such-account", nil); why.Code != grid.NotAllowed {
		t.Errorf("of an account that is not there: %v", why)
	}
	if off, known, why := trial.Clock(ctx); why.Refused() || !known || off < -grid.Second || off > grid.Second {
		t.Errorf("its clock is %v ahead, %t, %v", off, known, why)
	}
	if f, err := trial.TryFolder([]string{r.user}); err != nil || !strings.Contains(f.Said, "can be written") {
		t.Errorf("folder: %+v, %v", f, err)
	}
	trial.Commands = r.as("news")
	if _, why := trial.Rights(ctx); why.Code != grid.NotAllowed || !strings.Contains(why.Detail, "AdminLevel=Operator") {
		t.Errorf("without rights: %s, %v", why.Code, why)
	}
	trial.Holder = "no-such-account"
	if _, why := trial.Rights(ctx); why.Code != grid.NotAllowed || !strings.Contains(why.Detail, "useradd") {
		t.Errorf("without a holder: %v", why)
	}
}
