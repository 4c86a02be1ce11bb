//go:build linux

package local

import (
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// newCrewed is a machine on which one supervisor looks after several pieces of work.
func newCrewed(t *testing.T) machine {
	t.Helper()
	m := newMachine(t)
	if m.cgroup == "" {
		t.Skip("no cgroup of version 2 can be made here, without which each piece of work has a supervisor of its own")
	}
	return m
}

// looker is the number of the process that looks after a work.
func (m machine) looker(name string) int {
	m.Helper()
	n, err := strconv.Atoi(m.job(name).Number)
	if err != nil {
		m.Fatal(err)
	}
	return n
}

// Several pieces of work have one supervisor. Each ends alone, in the next life of the site
// too, with all that it has started; if the supervisor is killed, all that it has is lost.
func TestDriver_OneSupervisorLooksAfterSeveral(t *testing.T) {
	m := newCrewed(t)
	for _, name := range []string{"bourse.1", "bourse.2", "bourse.3", "bourse.4"} {
		m.runs(m.order(name, "sh", "-c", fled+"; sleep 1000"))
	}
	first := m.looker("bourse.1")
	if m.looker("bourse.2") != first || m.looker("bourse.4") != first {
		t.Fatalf("%d, %d, %d", first, m.looker("bourse.2"), m.looker("bourse.4"))
	}
	away := m.number("bourse.2", "fled ")
	m.ends("bourse.2")
	if j := m.over("bourse.2"); j.Why != supervisor.WhyTold || j.Signal != 15 {
		t.Errorf("%+v", j)
	}
	m.gone(away)
	m.restart(m.cfg.Folder)
	m.ends("bourse.3")
	m.over("bourse.3")
	m.runs(m.order("bourse.5", "sleep", "1000"))
	if m.looker("bourse.5") == first {
		t.Error("a supervisor takes work of two lives of the site")
	}
	lost := m.number("bourse.4", "fled ")
	if j := m.job("bourse.1"); j.State != grid.ManagedRunning {
		t.Errorf("%+v", j)
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bourse.1", "bourse.4"} {
		m.until("lost: "+name, func() bool { return m.job(name).State == grid.ManagedLost })
	}
	m.gone(lost)
	if j := m.job("bourse.5"); j.State != grid.ManagedRunning {
		t.Errorf("%+v", j)
	}
}

// A supervisor that has enough, or was killed, is given nothing more.
func TestDriver_TheNextSupervisorTakesOver(t *testing.T) {
	m := newCrewed(t)
	m.runs(m.order("bourse.1", "sleep", "1000"))
	m.crew.works = crewMost - 1
	m.runs(m.order("bourse.2", "sleep", "1000"))
	m.runs(m.order("bourse.3", "sleep", "1000"))
	if m.looker("bourse.1") != m.looker("bourse.2") || m.looker("bourse.2") == m.looker("bourse.3") {
		t.Errorf("%d, %d, %d", m.looker("bourse.1"), m.looker("bourse.2"), m.looker("bourse.3"))
	}
	third := m.looker("bourse.3")
	if err := syscall.Kill(third, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.gone(third)
	m.runs(m.order("bourse.4", "sleep", "1000"))
	if m.looker("bourse.4") == third {
		t.Error("it was killed")
	}
	// SIGTERM ends all that it has, in an orderly way.
	if err := syscall.Kill(m.looker("bourse.1"), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bourse.1", "bourse.2"} {
		if j := m.over(name); j.Why != supervisor.WhyTold {
			t.Errorf("%+v", j)
		}
	}
}

// A process that has left its work's cgroup and lost its parent is found by its mark.
func TestDriver_WhatLeavesItsCgroupEndsWithItsWork(t *testing.T) {
	m := newCrewed(t)
	m.runs(m.order("bourse.1", "sh", "-c", `sh -c 'setsid sh -c "echo away \$\$; exec sleep 1000" & :'; sleep 1000`))
	away := m.number("bourse.1", "away ")
	elsewhere := m.group("bourse.1") + ".elsewhere"
	if err := syscall.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.until("removed", func() bool { return syscall.Rmdir(elsewhere) == nil }) })
	if err := os.WriteFile(elsewhere+"/cgroup.procs", []byte(strconv.Itoa(away)), 0o644); err != nil {
		t.Fatal(err)
	}
	m.does(agents.Command{Verb: agents.End, Name: "bourse.1"}, agents.Done, "")
	m.over("bourse.1")
	m.gone(away)
}
