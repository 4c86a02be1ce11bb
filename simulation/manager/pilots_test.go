package manager

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

func pilots(o *Options) { o.Reserves, o.Pilots = false, true }

func claimOf(name string, count int, limit, granted grid.Duration) agents.Command {
	return agents.Command{Verb: agents.Claim, Name: name, Group: "g1", Count: count, Limit: limit, Granted: granted, User: "ana"}
}

func grantOf(name string, granted grid.Duration) agents.Command {
	return agents.Command{Verb: agents.Grant, Name: name, Granted: granted}
}

func inPilot(pilot string, c agents.Command) agents.Command {
	c.In = pilot
	return c
}

func TestPilot_LeavesBeforeItsGrantIsOverUnlessToldMore(t *testing.T) {
	t.Parallel()
	b := newBench(t, pilots)
	for range 2 { // the second finds the first
		b.must(claimOf("bourse.p", 2, grid.Hour, 90*grid.Second))
	}
	j := jobOf(b.look(), "bourse.p")
	if runs := b.m.Runs(); len(runs) != 1 || !runs[0].Pilot || j.State != grid.ManagedRunning || j.Granted != 90*grid.Second || len(j.Nodes) != 2 {
		t.Fatalf("%+v, %+v", runs, j)
	}
	begun := b.m.Runs()[0].Begun
	b.world.Run(begun.Add(60 * grid.Second))
	b.must(grantOf("bourse.p", 150*grid.Second))
	b.must(grantOf("bourse.p", 100*grid.Second)) // a grant only grows
	b.world.Run(begun.Add(144 * grid.Second))
	if len(b.m.Running()) != 1 {
		t.Fatal("it has left though it was told more")
	}
	b.world.Run(begun.Add(150 * grid.Second))
	if w := b.m.Runs()[0]; w.Over.Sub(begun) != 145*grid.Second || w.Exit != 0 || w.Signal != 0 {
		t.Errorf("it left after %v: %+v", w.Over.Sub(begun), w)
	}
	if d := b.do(grantOf("bourse.p", 300*grid.Second)); d.Outcome == agents.Denied && d.Reason.Code != grid.BadState {
		t.Errorf("a grant to one that has left: %+v", d)
	}
	if d := b.do(inPilot("bourse.p", command(agents.Run, "bourse.w", 200, 600, "n1", "n2"))); d.Outcome != agents.Denied || d.Reason.Code != grid.BadState {
		t.Errorf("work in one that has left: %+v", d)
	}
}

func TestPilot_BecomesTheWorkOnceAtItsSecond(t *testing.T) {
	t.Parallel()
	b := newBench(t, pilots)
	b.must(claimOf("bourse.p", 2, grid.Hour, 90*grid.Second))
	work := inPilot("bourse.p", command(agents.Run, "bourse.w", 60, 600, b.m.Runs()[0].Nodes...))
	for range 2 {
		b.must(work)
	}
	if d := b.do(inPilot("bourse.p", command(agents.Run, "bourse.x", 60, 600, b.m.Runs()[0].Nodes...))); d.Outcome != agents.Denied {
		t.Errorf("it becomes other work, too: %+v", d)
	}
	b.world.Run(at(59))
	if j := jobOf(b.look(), "bourse.w"); j == nil || j.State != grid.ManagedPending || j.In != "bourse.p" {
		t.Fatalf("%+v", j)
	}
	b.world.Run(at(62))
	runs := b.m.Runs()
	if len(runs) != 2 || runs[1].Begun != at(60) || runs[1].Name != "bourse.w" || runs[0].Over > 0 {
		t.Fatalf("%+v", runs)
	}
	if l := b.look(); jobOf(l, "bourse.w").State != grid.ManagedRunning || jobOf(l, "bourse.p").State != grid.ManagedRunning {
		t.Errorf("%+v", l.Jobs)
	}
	b.world.Run(at(3000))
	if runs[0].Over == 0 || runs[0].Over != runs[1].Over || len(b.m.Touched()) > 0 {
		t.Errorf("the pilot ends with its work: %+v, %+v, %v", runs[0], runs[1], b.m.Touched())
	}
}

func TestPilot_LeavesWhenTold(t *testing.T) {
	t.Parallel()
	b := newBench(t, pilots)
	b.must(claimOf("bourse.p", 4, grid.Hour, 90*grid.Second))
	b.must(claimOf("bourse.q", 4, grid.Hour, 90*grid.Second)) // waits
	b.must(agents.Command{Verb: agents.Delete, Name: "bourse.q"})
	b.must(agents.Command{Verb: agents.Delete, Name: "bourse.p"})
	b.world.Run(at(60))
	if l := b.look(); jobOf(l, "bourse.p").State != grid.ManagedEnded || jobOf(l, "bourse.q").State != grid.ManagedEnded || len(b.m.Runs()) != 1 {
		t.Errorf("%+v", l.Jobs)
	}
}

// Work that is cancelled before it begins in its pilot has never had nodes.
func TestPilot_WorkCancelledBeforeItsBeginHadNoNodes(t *testing.T) {
	t.Parallel()
	b := newBench(t, pilots)
	b.must(claimOf("bourse.p", 2, grid.Hour, 90*grid.Second))
	b.must(inPilot("bourse.p", command(agents.Run, "bourse.w", 60, 600, b.m.Runs()[0].Nodes...)))
	b.must(agents.Command{Verb: agents.Delete, Name: "bourse.w"})
	b.world.Run(at(30))
	if j := jobOf(b.look(), "bourse.w"); j == nil || j.State != grid.ManagedEnded || len(j.Nodes) > 0 {
		t.Errorf("%+v", j)
	}
}
