//go:build linux

package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

func TestDriver_RunsWorkWithItsEnvironmentAndShowsItsEnd(t *testing.T) {
	m := newMachine(t)
	c := m.order("bourse.1", "sh", "-c", "env; id -un; pwd; echo done >&2; exit 3")
	c.Work.Work.Env = []grid.EnvVar{{Name: "COLOUR", Value: "blue and green"}}
	c.Work.Meeting, c.Work.Token = "127.0.0.1:7402", "secret"
	before := now()
	m.runs(c)
	j := m.over("bourse.1")
	if j.User != somebody() || j.Exit != 3 || j.Signal != 0 || j.Why != "" || j.Count != 2 || !slices.Equal(j.Nodes, c.Nodes) || j.Start < before || j.End < j.Start || j.End > now() {
		t.Errorf("%+v", j)
	}
	out := m.prints("bourse.1")
	for _, line := range []string{"BOURSE_JOB=vo1/wave", "BOURSE_LEG=1", "BOURSE_LEGS=2", "BOURSE_SITE=north", "BOURSE_NODES=s1,s2", "BOURSE_PEERS=south:x1",
		fmt.Sprintf("BOURSE_START=%d", (int64(c.Start)+999)/1000), fmt.Sprintf("BOURSE_END=%d", int64(c.End)/1000), "BOURSE_RENDEZVOUS=127.0.0.1:7402",
		"BOURSE_TOKEN=secret", "COLOUR=blue and green", "USER=" + somebody(), "LOGNAME=" + somebody(), somebody(), m.work("bourse.1").file(supervisor.HomeFolder), "done"} {
		if !slices.Contains(strings.Split(out, "\n"), line) {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
	if strings.Contains(out, "GOPATH") || strings.Contains(out, "SHLVL=9") {
		t.Errorf("the site's own environment is there:\n%s", out)
	}
}

func TestDriver_AScriptIsRunByWhatItsFirstLineNames(t *testing.T) {
	m := newMachine(t)
	c := m.order("bourse.1")
	c.Work.Work = grid.Work{Script: "#!/bin/sh -e\necho from $0\nstat -c %a $0\n"}
	m.runs(c)
	if j := m.over("bourse.1"); j.Exit != 0 {
		t.Errorf("%+v: %s", j, m.prints("bourse.1"))
	}
	if out := m.prints("bourse.1"); !strings.Contains(out, "script\n700\n") {
		t.Error(out)
	}
	c = m.order("bourse.2")
	c.Work.Work = grid.Work{Script: "#!" + strings.Repeat("x", grid.MaxScript)}
	m.does(c, agents.Denied, "at most 65536 are taken")
}

func TestDriver_TheWindowsEndIsToldAndThenHeldTo(t *testing.T) {
	m := newMachine(t)
	kind := m.cutOff("bourse.kind", "sh", "-c", "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.05; done")
	if j := m.over(kind.Name); j.Exit != 5 || j.Signal != 0 || j.Why != supervisor.WhyWindow || j.End < kind.End || !strings.HasSuffix(m.prints(kind.Name), "bye\n") {
		t.Errorf("%+v: %s", j, m.prints(kind.Name))
	}
	rude := m.cutOff("bourse.rude", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done")
	if j := m.over(rude.Name); j.Exit != 137 || j.Signal != 9 || j.Why != supervisor.WhyWindow || j.End < rude.End.Add(grid.Duration(m.cfg.Grace.Milliseconds())) {
		t.Errorf("%+v", j)
	}
}

// fled is what tries to get away: into a session of its own, with a parent that ends,
// and without a mark in its environment.
const fled = `sh -c 'setsid env -i /bin/sh -c "echo fled \$\$; exec sleep 1000" & :' `

func TestDriver_WhatForksAwayEndsWithItsWork(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "sh", "-c", fled+"; sleep 1000"))
	pid := m.number("bourse.1", "fled ")
	m.ends("bourse.1")
	m.over("bourse.1")
	m.gone(pid)
	// And if the work ends by itself.
	m.runs(m.order("bourse.2", "sh", "-c", fled+"; until [ -e go ]; do sleep 0.02; done"))
	pid = m.number("bourse.2", "fled ")
	if err := os.WriteFile(filepath.Join(m.work("bourse.2").file(supervisor.HomeFolder), "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if j := m.over("bourse.2"); j.Exit != 0 || j.Why != "" {
		t.Errorf("%+v", j)
	}
	m.gone(pid)
}

// The supervisor is killed: so is the work, what it has left is found by its mark, and
// nothing begins again.
func TestDriver_AKilledSupervisorLosesTheWork(t *testing.T) {
	m := newMachine(t)
	c := m.order("bourse.1", "sh", "-c", "setsid sleep 1000 & echo child $!; echo pid $$; wait")
	m.runs(c)
	pid, child := m.number("bourse.1", "pid "), m.number("bourse.1", "child ")
	supervisor, err := strconv.Atoi(m.job("bourse.1").Number)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.gone(pid)
	m.until("lost", func() bool { return m.job("bourse.1").State == grid.ManagedLost })
	m.gone(child)
	m.does(c, agents.Denied, "the process that looked after it was killed")
	m.does(agents.Command{Verb: agents.Delete, Name: "bourse.1"}, agents.Done, "")
}

func TestDriver_OutputHasABound(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "sh", "-c", "echo first; yes"))
	file := m.work("bourse.1").file(supervisor.OutputFile)
	m.until("full", func() bool { info, err := os.Stat(file); return err == nil && info.Size() == supervisor.MaxOutput })
	first := m.asks(agents.OutputRequest{Name: "bourse.1", From: 0}).(agents.Output)
	if len(first.Data) != grid.MaxTail || !strings.HasPrefix(string(first.Data), "first\ny\n") || first.Size != supervisor.MaxOutput {
		t.Errorf("%d bytes of %d", len(first.Data), first.Size)
	}
	m.ends("bourse.1")
	m.over("bourse.1")
	info, err := os.Stat(file)
	if err != nil || info.Size() > supervisor.MaxOutput+200 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	if out := m.prints("bourse.1"); !strings.HasSuffix(out, "more bytes were printed and dropped; of an output 67108864 are kept]\n") || len(out) != grid.MaxTail {
		t.Errorf("%d bytes: %s", len(out), out[len(out)-120:])
	}
}

func TestDriver_OutputIsReadPieceByPiece(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "sh", "-c", "printf 0123456789"))
	m.over("bourse.1")
	for _, x := range []struct {
		from, at int64
		want     string
	}{{0, 0, "0123456789"}, {4, 4, "456789"}, {10, 10, ""}, {99, 10, ""}, {-3, 7, "789"}, {-99, 0, "0123456789"}} {
		a := m.asks(agents.OutputRequest{Ref: 9, Name: "bourse.1", From: x.from}).(agents.Output)
		if a.Ref != 9 || a.From != x.at || a.Size != 10 || string(a.Data) != x.want {
			t.Errorf("from %d: %+v", x.from, a)
		}
	}
	if a := m.asks(agents.OutputRequest{Name: "bourse.2"}).(agents.Output); a.Failure.Code != grid.Unknown || !strings.Contains(a.Failure.Detail, "more than 7d ago") {
		t.Errorf("%+v", a)
	}
	if a := m.asks(agents.OutputRequest{Name: "../x"}).(agents.Output); a.Failure.Code != grid.Invalid {
		t.Errorf("%+v", a)
	}
}

// A job's own mistakes give the status that a shell would give, and a line in the output.
func TestDriver_TheJobsOwnMistakes(t *testing.T) {
	m := newMachine(t)
	script := func(s string) func(*grid.Work) { return func(w *grid.Work) { w.Command, w.Script = nil, s } }
	for i, x := range []struct {
		change func(*grid.Work)
		exit   int
		words  string
	}{
		{func(w *grid.Work) { w.Command = []string{"no-such-program"} }, 127, "no-such-program: command not found"},
		{func(w *grid.Work) { w.Command = []string{"/no/such/program"} }, 127, "/no/such/program: not found"},
		{func(w *grid.Work) { w.Command = []string{"/etc/passwd"} }, 126, "/etc/passwd: cannot be run: "},
		{func(w *grid.Work) { w.Command = []string{"/tmp"} }, 126, "/tmp: cannot be run: "},
		{script("#!/no/such/interpreter\n"), 127, "not found"},
		{func(w *grid.Work) { w.Dir = "/no/such/folder" }, 126, "workdir: "},
		{func(w *grid.Work) { w.Dir = "/etc/passwd" }, 126, "workdir: "},
		{func(w *grid.Work) { w.Output = "no/such/folder/out" }, 126, "output: "},
		{func(w *grid.Work) { w.Dir, w.Output = "/dev", "null" }, 126, "output: "},
	} {
		c := m.order(fmt.Sprint("bourse.", i), "echo", "hello")
		x.change(&c.Work.Work)
		m.runs(c)
		if j := m.over(c.Name); j.Exit != x.exit || j.Why != "" || !strings.HasPrefix(m.prints(c.Name), "bourse: ") || !strings.Contains(m.prints(c.Name), x.words) {
			t.Errorf("%d: %+v, %q; want %d, %q", i, j, m.prints(c.Name), x.exit, x.words)
		}
	}
}

func TestDriver_OutputGoesWhereTheJobWantsIt(t *testing.T) {
	m := newMachine(t)
	c := m.order("bourse.1", "echo", "hello")
	c.Work.Work.Output = "out-%j.%l"
	m.runs(c)
	m.over("bourse.1")
	file := filepath.Join(m.work("bourse.1").file(supervisor.HomeFolder), "out-vo1_wave.1")
	if text, err := os.ReadFile(file); err != nil || string(text) != "hello\n" || m.prints("bourse.1") != "hello\n" {
		t.Errorf("%v: %q, %q", err, text, m.prints("bourse.1"))
	}
}

// With a site that runs as root, a job's output is opened by the rights of its account.
func TestDriver_OutputIsOpenedByTheAccountsRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	m := newMachine(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := m.order("bourse.1", "echo", "hello")
	c.Work.Work.Output = "link"
	if err := m.prepare(m.work("bourse.1"), c); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(m.work("bourse.1").file(supervisor.HomeFolder), "link")); err != nil {
		t.Fatal(err)
	}
	m.runs(c)
	if j := m.over("bourse.1"); j.Exit != 126 {
		t.Errorf("%+v", j)
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("%q, %v", text, err)
	}
}

// A file that the site's process has inherited from whoever started it never reaches
// work.
func TestDriver_InheritedDescriptorsDoNotReachWork(t *testing.T) {
	m := newMachine(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(secret)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	fd, err := syscall.Dup(int(f.Fd())) // without close-on-exec, as a shell's exec 9<FILE
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	m.runs(m.order("bourse.1", "sh", "-c", fmt.Sprintf("readlink /proc/$$/fd/* ; cat <&%d; echo end", fd)))
	m.over("bourse.1")
	if out := m.prints("bourse.1"); strings.Contains(out, "secret") || !strings.Contains(out, "pipe:") {
		t.Errorf("fd %d: %s", fd, out)
	}
}
