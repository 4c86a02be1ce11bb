//go:build linux

package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// patience bounds the waits for processes, which as a rule take some milliseconds.
const patience = time.Minute

// TestMain runs the tests or, in a process that one of them has started, the supervisor of a
// work, or a site that begins one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "supervise" {
		if _, err := supervisor.Called(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "site" {
		beSite(os.Args[2])
	}
	os.Exit(m.Run())
}

// beSite is a site that begins the command on its standard input, and stays.
func beSite(folder string) {
	var c agents.Command
	d, err := New(config(folder))
	if err == nil {
		err = json.NewDecoder(os.Stdin).Decode(&c)
	}
	if err != nil {
		panic(err)
	}
	d.Do(context.Background(), c, func(m agents.Message) { fmt.Println(m.(agents.CommandDone).Outcome) })
	select {}
}

func config(folder string) Config {
	binary, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Config{Folder: folder, Nodes: []string{"s2", "s1", "s3"}, Supervisor: []string{binary, "supervise"}, Grace: 500 * time.Millisecond}
}

// somebody is an account that work may run as.
func somebody() string {
	if os.Geteuid() == 0 {
		return "nobody"
	}
	a, err := ownAccount()
	if err != nil {
		panic(err)
	}
	return a.Name
}

// machine is a driver under test, with a folder that lasts as long as the test.
type machine struct {
	*testing.T
	*Driver
}

func newMachine(t *testing.T) machine {
	t.Helper()
	t.Parallel()
	m := machine{T: t}
	m.restart(filepath.Join(t.TempDir(), "work"))
	t.Cleanup(func() {
		list, _ := os.ReadDir(m.cfg.Folder)
		for _, e := range list {
			if !properName(e.Name()) {
				continue
			}
			if s := m.work(e.Name()).state(); s.runs {
				_ = syscall.Kill(s.claim.Process.PID, syscall.SIGKILL)
			}
			_, _ = supervisor.KillMarked(m.work(e.Name()).folder(), "")
		}
	})
	return m
}

// restart makes the driver anew, as a new life of the site does.
func (m *machine) restart(folder string) {
	m.Helper()
	c := config(folder)
	if m.Driver != nil {
		c.Ungrouped = m.cfg.Ungrouped
	}
	d, err := New(c)
	if err != nil {
		m.Fatal(err)
	}
	m.Driver = d
}

// order is a command that runs something for an hour at most.
func (m machine) order(name string, argv ...string) agents.Command {
	return agents.Command{Ref: 7, Verb: agents.Run, Name: name, Start: now(), End: now().Add(grid.Hour), Nodes: []string{"s1", "s2"}, User: somebody(), Site: "north",
		Work: &grid.Handover{Work: grid.Work{Command: argv}, Job: "vo1/wave", User: "ana", Leg: 1, Legs: 2, Peers: []grid.Peer{{Site: "south", Nodes: []string{"x1"}}}}}
}

// does has the driver carry out a command.
func (m machine) does(c agents.Command, want agents.Outcome, words string) {
	m.Helper()
	var done agents.CommandDone
	m.Do(m.Context(), c, func(a agents.Message) { done = a.(agents.CommandDone) })
	if done.Ref != c.Ref || done.Name != c.Name || done.Outcome != want || !strings.Contains(done.Reason.String(), words) {
		m.Fatalf("%s %s: %+v, want %s with %q", c.Verb, c.Name, done, want, words)
	}
}

func (m machine) runs(c agents.Command) { m.Helper(); m.does(c, agents.Done, "") }
func (m machine) ends(name string) {
	m.Helper()
	m.does(agents.Command{Verb: agents.End, Name: name}, agents.Done, "")
}
func (m machine) sees() *grid.Look {
	m.Helper()
	return m.asks(agents.LookRequest{Ref: 3}).(agents.Looked).Look
}
func (m machine) prints(name string) string {
	m.Helper()
	return string(m.asks(agents.OutputRequest{Name: name, From: -grid.MaxTail}).(agents.Output).Data)
}

func (m machine) asks(q agents.Message) (a agents.Message) {
	m.Helper()
	m.Do(m.Context(), q, func(got agents.Message) { a = got })
	if l, ok := a.(agents.Looked); ok && l.Look == nil {
		m.Fatal(l.Failure)
	}
	return a
}

// job is how a look shows a work, nil if it does not.
func (m machine) job(name string) *grid.ManagedJob {
	m.Helper()
	l := m.sees()
	if i := slices.IndexFunc(l.Jobs, func(j grid.ManagedJob) bool { return j.Name == name }); i >= 0 {
		return &l.Jobs[i]
	}
	return nil
}

// until waits for something to be so.
func (m machine) until(what string, holds func() bool) {
	m.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			m.Fatalf("not %s within %v", what, patience)
		}
	}
}

// over waits for a work's end.
func (m machine) over(name string) grid.ManagedJob {
	m.Helper()
	var last *grid.ManagedJob
	m.until("over: "+name, func() bool { last = m.job(name); return last != nil && last.State == grid.ManagedEnded })
	return *last
}

// cutOff runs a command that prints ready and goes on until its window ends, and returns its
// order once it has ended. On a machine that is slow the window may be over before it is
// ready; then another work gets a longer one.
func (m machine) cutOff(name string, argv ...string) agents.Command {
	m.Helper()
	for window := 500 * grid.Millisecond; ; window *= 3 {
		c := m.order(name, argv...)
		c.End = now().Add(window)
		m.runs(c)
		m.until("over: "+name, func() bool { return m.work(name).read(nil, lives{}).result != nil })
		if strings.Contains(m.prints(name), "ready\n") {
			return c
		}
		name += "-longer"
	}
}

// printed waits until a work has printed something.
func (m machine) printed(name, words string) {
	m.Helper()
	m.until("printed: "+words, func() bool { return strings.Contains(m.prints(name), words) })
}

// gone waits until there is no process of a number.
func (m machine) gone(pid int) {
	m.Helper()
	m.until(fmt.Sprint("gone: ", pid), func() bool { _, there := supervisor.Find(pid); return !there })
}

// number is one that a work has printed after a word.
func (m machine) number(name, word string) int {
	m.Helper()
	m.printed(name, word)
	_, rest, _ := strings.Cut(m.prints(name), word)
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		m.Fatal(err)
	}
	return n
}
