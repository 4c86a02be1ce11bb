//go:build linux

package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// fighter is a program that fights for its life for at most a minute: chains of forks that
// ignore SIGTERM, each of which ends as soon as it has started the next.
func fighter(t *testing.T) []string {
	t.Helper()
	if cc, err := exec.LookPath("gcc"); err == nil {
		folder := t.TempDir()
		if err := os.Chmod(filepath.Dir(folder), 0o711); err != nil { // for the account of the work
			t.Fatal(err)
		}
		binary := filepath.Join(folder, "chains")
		if out, err := exec.Command(cc, "-O1", "-o", binary, "testdata/chains.c").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return []string{binary, "6", "60"}
	}
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("needs gcc, or else perl, for a program that forks away faster than it can be listed")
	}
	const chains = `$SIG{TERM} = "IGNORE"; $| = 1; $end = time + 60;
for (1 .. 6) { next if fork; setpgrp; while (time < $end) { exit if fork } exit }
print "fights\n"; sleep 60`
	return []string{perl, "-e", chains, "chains-of-" + filepath.Base(t.TempDir())}
}

// alive counts the processes with a word in their command lines.
func alive(word string) (n int) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range list {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), word) && !strings.Contains(string(text), "supervise") {
			n++
		}
	}
	return n
}

// Chains of forks that ignore SIGTERM do not outlive their window: when the work is shown as
// over, nothing of it is left. So it is in a cgroup, which is killed at once, and without one,
// whether or not each process of a chain has a session of its own.
func TestDriver_WorkThatForksAwayForEverDoesNotOutliveItsWindow(t *testing.T) {
	for _, x := range []struct {
		name      string
		ungrouped bool
		more      []string
	}{{"cgroup", false, nil}, {"by-children", true, nil}, {"by-children-in-sessions", true, []string{"s"}}} {
		t.Run(x.name, func(t *testing.T) {
			m := newMachine(t)
			m.cfg.Ungrouped = x.ungrouped
			m.restart(m.cfg.Folder)
			if !x.ungrouped && m.cgroup == "" {
				t.Skip("no cgroup of version 2 can be made here, which is how work is killed at once")
			}
			program := append(fighter(t), x.more...)
			name := "bourse.1"
			var c agents.Command
			for window := 2 * grid.Second; ; window *= 3 { // on a machine that is slow it is over before it fights
				c = m.order(name, program...)
				c.End = now().Add(window)
				m.runs(c)
				m.until("it fights or is over", func() bool {
					return strings.Contains(m.prints(name), "fights") || m.work(name).read(nil, lives{}).result != nil
				})
				if strings.Contains(m.prints(name), "fights") && m.work(name).read(nil, lives{}).result == nil {
					break
				}
				name += "-longer"
			}
			if alive(program[len(program)-len(x.more)-1])+alive(program[0]) == 0 && m.work(name).read(nil, lives{}).result == nil {
				t.Fatal("nothing of it is seen")
			}
			if j := m.over(name); j.Why != supervisor.WhyWindow || j.Signal != 9 {
				t.Errorf("%+v", j)
			}
			word := program[0]
			if filepath.Base(word) == "perl" {
				word = "chains-of-"
			}
			if n := alive(word); n > 0 {
				t.Errorf("%d of its processes are left", n)
			}
			m.until("gone: its cgroup", func() bool { _, err := os.Stat(m.group(name)); return err != nil })
		})
	}
}

// Work that cannot be killed stays on its nodes, and the operator hears of it once.
func TestDriver_SaysWhatCannotBeKilled(t *testing.T) {
	m := newMachine(t)
	var said []string
	m.cfg.Warn = func(words string) { said = append(said, words) }
	m.runs(m.order("bourse.1", "sleep", "1000"))
	if j := m.job("bourse.1"); j == nil || j.Why != "" || m.Unkillable() != 0 {
		t.Fatalf("%+v, %d", j, m.Unkillable())
	}
	if err := m.work("bourse.1").write(supervisor.LeftFile, supervisor.Left{Since: supervisor.Now(), Processes: 3}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if j := m.job("bourse.1"); j == nil || j.State != grid.ManagedRunning || !strings.Contains(j.Why, "3 of its processes are there") || m.Unkillable() != 1 {
			t.Fatalf("%+v, %d", j, m.Unkillable())
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "work bourse.1 of account "+somebody()+" on s1, s2 is not over") {
		t.Errorf("%q", said)
	}
	m.ends("bourse.1")
	m.over("bourse.1")
	if m.Unkillable() != 0 {
		t.Error("what is over counts")
	}
}
