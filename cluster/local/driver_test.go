//go:build linux

package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

func TestDriver_ShowsItsNodesAndWhoIsOnThem(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "sleep", "1000"))
	l := m.sees()
	want := []grid.ManagedNode{{Name: "s1", State: grid.NodeUp, CPUs: 1, Busy: 1}, {Name: "s2", State: grid.NodeUp, CPUs: 1, Busy: 1}, {Name: "s3", State: grid.NodeUp, CPUs: 1}}
	if fmt.Sprint(l.Nodes) != fmt.Sprint(want) || l.At > now() || l.At < now().Add(-grid.Minute) || len(l.Jobs) != 1 || l.Jobs[0].State != grid.ManagedRunning || l.Jobs[0].Limit != grid.Hour {
		t.Errorf("%+v", l)
	}
	m.ends("bourse.1")
	if j := m.over("bourse.1"); j.Why != supervisor.WhyTold || j.Signal != int(syscall.SIGTERM) || j.Exit != 128+int(syscall.SIGTERM) {
		t.Errorf("%+v", j)
	}
}

// A site does not see the work of another in its folder, so it ends none of it, whatever its file
// says; its own it sees.
func TestDriver_ShowsNoWorkOfAnotherSite(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "sleep", "1000")) // of site north
	for site, want := range map[string]bool{"south": false, "north": true} {
		c := m.cfg
		c.Site = site
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		l, err := d.look(now())
		if err != nil || (len(l.Jobs) == 1) != want {
			t.Errorf("%s sees %+v, %v", site, l, err)
		}
	}
	m.ends("bourse.1")
}

// The site's process is killed: the work goes on, and the next life finds it and its
// end.
func TestDriver_WorkOutlivesTheSitesProcess(t *testing.T) {
	m := newMachine(t)
	c := m.order("bourse.1", "sh", "-c", "echo pid $$; until [ -e go ]; do sleep 0.02; done; exit 4")
	text, _ := json.Marshal(c)
	site := exec.Command(m.cfg.Supervisor[0], "site", m.cfg.Folder)
	site.Stdin = bytes.NewReader(text)
	said, err := site.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	word := make([]byte, len("done\n"))
	if _, err := said.Read(word); err != nil || string(word) != "done\n" {
		t.Fatal(err, string(word))
	}
	_ = site.Process.Kill()
	_ = site.Wait()
	m.restart(m.cfg.Folder)
	if j := m.job("bourse.1"); j == nil || j.State != grid.ManagedRunning {
		t.Fatalf("%+v", j)
	}
	pid := m.number("bourse.1", "pid ")
	m.runs(c) // asked again: the same answer, and nothing is begun
	if err := os.WriteFile(filepath.Join(m.work("bourse.1").file(supervisor.HomeFolder), "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if j := m.over("bourse.1"); j.Exit != 4 {
		t.Errorf("%+v", j)
	}
	m.gone(pid)
	if out := m.prints("bourse.1"); strings.Count(out, "pid ") != 1 {
		t.Errorf("it ran twice: %s", out)
	}
}

// However often and by whomever it is asked for, a work runs once.
func TestDriver_RunsOnceWhoeverAsks(t *testing.T) {
	m := newMachine(t)
	c := m.order("bourse.1", "sh", "-c", "echo once")
	if err := m.prepare(m.work("bourse.1"), c); err != nil { // and the site died here
		t.Fatal(err)
	}
	if j := m.job("bourse.1"); j != nil {
		t.Errorf("shown before it has begun: %+v", j)
	}
	done := make(chan error)
	for range 4 {
		go func() { done <- m.begin(t.Context(), m.work("bourse.1")) }()
	}
	begun := 0
	for range 4 {
		if err := <-done; err == nil {
			begun++
		}
	}
	m.over("bourse.1")
	m.runs(c)
	if out := m.prints("bourse.1"); out != "once\n" || begun != 1 {
		t.Errorf("begun %d times: %q", begun, out)
	}
}

// What the machine lost of an order when it failed before the work was claimed is made again, and
// the work begins. Once it is claimed it does not, whatever else was lost.
func TestDriver_AnOrderThatTheMachineLostIsGivenAgain(t *testing.T) {
	m := newMachine(t)
	half := m.work("bourse.1")
	if err := errors.Join(os.MkdirAll(half.file(supervisor.HomeFolder), 0o711), os.WriteFile(half.file(supervisor.ScriptFile), nil, 0o700)); err != nil {
		t.Fatal(err)
	}
	if l := m.sees(); len(l.Jobs) != 0 {
		t.Errorf("%+v", l)
	}
	m.runs(m.order("bourse.1", "true"))
	if j := m.over("bourse.1"); j.Exit != 0 || j.State != grid.ManagedEnded {
		t.Errorf("%+v", j)
	}
	claimed := m.work("bourse.2")
	if err := errors.Join(os.MkdirAll(string(claimed), 0o711), claimed.folder().Claim(supervisor.Process{})); err != nil {
		t.Fatal(err)
	}
	if out, why := m.command(t.Context(), m.order("bourse.2", "true")); out != agents.Denied || why.Code != grid.Withdrawn {
		t.Errorf("%v, %v", out, why)
	}
}

// Work that was ended before it began never begins.
func TestDriver_EndedBeforeItBegan(t *testing.T) {
	m := newMachine(t)
	c := m.order("bourse.1", "sh", "-c", "echo begun")
	if err := m.prepare(m.work("bourse.1"), c); err != nil {
		t.Fatal(err)
	}
	m.ends("bourse.1")
	m.ends("bourse.1")
	m.does(c, agents.Denied, "it was ended before")
	if _, err := os.Stat(m.work("bourse.1").file(supervisor.OutputFile)); !os.IsNotExist(err) {
		t.Errorf("it has begun: %v", err)
	}
	m.does(agents.Command{Verb: agents.Delete, Name: "bourse.1"}, agents.Done, "")
	m.does(c, agents.Denied, "it was deleted")
}

// Work is killed at its window's end, and deleted before anybody has looked. The next look
// shows how it ended all the same, even in another life of the site.
func TestDriver_ShowsTheResultOfWorkThatWasDeletedUnseen(t *testing.T) {
	m := newMachine(t)
	name := m.cutOff("bourse.1", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.02; done").Name
	m.does(agents.Command{Verb: agents.Delete, Name: name}, agents.Done, "")
	for range 2 {
		if j := m.job(name); j == nil || j.State != grid.ManagedEnded || j.Exit != 128+int(syscall.SIGKILL) || j.Why != supervisor.WhyWindow {
			t.Fatalf("%+v", j)
		}
		m.restart(m.cfg.Folder)
	}
	for _, old := range m.aside.list(time.Now().Add(asideFor)) {
		t.Errorf("%s is shown for ever", old)
	}
}

func TestDriver_DeleteEndsTheWorkAndKeepsItsOutput(t *testing.T) {
	m := newMachine(t)
	// exec: a shell that outlives its child by a moment says that it was terminated.
	m.runs(m.order("bourse.1", "sh", "-c", "echo hello; exec sleep 1000"))
	m.printed("bourse.1", "hello")
	deletes := agents.Command{Verb: agents.Delete, Name: "bourse.1"}
	m.does(deletes, agents.Denied, "it was told to end")
	m.over("bourse.1")
	m.does(deletes, agents.Done, "")
	m.does(deletes, agents.Done, "")
	if list := m.names(); len(list) > 0 {
		t.Errorf("%q are still there", list)
	}
	if j := m.job("bourse.1"); j == nil || j.State != grid.ManagedEnded {
		t.Errorf("%+v; how it ended is shown for a while", j)
	}
	m.aside.list(time.Now().Add(asideFor))
	if j := m.job("bourse.1"); j != nil {
		t.Errorf("%+v", j)
	}
	if out := m.prints("bourse.1"); out != "hello\n" {
		t.Errorf("%q", out)
	}
	m.does(m.order("bourse.1", "echo"), agents.Denied, "it was deleted")
	m.does(agents.Command{Verb: agents.Delete, Name: "bourse.never"}, agents.Done, "")
	m.does(agents.Command{Verb: agents.End, Name: "bourse.never"}, agents.Done, "")
}

// A machine that has restarted has lost what ran on it; a process that has the number
// now is another one, and is left alone.
func TestDriver_IsNotFooledByANumber(t *testing.T) {
	m := newMachine(t)
	for _, x := range []struct {
		name, folder, words string
		change              func(*supervisor.Process)
	}{
		{"bourse.restarted", "bourse.restarted", "the machine has restarted since", func(p *supervisor.Process) { p.Boot = "another" }},
		{"bourse.later", "bourse.later", "was killed", func(p *supervisor.Process) { p.Started-- }},
		{"bourse.foreign", "bourse.another", "was killed", func(*supervisor.Process) {}},
		{"bourse.1", "bourse.1", "", nil}, // the right one
	} {
		other := exec.Command("sh", "-c", "read word", string(m.work(x.folder)))
		if _, err := other.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
		p, ok := supervisor.Find(other.Process.Pid)
		if !ok {
			t.Fatal("it is not there")
		}
		c := m.order(x.name, "echo")
		if x.change != nil {
			x.change(&p)
		}
		if err := errors.Join(m.prepare(m.work(x.name), c), m.work(x.name).folder().Claim(p)); err != nil {
			t.Fatal(err)
		}
		if x.change == nil {
			if j := m.job(x.name); j == nil || j.State != grid.ManagedRunning {
				t.Errorf("%s: %+v", x.name, j)
			}
			m.ends(x.name)
			m.gone(p.PID)
			continue
		}
		if j := m.job(x.name); j == nil || j.State != grid.ManagedLost || !strings.Contains(j.Why, x.words) {
			t.Errorf("%s: %+v", x.name, j)
		}
		m.does(c, agents.Denied, x.words)
		m.ends(x.name)
		m.does(agents.Command{Verb: agents.Delete, Name: x.name}, agents.Done, "")
		if _, ok := supervisor.Find(other.Process.Pid); !ok {
			t.Errorf("%s: the other process was ended", x.name)
		}
	}
}

func TestDriver_RefusesWhatCannotBe(t *testing.T) {
	m := newMachine(t)
	run := func(change func(*agents.Command)) agents.Command {
		c := m.order("bourse.1", "echo")
		change(&c)
		return c
	}
	for _, x := range []struct {
		c     agents.Command
		words string
	}{
		{run(func(c *agents.Command) { c.Name = "../etc" }), "cannot name"},
		{run(func(c *agents.Command) { c.Name = ".ended" }), "cannot name"},
		{run(func(c *agents.Command) { c.Name = "" }), "cannot name"},
		{run(func(c *agents.Command) { c.Work = nil }), "nothing to run"},
		{run(func(c *agents.Command) { c.Work.Work.Command = nil }), "command missing"},
		{run(func(c *agents.Command) { c.End = now() }), "its window ended"},
		{run(func(c *agents.Command) { c.User = "" }), "add an [[account]]"},
		{run(func(c *agents.Command) { c.User = "root" }), "root"},
		{run(func(c *agents.Command) { c.User = "no-such-account" }), "no-such-account"},
		{agents.Command{Verb: agents.Reserve, Name: "bourse.1"}, "know no reservations"},
		{agents.Command{Verb: agents.Assign, Name: "bourse.1"}, "know no reservations"},
	} {
		m.does(x.c, agents.Denied, x.words)
	}
	if list, err := os.ReadDir(m.cfg.Folder); err != nil || len(list) != 1 {
		t.Errorf("%v: left %v", err, list)
	}
}

// A site that does not run as root runs work as itself alone, and never as root.
func TestDriver_RunsWorkAsItsOwnAccountWithoutRights(t *testing.T) {
	m := newMachine(t)
	m.self = supervisor.Account{Name: "ana", UID: 1234}
	if a, err := m.account("ana"); err != nil || a.Switch || a.UID != 1234 {
		t.Errorf("%+v, %v", a, err)
	}
	for _, name := range []string{"", "root", "bob"} {
		if a, err := m.account(name); err == nil {
			t.Errorf("%q: %+v", name, a)
		}
	}
}

func TestDriver_ForgetsWhatWasDeletedLongAgo(t *testing.T) {
	m := newMachine(t)
	at := time.Now()
	for i := range keptMost + 20 {
		name := m.ended(fmt.Sprintf("bourse.%04d", i))
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		age := time.Duration(keptMost+20-i) * time.Minute
		if i < 10 {
			age = usualKeep + time.Hour
		}
		if err := os.Chtimes(name, at, at.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	m.tidied = time.Time{}
	m.tidy(at)
	list, err := os.ReadDir(m.ended(""))
	if err != nil || len(list) != keptMost || list[0].Name() != "bourse.0020" {
		t.Errorf("%d left, the first %v, %v", len(list), list[0], err)
	}
	m.tidy(at.Add(2 * usualKeep))
	if list, _ := os.ReadDir(m.ended("")); len(list) != keptMost-tidyMost {
		t.Errorf("%d left of what is too old, after %d at a time", len(list), tidyMost)
	}
}

// An end is shown for an hour, and no shorter than an hour of this life: the cluster
// may have been away when it came.
func TestDriver_ShowsAnEndLongEnough(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "echo", "hello"))
	m.over("bourse.1")
	for _, x := range []struct {
		begun, at time.Duration
		shown     bool
	}{{-3 * time.Hour, shownFor / 2, true}, {2 * time.Hour, 2*time.Hour + shownFor/2, true}, {-3 * time.Hour, 2 * shownFor, false}} {
		start := time.Now()
		m.begun, m.tidied = start.Add(x.begun), time.Time{}
		m.tidy(start.Add(x.at))
		if shown := m.job("bourse.1") != nil; shown != x.shown {
			t.Errorf("begun %v, at %v: shown %v", x.begun, x.at, shown)
		}
	}
	if out := m.prints("bourse.1"); out != "hello\n" {
		t.Errorf("its output is %q", out)
	}
}

// A look remembers what it has shown of work that is over, and reads it no more; what runs is
// read anew, and what is not there any more is forgotten.
func TestLook_ReadsWorkThatIsOverOnce(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "sh", "-c", "exit 3"))
	m.runs(m.order("bourse.2", "sleep", "1000"))
	first := m.over("bourse.1")
	if err := os.Remove(m.work("bourse.1").file(supervisor.ResultFile)); err != nil {
		t.Fatal(err)
	}
	if again := m.job("bourse.1"); again == nil || fmt.Sprint(*again) != fmt.Sprint(first) || len(m.known) != 2 {
		t.Errorf("%+v, first %+v, %d are known", again, first, len(m.known))
	}
	if x := m.known["bourse.2"]; x.over != nil || x.order == nil {
		t.Errorf("what runs is remembered as %+v", x)
	}
	if err := os.RemoveAll(string(m.work("bourse.1"))); err != nil {
		t.Fatal(err)
	}
	if m.job("bourse.1") != nil || len(m.known) != 1 {
		t.Errorf("%d are known", len(m.known))
	}
}
