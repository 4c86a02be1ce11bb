package manager

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

func TestCommand_ThatIsDoneLateSubmitsAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(command(agents.Reserve, "bourse.a", 600, 900, "n1"))
	b.must(command(agents.Assign, "bourse.a", 600, 900, "n1"))
	b.strike(Strike{Is: LateCommand, For: grid.Second, Share: 1000, Salt: 1})
	b.do(command(agents.Run, "bourse.a", 600, 900, "n1"))
	b.world.Run(at(30))
	if d := b.heard[len(b.heard)-1].(agents.CommandDone); d.Outcome != agents.Failure {
		t.Fatalf("%+v", d)
	}
	b.must(command(agents.Run, "bourse.a", 600, 900, "n1"))
	b.world.Run(at(300))
	if n := len(b.look().Jobs); n != 2 {
		t.Fatalf("%d jobs", n)
	}
	b.world.Run(at(1000)) // whichever begins second finds the mark of the first
	runs := b.m.Runs()
	if len(runs) == 2 && (!runs[1].Late || runs[1].Over.Sub(runs[1].Begun) > grid.Second) {
		t.Errorf("%+v", runs[1])
	}
	if len(runs) < 1 || runs[0].Late {
		t.Errorf("%+v", runs)
	}
}

func TestCreate_ThatIsSaidTwiceOverlapsItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.strike(Strike{Is: EchoedCreate, For: grid.Minute, Share: 1000, Salt: 1})
	if d := b.do(command(agents.Reserve, "bourse.a", 600, 900, "n1")); d.Outcome != agents.Denied || d.Reason.Code != grid.Busy {
		t.Errorf("%+v", d)
	}
	if l := b.look(); len(l.Reservations) != 1 || b.m.Struck(EchoedCreate) != 1 {
		t.Errorf("%+v", l)
	}
}

// A crash that is aimed strikes at its moment: before the answer to what it loses, or as
// work has begun whose submission is not on the disk. Work that begins again finds its
// mark, and a number that was ours goes to another's job.
func TestCrash_StrikesWhereItIsAimed(t *testing.T) {
	t.Parallel()
	aim := func(x moment) Strike {
		return Strike{Is: ManagerRestart, For: 5 * grid.Second, Salt: map[moment]uint64{created: 3, begun: 4, handed: 5}[x]}
	}
	kept := 0
	for seed := range uint64(8) {
		b := newBench(t, func(o *Options) { o.Seed = seed })
		b.strike(aim(created))
		if d := b.do(command(agents.Reserve, "bourse.a", 600, 900, "n1")); d.Outcome != "" {
			t.Errorf("answered: %+v", d)
		}
		b.world.Run(at(30))
		kept += len(b.look().Reservations)
	}
	if kept == 0 || kept == 8 {
		t.Errorf("%d of 8 are there afterwards", kept)
	}

	b := newBench(t, func(o *Options) { o.Resubmit = true })
	b.must(command(agents.Reserve, "bourse.a", 110, 900, "n1"))
	b.must(command(agents.Assign, "bourse.a", 110, 900, "n1"))
	b.world.Run(at(100))
	b.strike(aim(begun))
	b.must(command(agents.Run, "bourse.a", 110, 900, "n1"))
	number := jobOf(b.look(), "bourse.a").Number
	b.world.Run(at(200))
	l := b.look()
	if len(b.m.Runs()) != 2 || jobOf(l, "bourse.a") != nil || jobOf(l, "again") == nil || jobOf(l, "again").Number != number {
		t.Errorf("%+v, %+v", b.m.Runs(), l.Jobs)
	}

	b = newBench(t)
	b.strike(aim(handed))
	b.whole("bourse.a", 200, 900, "n1")
	b.world.Run(at(215)) // its work has begun and is lost, and what was there before is not
	l = b.look()
	if runs := b.m.Runs(); len(runs) != 1 || runs[0].Over == 0 || jobOf(l, "bourse.a") != nil || len(l.Reservations) != 1 || !slices.Equal(l.Reservations[0].Users, []string{"ana"}) {
		t.Errorf("%+v, %+v, %+v", runs, l.Jobs, l.Reservations)
	}
}

func TestNodes_AreBegunOnOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.whole("bourse.a", 110, 900, "n1")
	b.world.Run(at(120)) // it runs, and the book goes back to when it waited
	c := b.m.controller
	c.book.jobs[0].state, c.book.jobs[0].work = grid.ManagedPending, nil
	c.finish(c.truth.running[0], 9)
	c.changed()
	b.world.Run(at(200))
	if r := b.m.Runs(); len(r) != 2 || !r[1].Again || r[1].Exit != 137 || r[1].Over.Sub(r[1].Begun) > grid.Second {
		t.Errorf("%+v", r)
	}
}

func TestCommand_SlowOnesHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.strike(Strike{Is: SlowCommand, For: grid.Second, Share: 1000, Salt: 1})
	for _, name := range []string{"bourse.a", "bourse.b"} {
		if d := b.do(command(agents.Reserve, name, 6000, 9000, "n1")); d.Outcome != "" {
			t.Errorf("%+v", d)
		}
	}
	b.strike(Strike{Is: RefusedCommand, For: grid.Hour, Share: 1000, Salt: 1})
	b.world.Run(at(500))
	if len(b.heard) != 2 || b.heard[0].(agents.CommandDone).Outcome != agents.Denied || len(b.look().Reservations) != 0 {
		t.Errorf("%+v", b.heard)
	}
}

func TestLook_OldOnesSayWhenTheyWereTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.world.Run(at(600))
	b.strike(Strike{Is: OldLook, For: grid.Second, Share: 1000, Salt: 1})
	for range 8 {
		b.world.Post(b.world.Now(), asker, agents.LookRequest{})
	}
	b.world.Run(at(800))
	if len(b.heard) != 8 {
		t.Fatalf("%+v", b.heard)
	}
	cached, late := 0, 0
	for _, m := range b.heard {
		switch l := m.(agents.Looked).Look; {
		case l.At < at(590):
			cached++
		case l.At < at(602):
			late++
		}
	}
	if cached == 0 || late == 0 || cached+late < 8 {
		t.Errorf("%d were taken before, %d come late", cached, late)
	}
}

func TestClock_WindowsBeginByTheManagersClock(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Skew = 3 * grid.Second })
	b.whole("bourse.a", 600, 900, "n1")
	b.strike(Strike{Is: ClockSkew, For: grid.Hour, Size: int64(-4 * grid.Second)})
	b.whole("bourse.b", 600, 900, "n2")
	b.world.Run(at(700))
	for _, r := range b.m.Runs() {
		if r.Begun != at(604) {
			t.Errorf("%s has begun at %v", r.Name, r.Begun)
		}
	}
	if at := b.look().At; b.world.Now().Sub(at) < 4*grid.Second {
		t.Errorf("a look of %v at %v", at, b.world.Now())
	}
}

func TestNodes_ThatAreNotUpStartNothing(t *testing.T) {
	t.Parallel()
	for _, k := range []sim.Kind{NodeDrained, NodeDown, NodeRenamed, NodeUnknown} {
		b := newBench(t, func(o *Options) { o.Partitions[0].Nodes = []string{"n1"} })
		b.whole("bourse.a", 600, 900, "n1")
		b.world.Run(at(500))
		b.strike(Strike{Is: k, For: 1000 * grid.Second, Salt: 4})
		l := b.look()
		b.world.Run(at(890))
		if n := len(b.m.Runs()); n != 0 || l.Nodes[0].State == grid.NodeUp && l.Nodes[0].Name == "n1" {
			t.Errorf("%s: %d have begun, %+v", k, n, l.Nodes)
		}
		b.world.Run(at(1600))
		if n := b.look().Nodes[0]; n.State != grid.NodeUp || n.Name != "n1" {
			t.Errorf("%s: %+v", k, n)
		}
	}
}

func TestAdministrator_DeletesAndMovesWhatIsOurs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.whole("bourse.a", 600, 900, "n1")
	was := b.look().Reservations[0]
	for salt := range uint64(20) {
		b.strike(Strike{Is: AdminMove, Salt: salt})
	}
	if now := b.look().Reservations[0]; b.m.Struck(AdminMove) == 0 || now.Start == was.Start && slices.Equal(now.Nodes, was.Nodes) {
		t.Errorf("%+v", now)
	}
	b.strike(Strike{Is: AdminDelete})
	b.world.Run(at(1000))
	if l := b.look(); len(l.Reservations) != 0 || len(l.Jobs) != 1 || l.Jobs[0].State != grid.ManagedPending || len(b.m.Runs()) != 0 {
		t.Errorf("%+v", l)
	}
}

func TestAdministrator_CancelsAndHoldsWhatIsOurs(t *testing.T) {
	t.Parallel()
	for k, want := range map[sim.Kind]grid.ManagedState{AdminCancel: grid.ManagedEnded, AdminHold: grid.ManagedHeld, AdminRequeue: grid.ManagedPending, Preempted: grid.ManagedPending} {
		b := newBench(t)
		b.whole("bourse.a", 600, 900, "n1")
		b.strike(Strike{Is: k})
		if j := b.look().Jobs[0]; j.State != want {
			t.Errorf("%s leaves %+v", k, j)
		}
	}
	b := newBench(t)
	b.whole("bourse.a", 10, 900, "n1")
	b.world.Run(at(20))
	b.strike(Strike{Is: Preempted})
	b.world.Run(at(60))
	if j := b.look().Jobs[0]; j.State != grid.ManagedEnded || j.Why != "Preempted" || j.Signal == 0 {
		t.Errorf("%+v", j)
	}
}

// Whatever goes wrong, the same messages give the same answers, and every kind of
// fault takes effect.
func TestManager_TheSameSeedGivesTheSameAnswers(t *testing.T) {
	t.Parallel()
	struck := map[sim.Kind]int{}
	live := func(seed uint64) string {
		b := newBench(t, func(o *Options) {
			o.Seed, o.Skew = seed, 2*grid.Second
			for i := range int64(200) {
				o.Partitions[0].Jobs = append(o.Partitions[0].Jobs, grid.LocalJob{ID: i, Submit: at(50 * i), Run: 100 * grid.Second, Estimate: 2 * grid.Minute, Nodes: 1, User: i})
			}
		})
		r := stream(seed, "test")
		for i := range int64(120) {
			k := Kinds()[r.IntN(len(Kinds()))]
			if !Follows(k) {
				b.world.Post(at(80*i+int64(r.IntN(60))), managerID, Strike{Is: k, For: within(r, grid.Second, grid.Minute), Share: 800, Size: 1000, Salt: r.Uint64()})
			}
			name, from := fmt.Sprintf("bourse.%d", i), 80*i+90
			for n, v := range []agents.CommandVerb{agents.Reserve, agents.Assign, agents.Run, agents.Run} {
				b.world.Post(at(80*i+int64(n)), asker, command(v, name, from, from+200, fmt.Sprintf("n%d", 1+i%4)))
			}
			b.world.Post(at(80*i+20), asker, agents.LookRequest{})
			if i%7 == 0 {
				b.world.Post(at(80*i+30), managerID, DriverDied{})
			}
			b.world.Post(at(80*i+40), asker, agents.OutputRequest{Name: name, From: -1})
		}
		b.world.Post(at(9700), managerID, Heal{})
		b.world.Run(at(20000))
		for _, k := range Kinds() {
			struck[k] += b.m.Struck(k)
		}
		if x := b.m.Touched(); len(x) > 0 {
			t.Errorf("seed %d: %v", seed, x)
		}
		if k := b.m.Running(); len(k) > 0 {
			t.Errorf("seed %d: it runs for ever: %+v", seed, k[0])
		}
		var s strings.Builder
		for _, m := range b.heard {
			if l, ok := m.(agents.Looked); ok && l.Look != nil {
				fmt.Fprintf(&s, "%d %+v\n", l.Ref, *l.Look)
				continue
			}
			fmt.Fprintf(&s, "%+v\n", m)
		}
		for _, r := range b.m.Runs() {
			fmt.Fprintf(&s, "%+v\n", *r)
		}
		return s.String()
	}
	for seed := range uint64(8) {
		if first, second := live(seed), live(seed); first != second {
			t.Errorf("seed %d gives other answers the second time", seed)
		}
	}
	if live(1) == live(2) {
		t.Error("another seed gives the same answers")
	}
	for _, k := range Kinds() {
		if struck[k] == 0 {
			t.Errorf("%s never takes effect", k)
		}
	}
}
