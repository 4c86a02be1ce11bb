package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/grid"
)

// fakeSlurm are programs in place of Slurm's, for a shell that is asked in its stead: they print
// what 22.05 has printed, and note what is submitted and cancelled.
const fakeSlurm = `#!/bin/sh
here=${0%/*}
case ${0##*/} in
squeue) [ -e "$here/down" ] && { echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1; }
  case " $* " in *' --json '*) cat "$here/squeue.json";; *) cat "$here/named" 2>/dev/null; true;; esac;;
sinfo) case " $* " in *' --json '*) cat "$here/sinfo.json";; *) echo 'c1n1|idle|batch|1:00:00';; esac;;
scontrol) echo 'No reservations in the system';;
sbatch) printf '%s\n' "$@" >"$here/submitted"; cat >"$here/wrapper"; echo 7;;
id) echo ana;;
scancel) printf '%s\n' "$*" >>"$here/cancelled";;
esac
`

// newShell is a driver over the shell of this machine, with its folder and that of the fake.
func newShell(t *testing.T, change func(*Config)) (d *Driver, folder, fake string) {
	t.Helper()
	fake, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"squeue", "sinfo", "scontrol", "sbatch", "scancel", "id"} {
		if err := os.WriteFile(filepath.Join(fake, name), []byte(fakeSlurm), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"squeue.json", "sinfo.json"} {
		if err := os.WriteFile(filepath.Join(fake, name), recorded(t, "22.05", name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Commands: Commands{Folder: fake, Shell: &ssh.Host{}}, Partitions: []string{"batch"}, Folder: filepath.Join(home, "it's work"), Unreserved: true}
	if change != nil {
		change(&cfg)
	}
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d, cfg.Folder, fake
}

func (d *Driver) ask(t *testing.T, m agents.Command) (agents.Outcome, grid.Reason) {
	t.Helper()
	var done agents.CommandDone
	d.Do(t.Context(), m, func(a agents.Message) { done = a.(agents.CommandDone) })
	return done.Outcome, done.Reason
}

// Work that is submitted over a shell finds its files there, and what it leaves comes back in a
// look of one call. Nothing of a user is on the command line of Slurm's programs.
func TestAfar_WorkComesBackByItsFiles(t *testing.T) {
	t.Parallel()
	d, folder, fake := newShell(t, nil)
	m := example(grid.Work{Script: "#!/bin/sh\necho \"it's $1\"\n", Env: []grid.EnvVar{{Name: "ODD", Value: "a'b\"c\n$PATH"}}})
	m.User, m.Nodes = d.afar.who.name, []string{"c1n1"}
	if outcome, why := d.ask(t, m); outcome != agents.Done {
		t.Fatalf("run is %s: %v", outcome, why)
	}
	submitted := string(must(os.ReadFile(filepath.Join(fake, "submitted"))))
	if strings.Contains(submitted, "--reservation") || strings.Contains(submitted, "ODD") || !strings.Contains(submitted, "--job-name="+m.Name+"\n") {
		t.Errorf("submitted with %s", submitted)
	}
	if got, want := string(must(os.ReadFile(filepath.Join(fake, "wrapper")))), wrapper(m, d.work.of(m.Name)); got != want {
		t.Errorf("the wrapper is\n%s", got)
	}
	if got := string(must(os.ReadFile(filepath.Join(folder, m.Name, "script")))); got != m.Work.Work.Script {
		t.Errorf("the script is %q", got)
	}
	for file, text := range map[string]string{"begun": "job=7\nbegin=1800000001\nnodes=c1n1\n", "exit": "exit=3\nend=1800000009\n", "output": "hello\n"} {
		if err := os.WriteFile(filepath.Join(folder, m.Name, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look, err := d.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(look.Jobs, func(j grid.ManagedJob) bool { return j.Name == m.Name })
	if i < 0 || look.Jobs[i].Exit != 3 || look.Jobs[i].State != grid.ManagedEnded || look.Jobs[i].Number != "7" || len(look.Nodes) == 0 {
		t.Errorf("the look shows %+v", look.Jobs)
	}
	if outcome, why := d.ask(t, m); outcome != agents.Denied || why.Code != grid.BadState {
		t.Errorf("run of what has begun is %s: %v", outcome, why)
	}
	d.Do(t.Context(), agents.OutputRequest{Name: m.Name, From: -1}, func(a agents.Message) {
		if out := a.(agents.Output); string(out.Data) != "hello\n" {
			t.Errorf("its output is %+v", out)
		}
	})
	m.Verb = agents.Delete
	if outcome, why := d.ask(t, m); outcome != agents.Done {
		t.Errorf("delete is %s: %v", outcome, why)
	}
	if _, err := os.Stat(filepath.Join(folder, "done", m.Name, "output")); err != nil {
		t.Error(err)
	}
}

// All work is the connection's account's, and a folder that cannot be written is said.
func TestAfar_RefusesOtherAccountsAndAFullDisk(t *testing.T) {
	t.Parallel()
	d, folder, _ := newShell(t, nil)
	m := example(grid.Work{Script: "#!/bin/sh\n"})
	m.User, m.Nodes = "somebody", []string{"c1n1"}
	if outcome, why := d.ask(t, m); outcome != agents.Denied || why.Code != grid.NotAllowed || !strings.Contains(why.String(), "the account of the connection") {
		t.Errorf("run as another is %s: %v", outcome, why)
	}
	m.User = d.afar.who.name
	if err := os.WriteFile(filepath.Join(folder, ".new-"+m.Name), nil, 0o600); err != nil { // and rm fails, as on a disk that is read only
		t.Fatal(err)
	}
	d.afar.path += "/gone"
	if outcome, why := d.ask(t, m); outcome == agents.Done || !strings.Contains(why.String(), "gone") {
		t.Errorf("run without a folder is %s: %v", outcome, why)
	}
	if _, err := d.Look(t.Context()); err == nil {
		t.Error("a look that cannot read the folder leaves work out")
	}
}

// A look that failed, a controller that is down and a clock that is off are unknown, never empty.
func TestAfar_WhatIsNotKnownIsAFailure(t *testing.T) {
	t.Parallel()
	d, _, fake := newShell(t, nil)
	if err := os.WriteFile(filepath.Join(fake, "down"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	looked := func() (got agents.Looked) {
		d.spaced = spaced{}
		d.Do(t.Context(), agents.LookRequest{}, func(a agents.Message) { got = a.(agents.Looked) })
		return got
	}
	if got := looked(); got.Look != nil || got.Failure.Code != grid.NoCluster || !strings.Contains(got.Failure.String(), "Unable to contact") {
		t.Errorf("got %+v", got)
	}
	m := example(grid.Work{Script: "#!/bin/sh\n"})
	m.User, m.Nodes = d.afar.who.name, []string{"c1n1"}
	if outcome, why := d.ask(t, m); outcome != agents.Failure {
		t.Errorf("run is %s: %v", outcome, why)
	}
	if err := os.Remove(filepath.Join(fake, "down")); err != nil {
		t.Fatal(err)
	}
	d.cfg.Now = func() grid.Time { return wallClock() + 3_600_000 }
	if got := looked(); got.Look != nil || !strings.Contains(got.Failure.String(), "have NTP set both") {
		t.Errorf("got %+v", got)
	}
}

// The clock there is compared with the middle of the call: 2 s and half of it may lie between.
func TestClockFits_TheMiddleOfTheCall(t *testing.T) {
	t.Parallel()
	const at = grid.Time(1_000_000_500) // the middle of a second, as date is read in whole ones
	date := fmt.Append(nil, int64(at/1000))
	for _, c := range []struct {
		before, after grid.Duration
		fits          bool
	}{
		{0, 0, true}, {2000, 2000, true}, {2001, 2001, false}, {-2000, -2000, true}, {-2001, -2001, false},
		{-10_000, 10_000, true}, {0, 10_000, true}, {-10_000, 0, true}, {2001, 12_001, false}, {-12_001, -2001, false},
	} {
		if err := clockFits(date, at.Add(c.before), at.Add(c.after)); (err == nil) != c.fits {
			t.Errorf("call from %v to %v: %v", c.before, c.after, err)
		}
	}
	for _, odd := range []string{"", "x", "-1", "99999999999999999999"} {
		if clockFits([]byte(odd), at, at) == nil {
			t.Errorf("%q is taken for a time", odd)
		}
	}
}

// Looks are a minute apart, ten seconds after one that failed: who asks sooner gets the last.
func TestSpaced_KeepsLooksApart(t *testing.T) {
	t.Parallel()
	now, made := time.Unix(1000, 0), 0
	var fail error
	s := spaced{clock: func() time.Time { return now }}
	ask := func(after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		look, err := s.look(t.Context(), func(context.Context) (*grid.Look, error) {
			made++
			return &grid.Look{At: grid.Time(made)}, fail
		})
		if made != want || err != fail || fail == nil && look.At != grid.Time(want) {
			t.Errorf("after %v more: %d looks, %+v, %v; must be %d", after, made, look, err, want)
		}
	}
	ask(0, 1)
	ask(10*time.Second, 1)
	ask(40*time.Second, 1)
	fail = errors.New("no connection")
	ask(10*time.Second, 2)
	ask(5*time.Second, 2)
	fail = nil
	ask(5*time.Second, 3)
	ask(50*time.Second, 3)
	ask(10*time.Second, 4)
}

// The listing of the folders is read as it is, and lines that make no sense are left out.
func FuzzReadNotes(f *testing.F) {
	f.Add([]byte("= a\n- begun\n+job=7\n+x\n\n- exit\n= ../b\n- begun\n+job=8\n+= c\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, files := range readNotes(text) {
			if !plainName(name) {
				t.Errorf("folder %q", name)
			}
			for file := range files {
				if strings.Contains(file, "\n") {
					t.Errorf("file %q", file)
				}
			}
		}
	})
}
