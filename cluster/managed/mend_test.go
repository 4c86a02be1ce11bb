package managed

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// How an administrator, a crash of the manager or a fault of a command affects a confirmed leg, and
// how the leg is mended.

// lostFor checks that a leg was lost, by when, and for which reason.
func (w *world) lostFor(t *testing.T, n uint64, word string) {
	t.Helper()
	if f := w.last(n); f.State != facts.LockLost || !strings.Contains(f.Reason.Detail, word) {
		t.Errorf("the leg is %s: %v; want it lost for %q. %v", f.State, f.Reason, word, w.toy.story)
	}
}

func (w *world) is(t *testing.T, n uint64, want facts.LockState) {
	t.Helper()
	if f := w.last(n); f.State != want {
		t.Errorf("at %v the leg is %s (%v), want %s. %v", w.now, f.State, f.Reason, want, w.toy.story)
	}
}

// done releases what is left and checks that nothing is.
func (w *world) over(t *testing.T, legs ...uint64) {
	t.Helper()
	for _, n := range legs {
		w.release(n)
	}
	w.wait(10 * grid.Minute)
	w.clean(t)
}

func TestSubmit_AnswerLostIsNotSubmittedTwice(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.fails(agents.Run, fault{failed: true})
		w.placed(t, 1, what(2, start, 10*grid.Minute))
		w.run(start.Add(grid.Minute))
		w.is(t, 1, facts.LockRunning)
		if w.count(1, agents.Run) != 1 {
			t.Errorf("submitted %d times", w.count(1, agents.Run))
		}
		w.over(t, 1)
	})
}

func TestSubmit_DoneLateIsNotSubmittedTwice(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fails(agents.Run, fault{late: 19 * grid.Second})
	w.placed(t, 1, what(2, start, 10*grid.Minute))
	w.run(start.Add(grid.Minute))
	w.is(t, 1, facts.LockRunning)
	w.over(t, 1)
}

func TestSubmit_NotDoneIsSubmittedAgainBeforeTheWindow(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fails(agents.Run, fault{failed: true, undone: true})
	w.placed(t, 1, what(2, start, 10*grid.Minute))
	w.run(start.Add(grid.Minute))
	w.is(t, 1, facts.LockRunning)
	if w.count(1, agents.Run) != 2 || w.nodes.Counts().Submitted != 1 {
		t.Errorf("submitted %d times", w.count(1, agents.Run))
	}
	w.over(t, 1)
}

// Once work may have run, nobody can tell whether missing work has run. So it is not
// submitted again.
func TestSubmit_WhatMayHaveRunIsLostNotRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(config(false, nodeNames...))
	w.fails(agents.Run, fault{failed: true, undone: true})
	w.placed(t, 1, what(2, start, 10*grid.Minute))
	w.run(start.Add(2 * grid.Minute))
	w.lostFor(t, 1, "whether it ran cannot be known")
	w.over(t, 1)
}

// A submission counts as not made if the manager has denied it and shows nothing of it.
func TestSubmit_DeniedIsTriedAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.fails(agents.Run, fault{denied: true})
		w.placed(t, 1, what(2, start, 10*grid.Minute))
		w.run(start.Add(grid.Minute))
		w.is(t, 1, facts.LockRunning)
		w.over(t, 1)
	})
}

func TestSubmit_DeniedForGoodIsLostWithTheReason(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.fault = func(c agents.Command) fault { return fault{denied: c.Verb == agents.Run} }
		w.placed(t, 1, what(2, start, 10*grid.Minute))
		w.run(start.Add(2 * grid.Minute))
		w.lostFor(t, 1, "refused by the test")
		if n := w.count(1, agents.Run); n > 1+usualTries {
			t.Errorf("submitted %d times", n)
		}
		w.over(t, 1)
	})
}

const usualTries = 3

// The manager restarts without what it has acknowledged lately.
func TestMend_ForgottenReservationAndJobAreMadeAgain(t *testing.T) {
	t.Parallel()
	for _, lately := range []grid.Duration{1, 2, 5, 8} { // seconds: the job; and its user; and the reservation
		w := reserving()
		w.toy.lengths[nameOf(1)] = grid.Minute
		w.wait(30 * grid.Second)
		w.placed(t, 1, what(2, start, 10*grid.Minute))
		w.wait(lately*grid.Second - 500)
		w.toy.forget(lately * grid.Second)
		w.run(start.Add(grid.Minute))
		w.is(t, 1, facts.LockRunning)
		w.run(start.Add(5 * grid.Minute))
		w.is(t, 1, facts.LockEnded)
		if w.toy.begun[nameOf(1)] != 1 {
			t.Errorf("%v s: its work has begun %d times", lately, w.toy.begun[nameOf(1)])
		}
		if slices.ContainsFunc(w.toy.jobs, func(j toyJob) bool { return j.Name == "another's" && j.State == grid.ManagedEnded }) {
			t.Error("a foreign job with a number of ours was cancelled")
		}
		w.over(t, 1)
	}
}

// The manager has forgotten a submission, and the life that knows that it was carried out has ended
// with it. It is made again once no command of that life can take effect any more: sooner if they
// have ended with it. A leg that begins before that is lost, and its work never runs.
func TestMend_WhatIsForgottenByBothIsMadeAgainIfThereIsTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		notice grid.Duration
		mortal bool
		want   facts.LockState
	}{{40 * grid.Second, false, facts.LockLost}, {3 * grid.Minute, false, facts.LockEnded}, {40 * grid.Second, true, facts.LockEnded}, {20 * grid.Second, true, facts.LockLost}} {
		cfg := config(true, "n1", "n2", "n3", "n4")
		cfg.Mortal = c.mortal
		w := newWorld(cfg)
		w.toy.lengths[nameOf(1)] = grid.Minute
		w.wait(30 * grid.Second)
		at := w.now.Add(c.notice)
		w.placed(t, 1, what(2, at, 10*grid.Minute))
		w.wait(2*grid.Second - 500)
		w.toy.forget(2 * grid.Second)
		w.begin()
		w.run(at.Add(5 * grid.Minute))
		w.is(t, 1, c.want)
		if n := w.toy.begun[nameOf(1)]; (n == 1) != (c.want == facts.LockEnded) {
			t.Errorf("%+v: its work has begun %d times", c, n)
		}
		w.over(t, 1)
	}
}

func TestMend_DeletedReservationIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := submitted(t, 10*grid.Minute)
	w.toy.reservations = nil // with its job left to wait
	w.run(start.Add(grid.Minute))
	w.is(t, 1, facts.LockRunning)
	if n := w.nodes.Counts().Remade; n != 1 {
		t.Errorf("made again %d times", n)
	}
	w.over(t, 1)
}

// After a restart too, at once: what an earlier life has submitted was seen, so that it
// is no longer to be waited for.
func TestMend_DeletedReservationAfterARestart(t *testing.T) {
	t.Parallel()
	w := reserving()
	at := start.Add(10 * grid.Minute)
	w.placed(t, 1, what(2, at, 10*grid.Minute))
	w.wait(20 * grid.Second)
	w.begin()
	w.toy.reservations = nil
	w.wait(30 * grid.Second)
	if w.toy.job(nameOf(1)) == nil || w.toy.reservation(nameOf(1)) == nil {
		t.Errorf("30 s later it is not mended: %v", w.toy.story)
	}
	w.run(at.Add(grid.Minute))
	w.is(t, 1, facts.LockRunning)
	w.over(t, 1)
}

// The manager refuses a command about a reservation that somebody has just deleted: the
// leg is not lost for that, and not before its window.
func TestMend_DeletedReservationIsMadeAgainWhereTheManagerRefusesACommandForIt(t *testing.T) {
	t.Parallel()
	for _, verb := range []agents.CommandVerb{agents.Assign, agents.Run} {
		w := reserving()
		deleted := false
		w.fault = func(c agents.Command) fault {
			f := fault{denied: c.Verb == verb && !deleted}
			if f.denied {
				deleted, w.toy.reservations = true, nil
			}
			return f
		}
		w.placed(t, 1, what(2, start.Add(grid.Minute), 10*grid.Minute))
		w.run(start.Add(2 * grid.Minute))
		w.is(t, 1, facts.LockRunning)
		if n := w.nodes.Counts(); !deleted || n.Remade != 1 || n.Submitted > 1 {
			t.Errorf("%s: made again %d times, submitted again %d times", verb, n.Remade, n.Submitted)
		}
		w.over(t, 1)
	}
}

func TestMend_ReservationThatCannotBeMadeAgainIsLost(t *testing.T) {
	t.Parallel()
	w := submitted(t, 10*grid.Minute)
	w.toy.reservations = []grid.ManagedReservation{{Name: "theirs", Start: start, End: start.Add(grid.Hour), Nodes: []string{"n2"}}}
	w.run(start.Add(-10 * grid.Second))
	w.lostFor(t, 1, "overlaps theirs")
	w.over(t, 1)
}

func TestAdministrator_MovesOrShrinksAReservation(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*grid.ManagedReservation){
		func(r *grid.ManagedReservation) { r.Start, r.End = r.Start.Add(grid.Hour), r.End.Add(grid.Hour) },
		func(r *grid.ManagedReservation) { r.End = r.End.Add(-5 * grid.Minute) },
		func(r *grid.ManagedReservation) { r.Nodes = r.Nodes[:1] },
	} {
		w := submitted(t, 10*grid.Minute)
		change(w.toy.reservation(nameOf(1)))
		w.wait(30 * grid.Second)
		w.lostFor(t, 1, "was moved")
		w.over(t, 1)
	}
}

// A longer one, or one with more nodes, serves as well.
func TestAdministrator_ExtendsAReservation(t *testing.T) {
	t.Parallel()
	w := submitted(t, 10*grid.Minute)
	r := w.toy.reservation(nameOf(1))
	r.End, r.Nodes = r.End.Add(grid.Hour), nodeNames
	w.run(start.Add(30 * grid.Second))
	w.is(t, 1, facts.LockRunning)
	w.over(t, 1)
}

func TestAdministrator_CancelsWorkBeforeItBegins(t *testing.T) {
	t.Parallel()
	w := submitted(t, 10*grid.Minute)
	w.toy.end(w.toy.job(nameOf(1)), "CANCELLED by root")
	w.wait(30 * grid.Second)
	w.lostFor(t, 1, "CANCELLED by root")
	w.over(t, 1)
}

func TestAdministrator_CancelsWorkThatRuns(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.placed(t, 1, what(2, start, 10*grid.Minute))
		w.run(start.Add(grid.Minute))
		w.toy.end(w.toy.job(nameOf(1)), "CANCELLED by root")
		w.wait(grid.Minute)
		w.is(t, 1, facts.LockEnded)
		if r := w.last(1).Result; r == nil || r.Ended.Detail != "CANCELLED by root" {
			t.Errorf("%+v", r)
		}
		w.over(t, 1)
	})
}

// Work that a machine has lost by its restart did not run: the leg is lost, and not settled.
func TestLost_WorkThatWentWithItsNode(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.placed(t, 1, what(2, start, 10*grid.Minute))
		w.run(start.Add(grid.Minute))
		j := w.toy.job(nameOf(1))
		w.toy.end(j, "the machine has restarted")
		j.State = grid.ManagedLost
		w.wait(grid.Minute)
		w.lostFor(t, 1, "the machine has restarted")
		w.over(t, 1)
	})
}

func TestAdministrator_HoldsWork(t *testing.T) {
	t.Parallel()
	w := submitted(t, 10*grid.Minute)
	w.toy.job(nameOf(1)).State = grid.ManagedHeld
	w.run(start.Add(59 * grid.Second))
	w.is(t, 1, facts.LockSubmitted)
	w.run(start.Add(80 * grid.Second))
	w.lostFor(t, 1, "it is held")
	w.over(t, 1)
}

// Work that has run does not run again.
func TestAdministrator_RequeuesWorkThatRuns(t *testing.T) {
	t.Parallel()
	w := submitted(t, 20*grid.Minute)
	w.run(start.Add(grid.Minute))
	j := w.toy.job(nameOf(1))
	j.State, j.begin, j.Nodes = grid.ManagedPending, w.now.Add(2*grid.Minute), []string{"n1", "n2"}
	w.run(start.Add(5 * grid.Minute))
	w.is(t, 1, facts.LockEnded)
	if r := w.last(1).Result; r == nil || !strings.Contains(r.Ended.Detail, "queue") {
		t.Errorf("%+v", r)
	}
	w.over(t, 1)
}

func TestStart_NodeThatIsDownLosesTheLegIn60Seconds(t *testing.T) {
	t.Parallel()
	for _, bareLeg := range []bool{false, true} {
		w := reserving()
		if w.hold(1, what(2, start, 10*grid.Minute)); bareLeg {
			w.confirmBare(1)
		} else {
			w.confirm(1)
		}
		w.run(start.Add(-10 * grid.Second))
		w.toy.node("n2").State = grid.NodeDown
		w.run(start.Add(80 * grid.Second))
		if f := w.last(1); f.State != facts.LockLost || !strings.Contains(f.Reason.Detail, "ReqNodeNotAvail") && !strings.Contains(f.Reason.Detail, "n2") {
			t.Errorf("the leg is %s: %v", f.State, f.Reason)
		}
		w.over(t, 1)
	}
}

// A node that comes back in time is no matter.
func TestStart_NodeThatComesBack(t *testing.T) {
	t.Parallel()
	w := submitted(t, 10*grid.Minute)
	w.toy.node("n2").State = grid.NodeDrained
	w.run(start.Add(30 * grid.Second))
	w.is(t, 1, facts.LockSubmitted)
	w.toy.node("n2").State = grid.NodeUp
	w.run(start.Add(50 * grid.Second))
	w.is(t, 1, facts.LockRunning)
	w.over(t, 1)
}

// A bare reservation is its user's from the begin of its window to the end.
func TestBare_LastsForItsWindow(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.hold(1, what(2, start, 5*grid.Minute))
		w.confirmBare(1)
		w.wait(20 * grid.Second)
		if r := w.toy.reservation(nameOf(1)); w.cfg.Reserves && (r == nil || !slices.Equal(r.Users, []string{"vo1"})) {
			t.Errorf("the reservation is %+v", r)
		}
		w.run(start.Add(20 * grid.Second))
		w.is(t, 1, facts.LockRunning)
		w.run(start.Add(5 * grid.Minute))
		w.is(t, 1, facts.LockEnded)
		w.over(t, 1)
	})
}

func TestBare_DeletedInItsWindowIsLost(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.hold(1, what(2, start, 5*grid.Minute))
	w.confirmBare(1)
	w.run(start.Add(grid.Minute))
	w.toy.reservations = nil
	w.wait(30 * grid.Second)
	w.lostFor(t, 1, "deleted")
	w.over(t, 1)
}

// Work that does not end by itself is asked to end when its window ends, and is deleted if
// it is still there after the padding.
func TestEnd_OfTheWindowEndsTheWork(t *testing.T) {
	t.Parallel()
	for _, grace := range []grid.Duration{grid.Second, 30 * grid.Second, grid.Hour} {
		both(t, func(t *testing.T, w *world) {
			w.toy.grace = grace
			w.placed(t, 1, what(2, start, 5*grid.Minute))
			if j := w.toy.job(nameOf(1)); j != nil {
				j.limit = grid.Never
			}
			w.run(start.Add(7 * grid.Minute))
			w.is(t, 1, facts.LockEnded)
			if r := w.last(1).Result; r == nil || r.Ended.Code != grid.Expired {
				t.Errorf("%+v", r)
			}
			if n := w.count(1, agents.End); n != 1 {
				t.Errorf("told to end %d times", n)
			}
			w.over(t, 1)
		})
	}
}

// A manager that refuses to end the work of a window that is over is asked again: it
// does not run on through the padding.
func TestEnd_ThatIsDeniedIsTriedAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.toy.grace = grid.Second
		w.fails(agents.End, fault{denied: true, undone: true})
		w.placed(t, 1, what(2, start, 5*grid.Minute))
		if j := w.toy.job(nameOf(1)); j != nil {
			j.limit = grid.Never
		}
		w.run(start.Add(5*grid.Minute + 20*grid.Second))
		w.is(t, 1, facts.LockEnded)
		if r := w.last(1).Result; r == nil || r.Ended.Code != grid.Expired {
			t.Errorf("%+v", r)
		}
		if n := w.count(1, agents.End); n != 2 {
			t.Errorf("told to end %d times", n)
		}
		w.over(t, 1)
	})
}

// If the manager keeps no reservations, only the cluster keeps windows apart. The work of
// a window is not submitted while the work before it is on one of its nodes; if that work
// stays, the window is lost for that reason.
func TestSubmit_NotOntoWorkOfAnEarlierWindow(t *testing.T) {
	t.Parallel()
	for stays, lost := range map[grid.Duration]bool{20 * grid.Second: false, grid.Hour: true} {
		w := newWorld(config(false, nodeNames...))
		next := start.Add(5*grid.Minute + quick.Padding)
		w.fault = func(c agents.Command) fault { // the first work is not to be ended
			stuck := c.Name == nameOf(1) && c.Verb != agents.Run && w.now < next.Add(stays)
			return fault{denied: stuck, undone: stuck}
		}
		w.placed(t, 1, what(len(nodeNames), start, 5*grid.Minute))
		w.placed(t, 2, what(len(nodeNames), next, 5*grid.Minute))
		w.run(start.Add(grid.Second))
		w.toy.job(nameOf(1)).limit = grid.Never
		w.run(next.Add(2 * grid.Minute))
		if lost {
			w.lostFor(t, 2, "the work of an earlier window is still on its nodes")
		} else {
			w.is(t, 2, facts.LockRunning)
		}
		for _, x := range w.toy.breaches {
			t.Error(x)
		}
	}
}
