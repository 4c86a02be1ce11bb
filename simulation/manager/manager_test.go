package manager

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// bench is a manager of four nodes with somebody who asks it.
type bench struct {
	t     *testing.T
	world *sim.World
	m     *Manager
	heard []agents.Message
	ref   uint64
}

const asker, managerID agents.ID = "cluster:ash", "driver:ash"

// Step takes down what the asker hears.
func (b *bench) Step(_ grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Started:
	case agents.Command, agents.LookRequest, agents.OutputRequest:
		out.Send(managerID, m)
	default:
		b.heard = append(b.heard, m)
	}
}

func newBench(t *testing.T, change ...func(*Options)) *bench {
	opt := Options{Partitions: []Partition{{Name: "g1", Nodes: []string{"n1", "n2", "n3", "n4"}}}, Reserves: true, Holder: "bourse", Policy: backfill.EASY, Seed: 7}
	for _, f := range change {
		f(&opt)
	}
	b := &bench{t: t, world: sim.New(), m: New(opt)}
	b.world.Add(asker, b)
	b.world.Add(managerID, b.m)
	return b
}

// at is an instant in seconds.
func at(s int64) grid.Time { return grid.Time(s * int64(grid.Second)) }

// do has a command carried out, and returns how it went.
func (b *bench) do(c agents.Command) agents.CommandDone {
	b.t.Helper()
	b.ref++
	c.Ref = b.ref
	b.world.Post(b.world.Now(), asker, c)
	b.world.Run(b.world.Now().Add(grid.Second))
	for _, m := range b.heard {
		if d, ok := m.(agents.CommandDone); ok && d.Ref == c.Ref {
			return d
		}
	}
	return agents.CommandDone{}
}

// must has a command done.
func (b *bench) must(c agents.Command) {
	b.t.Helper()
	if d := b.do(c); d.Outcome != agents.Done {
		b.t.Fatalf("%s %s: %+v", c.Verb, c.Name, d)
	}
}

// look takes a look.
func (b *bench) look() *grid.Look {
	b.t.Helper()
	b.ref++
	b.world.Post(b.world.Now(), asker, agents.LookRequest{Ref: b.ref})
	b.world.Run(b.world.Now().Add(grid.Second))
	if l, ok := b.heard[len(b.heard)-1].(agents.Looked); ok && l.Ref == b.ref && l.Look != nil {
		return l.Look
	}
	b.t.Fatalf("no look: %+v", b.heard[len(b.heard)-1])
	return nil
}

func (b *bench) strike(s Strike) {
	b.world.Post(b.world.Now(), managerID, s)
	b.world.Run(b.world.Now())
}

// job is the job of a name in a look.
func jobOf(l *grid.Look, name string) *grid.ManagedJob {
	for i := range l.Jobs {
		if l.Jobs[i].Name == name {
			return &l.Jobs[i]
		}
	}
	return nil
}

func command(verb agents.CommandVerb, name string, start, end int64, nodes ...string) agents.Command {
	return agents.Command{Verb: verb, Name: name, Start: at(start), End: at(end), Nodes: nodes, User: "ana", Work: &grid.Handover{}}
}

// whole reserves a window, assigns it and submits its work.
func (b *bench) whole(name string, start, end int64, nodes ...string) {
	b.t.Helper()
	for _, v := range []agents.CommandVerb{agents.Reserve, agents.Assign, agents.Run} {
		b.must(command(v, name, start, end, nodes...))
	}
}

func TestReserve_IsTheCheckItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(command(agents.Reserve, "bourse.a", 600, 900, "n1", "n2"))
	for _, c := range []struct {
		what agents.Command
		code grid.Code
	}{
		{command(agents.Reserve, "bourse.a", 600, 900, "n1", "n2"), grid.Busy}, // the same again
		{command(agents.Reserve, "bourse.b", 899, 1000, "n2"), grid.Busy},
		{command(agents.Reserve, "bourse.b", 900, 1000, "n2"), grid.None},
		{command(agents.Reserve, "bourse.c", 600, 900, "n3", "n9"), grid.Unknown},
		{command(agents.Reserve, "bourse.c", 1, 2, "n3"), grid.Past},
	} {
		if d := b.do(c.what); d.Reason.Code != c.code || (d.Outcome == agents.Done) != (c.code == grid.None) {
			t.Errorf("%+v: %+v", c.what, d)
		}
	}
	b.m.controller.nodes.list[2].state = grid.NodeDrained
	b.must(command(agents.Reserve, "bourse.d", 600, 900, "n3"))
	l := b.look()
	if len(l.Reservations) != 3 || !slices.Equal(l.Reservations[0].Users, []string{"bourse"}) {
		t.Errorf("%+v", l.Reservations)
	}
}

func TestRun_BeginsWithTheWindowAndOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.whole("bourse.a", 600, 900, "n1", "n2")
	b.must(command(agents.Run, "bourse.a", 600, 900, "n1", "n2"))
	if l := b.look(); len(l.Jobs) != 1 || l.Jobs[0].State != grid.ManagedPending || l.Jobs[0].User != "ana" {
		t.Fatalf("%+v", l.Jobs)
	}
	b.world.Run(at(599))
	if n := len(b.m.Runs()); n != 0 {
		t.Fatalf("%d begun before the window", n)
	}
	b.world.Run(at(601))
	if runs := b.m.Runs(); len(runs) != 1 || runs[0].Begun != at(600) || !slices.Equal(runs[0].Nodes, []string{"n1", "n2"}) || !runs[0].Ours {
		t.Fatalf("%+v", b.m.Runs())
	}
	b.world.Run(at(2000))
	if l := b.look(); len(l.Jobs)+len(l.Reservations) != 0 || len(b.m.Runs()) != 1 {
		t.Errorf("long after its end: %+v", l)
	}
}

// The mark of work that has begun lasts longer than what the manager knows of its job:
// a site and a cluster that have forgotten how it went do not have it begin again.
func TestRun_BeginsOnceThoughTheManagerHasForgottenTheJob(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.MinJobAge = 30 * grid.Second })
	b.whole("bourse.a", 60, 120, "n1")
	b.world.Run(at(300))
	if l := b.look(); len(l.Jobs) > 0 || len(l.Reservations) > 0 || len(b.m.Runs()) != 1 {
		t.Fatalf("it is not forgotten: %+v, %d runs", l, len(b.m.Runs()))
	}
	b.must(command(agents.Reserve, "bourse.a", 400, 460, "n2"))
	b.must(command(agents.Assign, "bourse.a", 400, 460, "n2"))
	if d := b.do(command(agents.Run, "bourse.a", 400, 460, "n2")); d.Outcome != agents.Denied || d.Reason.Code != grid.BadState {
		t.Errorf("it is submitted again: %+v", d)
	}
	b.world.Run(at(500))
	if n := len(b.m.Runs()); n != 1 {
		t.Errorf("it has begun %d times", n)
	}
}

func TestRun_OnlyByWhomItIsAssignedTo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(command(agents.Reserve, "bourse.a", 600, 900, "n1"))
	if d := b.do(command(agents.Run, "bourse.a", 600, 900, "n1")); d.Outcome != agents.Denied {
		t.Errorf("%+v", d)
	}
}

func TestLimits_AreWholeMinutesAndEnforcedByASweep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.whole("bourse.a", 605, 695, "n1")
	b.m.controller.book.jobs[0].run = grid.Duration(grid.Hour)
	b.world.Run(at(800))
	w := b.m.Runs()[0]
	if over := w.Over; over < at(720) || over > at(750) || w.Signal == 0 {
		t.Errorf("a job of 90 s in a reservation of as much, begun at 605, is over at %v by signal %d; the sweep of 720 ends it", over, w.Signal)
	}
}

func TestRun_NeverStartsIfItsLimitReachesIntoTheNextReservation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.whole("bourse.a", 600, 690, "n1")
	b.must(command(agents.Reserve, "bourse.b", 690, 900, "n1"))
	b.world.Run(at(1000))
	if runs := b.m.Runs(); len(runs) != 0 {
		t.Errorf("%+v", runs)
	}
}

func TestSweep_DeletesAHoldThatNobodyUses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(command(agents.Reserve, "bourse.a", 600, 6000, "n1"))
	b.must(command(agents.Reserve, "bourse.b", 600, 6000, "n2"))
	b.must(command(agents.Assign, "bourse.b", 600, 6000, "n2"))
	b.world.Run(at(1000))
	if l := b.look(); len(l.Reservations) != 1 || l.Reservations[0].Name != "bourse.b" {
		t.Errorf("%+v", l.Reservations)
	}
}

func TestCrash_LosesWhatWasAcknowledgedLast(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(command(agents.Reserve, "bourse.a", 600, 900, "n1")) // written at once
	b.world.Run(at(4))
	b.must(command(agents.Assign, "bourse.a", 600, 900, "n1"))
	b.world.Run(at(7)) // written
	b.must(command(agents.Run, "bourse.a", 600, 900, "n1"))
	lost := *jobOf(b.look(), "bourse.a")
	b.strike(Strike{Is: ManagerRestart, For: 10 * grid.Second})
	b.world.Post(b.world.Now(), asker, agents.LookRequest{Ref: 99})
	b.world.Run(b.world.Now().Add(5 * grid.Second))
	if l := b.heard[len(b.heard)-1].(agents.Looked); l.Look != nil || !l.Failure.Refused() {
		t.Errorf("a look while it is down: %+v", l)
	}
	b.world.Run(b.world.Now().Add(10 * grid.Second))
	l := b.look()
	if jobOf(l, "bourse.a") != nil || len(l.Reservations) != 1 || l.Reservations[0].Users[0] != "ana" {
		t.Errorf("%+v", l)
	}
	if b.m.Struck(ManagerRestart) != 1 || b.m.Struck(ManagerForgot) != 1 {
		t.Error("nobody has counted it")
	}
	b.whole("bourse.b", 600, 900, "n2")
	if next := jobOf(b.look(), "bourse.b"); next.Number != lost.Number || next.Submit == lost.Submit {
		t.Errorf("the lost job was %+v, the next is %+v", lost, next)
	}
}

func TestCrash_KillsWorkThatItsBookDoesNotKnow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(command(agents.Reserve, "bourse.a", 5, 900, "n1"))
	b.world.Run(at(10))
	b.must(command(agents.Assign, "bourse.a", 5, 900, "n1"))
	b.must(command(agents.Run, "bourse.a", 5, 900, "n1"))
	if len(b.m.Running()) != 1 {
		t.Fatal("it does not run")
	}
	b.strike(Strike{Is: ManagerRestart, For: 10 * grid.Second})
	b.world.Run(at(60))
	if len(b.m.Running()) != 0 || len(b.m.Kept()) != 1 {
		t.Errorf("%+v", b.m.Kept())
	}
}

func TestQueue_LocalJobsRunBesideReservations(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) {
		for i := range int64(40) {
			o.Partitions[0].Jobs = append(o.Partitions[0].Jobs, grid.LocalJob{ID: i, Submit: at(30 * i), Run: 200 * grid.Second, Estimate: 4 * grid.Minute, Nodes: int(1 + i%4), User: i})
		}
	})
	b.whole("bourse.a", 600, 900, "n1", "n2", "n3")
	b.world.Run(at(20000))
	n := 0
	for _, r := range b.m.Runs() {
		if n++; r.Ours && r.Begun != at(600) {
			t.Errorf("ours has begun at %v", r.Begun)
		}
		for _, o := range b.m.Runs() {
			if r != o && common(r.Nodes, o.Nodes) && r.Begun < o.Over && o.Begun < r.Over {
				t.Errorf("on one node: %+v and %+v", r, o)
			}
		}
	}
	if n != 41 || len(b.m.Touched()) != 0 {
		t.Errorf("%d jobs have run, %v", n, b.m.Touched())
	}
}

func TestDelete_IsRefusedWhileWorkRunsAndThenDone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.whole("bourse.a", 60, 900, "n1")
	b.m.controller.book.jobs[0].run = grid.Duration(grid.Hour)
	b.world.Run(at(100))
	if d := b.do(command(agents.Delete, "bourse.a", 60, 900)); d.Outcome == agents.Done && len(b.m.Running()) > 0 {
		t.Errorf("%+v", d)
	}
	b.world.Run(at(140))
	b.must(command(agents.Delete, "bourse.a", 60, 900))
	b.must(command(agents.Delete, "bourse.a", 60, 900))
	if k := b.m.Kept(); len(k) != 0 {
		t.Errorf("%+v", k)
	}
}

func TestEnd_KnowsAJobByItsSubmit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.whole("bourse.a", 600, 900, "n1")
	j := jobOf(b.look(), "bourse.a")
	c := command(agents.End, "bourse.a", 600, 900)
	c.Number, c.Submit = j.Number, j.Submit-1
	b.must(c)
	if j := jobOf(b.look(), "bourse.a"); j.State != grid.ManagedPending {
		t.Fatalf("%+v", j)
	}
	c.Submit++
	b.must(c)
	if j := jobOf(b.look(), "bourse.a"); j.State != grid.ManagedEnded {
		t.Fatalf("%+v", j)
	}
}

func TestTouched_SaysWhatCommandsDoToOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.strike(Strike{Is: Foreign, For: grid.Hour, Salt: 3})
	name := b.look().Reservations[0].Name
	b.must(command(agents.Delete, name, 0, 0))
	if x := b.m.Touched(); len(x) != 1 || !strings.Contains(x[0], name) {
		t.Errorf("%v", x)
	}
}

func TestMachine_BeginsWhatItIsToldTo(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Reserves = false })
	if d := b.do(command(agents.Reserve, "bourse.a", 0, 900, "n1")); d.Outcome != agents.Denied {
		t.Errorf("%+v", d)
	}
	b.must(command(agents.Run, "bourse.a", 0, 900, "n1"))
	b.must(command(agents.Run, "bourse.a", 0, 900, "n1"))
	if n := len(b.m.Runs()); n != 1 {
		t.Errorf("begun %d times", n)
	}
	b.must(command(agents.Run, "bourse.b", 0, 900, "n1"))
	if n := len(b.m.Touched()); n != 1 {
		t.Errorf("one node carries two, and nobody says so")
	}
	b.strike(Strike{Is: ManagerRestart, For: grid.Second})
	b.world.Run(at(60))
	if l := b.look(); len(b.m.Running()) != 0 || len(l.Jobs) != 2 || l.Jobs[0].State != grid.ManagedEnded {
		t.Errorf("%+v", l.Jobs)
	}
}
