package managed

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

func TestLook_NoMoreOftenThanStatedNoLessEither(t *testing.T) {
	t.Parallel()
	w := reserving()
	for n := range uint64(200) { // brokers ask without end, holds come and go
		w.step(theSite, agents.SnapshotRequest{Ref: n})
		w.step(theSite, agents.ClusterHold{Leg: leg(n), What: what(1, start.Add(grid.Hour), grid.Minute), User: "ana"})
		w.step(theSite, agents.ClusterRelease{Leg: leg(n)})
		w.wait(100)
	}
	busy := len(w.asked)
	w.wait(10 * grid.Minute)
	for i := 1; i < len(w.asked); i++ {
		if d := w.asked[i].Sub(w.asked[i-1]); d < quick.LookEvery || d > quick.LookWithin {
			t.Errorf("look %d is %v s after the one before", i, d)
		}
	}
	if busy < 5 || busy > 11 || len(w.asked) < busy+30 {
		t.Errorf("%d looks in 20 s of asking, %d in the 10 min after", busy, len(w.asked)-busy)
	}
	w.over(t)
}

// A look that was taken before a command, and comes after its answer, does not judge
// it.
func TestLook_OlderThanTheAnswerDoesNotJudge(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.old = 8 * grid.Second // each look
	for n := range uint64(4) {
		w.placed(t, n, what(1, start, 5*grid.Minute))
		w.wait(grid.Duration(n) * 700)
	}
	w.run(start.Add(grid.Minute))
	for n := range uint64(4) {
		w.is(t, n, facts.LockRunning)
		if r, s := w.count(n, agents.Reserve), w.count(n, agents.Run); r != 1 || s != 1 {
			t.Errorf("leg %d: %d reservations, %d submissions", n, r, s)
		}
	}
	w.over(t, 0, 1, 2, 3)
}

// The manager's clock may be some seconds from ours, and a little more than that.
func TestSkew_OfTheManagersClock(t *testing.T) {
	t.Parallel()
	for _, skew := range []grid.Duration{-3, -2, 2, 3} {
		w := reserving()
		w.toy.skew = skew * grid.Second
		w.toy.lengths[nameOf(1)] = grid.Second
		w.placed(t, 1, what(2, start, 5*grid.Minute))
		w.placed(t, 2, what(2, start, 5*grid.Minute))
		for w.now < start.Add(-500) { // and looks come all the time
			w.step(theSite, agents.SnapshotRequest{})
			w.wait(500)
		}
		if f := w.last(1); f.State != facts.LockSubmitted {
			t.Errorf("skew %d s: %s before its window", skew, f.State)
		}
		w.run(start.Add(30 * grid.Second))
		w.is(t, 1, facts.LockEnded)
		w.is(t, 2, facts.LockRunning)
		w.over(t, 1, 2)
	}
}

// How it stands with a leg while the manager says nothing is unknown: it has not
// begun, its nodes are not free, and after a stated time it is lost.
func TestUnknown_IsNeverRunningNorFree(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.placed(t, 1, what(4, start, 5*grid.Minute))
		w.run(start.Add(-20 * grid.Second))
		w.mute = true
		late := start.Add(grid.Minute + 5*grid.Minute)
		w.run(late.Add(-grid.Second))
		if f := w.last(1); f.State != facts.LockSubmitted {
			t.Errorf("unseen, the leg is %s", f.State)
		}
		w.run(late.Add(grid.Second))
		w.lostFor(t, 1, "not known")
		if h := w.hold(2, what(1, w.now.Add(grid.Minute), grid.Minute)); !h.Refusal.Refused() {
			t.Errorf("nodes that nobody has seen are free: %v", h.Nodes)
		}
		w.mute = false
		w.over(t, 1, 2)
	})
}

func TestUnknown_StateOfAJobIsNone(t *testing.T) {
	t.Parallel()
	w := submitted(t, 5*grid.Minute)
	w.run(start.Add(-10 * grid.Second))
	w.toy.job(nameOf(1)).State = grid.ManagedUnknown
	w.run(start.Add(5 * grid.Minute))
	w.is(t, 1, facts.LockSubmitted)
	w.run(start.Add(7 * grid.Minute))
	w.lostFor(t, 1, "not known")
	w.over(t, 1)
}

func TestUnknown_EndOfWorkThatRan(t *testing.T) {
	t.Parallel()
	w := submitted(t, 5*grid.Minute)
	w.run(start.Add(grid.Minute))
	w.mute = true
	w.fault = func(agents.Command) fault { return fault{failed: true, undone: true} }
	w.run(start.Add(10 * grid.Minute))
	w.is(t, 1, facts.LockRunning)
	w.run(start.Add(13 * grid.Minute))
	w.lostFor(t, 1, "not known")
	w.mute, w.fault = false, nil
	w.over(t, 1)
}

// A life that begins at any time goes on with what there is: work is not submitted
// again, an end that it has missed is seen, and what it cannot know is not guessed.
func TestRestart_AtAnyTime(t *testing.T) {
	t.Parallel()
	for at := grid.Duration(0); at < 9*grid.Minute; at += 17 * grid.Second {
		both(t, func(t *testing.T, w *world) {
			w.toy.lengths[nameOf(1)] = 2 * grid.Minute
			w.placed(t, 1, what(2, start, 4*grid.Minute))
			w.placed(t, 2, what(2, start, 4*grid.Minute))
			w.run(dawn.Add(at + 3*grid.Second))
			if at%2 == 0 {
				w.compact()
			}
			w.begin()
			w.run(start.Add(10 * grid.Minute))
			for n := range uint64(2) {
				if got := w.fates(n + 1); got[len(got)-1] != facts.LockEnded || !slices.Contains(got, facts.LockRunning) {
					t.Errorf("restart at %v: leg %d: %v. %v", at, n+1, got, w.last(n+1))
				}
			}
			w.over(t, 1, 2)
		})
	}
}

// Of a window that passed while nobody looked, the cluster knows what the manager still
// shows.
func TestRestart_AfterTheWindow(t *testing.T) {
	t.Parallel()
	for away, want := range map[grid.Duration]facts.LockState{5 * grid.Minute: facts.LockEnded, grid.Hour: facts.LockLost} {
		w := reserving()
		w.toy.lengths[nameOf(1)] = grid.Minute
		w.placed(t, 1, what(2, start, 4*grid.Minute))
		w.wait(10 * grid.Second)
		w.life++ // it dies
		w.run(start.Add(away))
		w.begin()
		w.wait(2 * grid.Minute)
		w.is(t, 1, want)
		w.over(t, 1)
	}
}

// Between the record that work is submitted and its submission the process may die.
func TestRestart_BetweenTheRecordAndTheSubmission(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{{silent: true, undone: true}, {silent: true}, {silent: true, late: 15 * grid.Second}} {
		w := reserving()
		w.fails(agents.Run, f)
		w.placed(t, 1, what(2, start, 4*grid.Minute))
		w.wait(grid.Second)
		w.begin()
		w.run(start.Add(grid.Minute))
		w.is(t, 1, facts.LockRunning)
		w.over(t, 1)
	}
}

func TestRestart_WhatIsNotOfferedAnyMoreIsLost(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*Config){
		func(c *Config) {
			c.Nodes, c.Groups = [][]string{{"n1", "n3"}}, []grid.Group{{Name: "main", Nodes: 2}}
		},
		func(c *Config) { c.Groups[0].Name = "other" },
		func(c *Config) { c.Accounts = nil },
	} {
		w := submitted(t, 4*grid.Minute)
		change(&w.cfg)
		w.begin()
		w.is(t, 1, facts.LockLost)
		w.over(t, 1)
	}
}

// A released leg may be asked for again; first its remains are removed.
func TestHold_AgainAfterItsRelease(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.placed(t, 1, what(2, start, 4*grid.Minute))
		w.wait(10 * grid.Second)
		w.release(1)
		h := w.ask(agents.ClusterHold{Leg: leg(1), What: what(2, start, 4*grid.Minute), User: "ana", Again: true})
		if h.Refusal.Refused() {
			t.Fatal(h.Refusal)
		}
		w.confirm(1)
		w.run(start.Add(30 * grid.Second))
		w.is(t, 1, facts.LockRunning)
		w.over(t, 1)
	})
}

// heldAgain asks for a leg again that was released as its work ran, in the same life or in the
// next one, and reports whether it is held, and how often its work is submitted then.
func heldAgain(t *testing.T, w *world, next bool) (held bool, submitted int) {
	t.Helper()
	w.placed(t, 1, what(2, start, 10*grid.Minute))
	w.confirm(1)
	w.run(start.Add(5 * grid.Second))
	w.is(t, 1, facts.LockRunning)
	w.release(1)
	if next {
		w.begin()
	}
	for range 9 {
		h := w.ask(agents.ClusterHold{Leg: leg(1), What: what(2, start, 10*grid.Minute), User: "ana", Again: true})
		if h.Refusal.Code != grid.Withdrawn {
			held = true
			w.confirm(1)
		}
		w.wait(10 * grid.Second)
	}
	return held, w.count(1, agents.Run)
}

// A site that has forgotten a leg releases it and asks for it again. Its work has begun,
// and is not submitted a second time, whether or not its job is over.
func TestHold_AgainAfterItsWorkHasBegun(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		if held, n := heldAgain(t, w, true); held || n != 1 {
			t.Errorf("held again in the next life: %t, submitted %d times", held, n)
		}
	})
	both(t, func(t *testing.T, w *world) {
		if held, n := heldAgain(t, w, false); held || n != 1 {
			t.Errorf("held again: %t, submitted %d times", held, n)
		}
		w.over(t, 1)
	})
}

// A driver that does not answer, and one that is slow for minutes, delay and do not
// break.
func TestDriver_SlowOrSilent(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{{slow: 50 * grid.Second}, {slow: 90 * grid.Second}, {silent: true}, {silent: true, undone: true}} {
		for _, verb := range []agents.CommandVerb{agents.Assign, agents.Run, agents.End, agents.Delete} {
			t.Run(fmt.Sprint(f, verb), func(t *testing.T) {
				t.Parallel()
				w := reserving()
				w.fails(verb, f)
				at := start.Add(10 * grid.Minute)
				w.placed(t, 1, what(2, at, 4*grid.Minute))
				w.run(at.Add(30 * grid.Second))
				w.is(t, 1, facts.LockRunning)
				w.run(at.Add(8 * grid.Minute))
				w.is(t, 1, facts.LockEnded)
				w.over(t, 1)
			})
		}
	}
}

func TestShow_VersionsOfTwoLivesDiffer(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.wait(grid.Minute)
	w.step(theSite, agents.SnapshotRequest{Ref: 1})
	first := w.said[len(w.said)-1].(agents.Snapshot)
	w.step(theSite, agents.SnapshotRequest{Ref: 2, Have: first.Version})
	if s := w.said[len(w.said)-1].(agents.Snapshot); s.Version != first.Version || s.States != nil {
		t.Error("a state that the site has is shown again")
	}
	w.begin()
	w.wait(grid.Minute)
	w.step(theSite, agents.SnapshotRequest{Have: first.Version})
	if s := w.said[len(w.said)-1].(agents.Snapshot); s.Version == first.Version || s.States == nil {
		t.Error("two lives have a version in common")
	}
}

// A life that begins with a look of before its time does not take it for what is.
func TestRestart_OldLookDoesNotJudge(t *testing.T) {
	t.Parallel()
	w := submitted(t, 5*grid.Minute)
	w.run(start.Add(8 * grid.Second))
	w.is(t, 1, facts.LockRunning)
	w.stale = 12 * grid.Second // its work waits, by that
	w.begin()
	w.wait(5 * grid.Second)
	w.stale = 0
	w.wait(30 * grid.Second)
	w.is(t, 1, facts.LockRunning)
	w.over(t, 1)
}

func TestHold_LookThatIsTooOldPlacesNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.wait(grid.Minute)
		w.mute = true
		w.wait(6 * grid.Minute)
		if h := w.hold(1, what(1, w.now.Add(grid.Hour), grid.Minute)); h.Refusal.Code != grid.NoCluster {
			t.Errorf("%+v", h)
		}
		w.step(theSite, agents.SnapshotRequest{})
		for _, s := range w.said[len(w.said)-1].(agents.Snapshot).States {
			if n := s.Free.Min(w.now, grid.MaxTime); n != 0 {
				t.Errorf("%d nodes are free by a look of 6 min ago", n)
			}
		}
	})
}

// Nodes on which work of a leg that is over goes on are not free, however late it is.
func TestRelease_NothingIsFreeByTheClockAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(config(false, nodeNames...))
	w.placed(t, 1, what(4, start, 5*grid.Minute))
	w.run(start.Add(grid.Minute))
	w.fault = func(agents.Command) fault { return fault{undone: true, failed: true} }
	w.release(1)
	w.toy.job(nameOf(1)).limit = start.Add(10 * grid.Minute) // says the manager
	w.run(start.Add(7 * grid.Minute))
	if h := w.hold(2, what(1, start.Add(20*grid.Minute), grid.Minute)); !h.Refusal.Refused() {
		t.Errorf("placed on %v", h.Nodes)
	}
	w.fault = nil
	w.over(t)
}

func TestStart_WorkThatBeginsTooLateIsLost(t *testing.T) {
	t.Parallel()
	w := submitted(t, 10*grid.Minute)
	w.run(start.Add(-5 * grid.Second))
	w.toy.node("n2").State, w.mute = grid.NodeDown, true
	w.run(start.Add(80 * grid.Second))
	w.toy.node("n2").State = grid.NodeUp
	w.run(start.Add(100 * grid.Second))
	w.mute = false
	w.run(start.Add(2 * grid.Minute))
	w.lostFor(t, 1, "began at")
	w.over(t, 1)
}
