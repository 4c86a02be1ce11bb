package managed

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// both runs a test with a manager that keeps reservations and with one that keeps none.
func both(t *testing.T, test func(t *testing.T, w *world)) {
	for name, reserves := range map[string]bool{"reserves": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(config(reserves, nodeNames...)))
		})
	}
}

const start = dawn + 120_000

// A leg is held, confirmed, begins with its window, ends by itself, and leaves nothing.
func TestManaged_WorkRunsInItsWindow(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.toy.lengths[nameOf(1)] = 3 * grid.Minute
		h := w.placed(t, 1, what(2, start, 10*grid.Minute))
		if !slices.Equal(h.Nodes, []string{"n1", "n2"}) {
			t.Errorf("nodes %v", h.Nodes)
		}
		w.run(start.Add(30 * grid.Second))
		if got := w.last(1).State; got != facts.LockRunning {
			t.Errorf("30 s into its window the leg is %s: %v", got, w.toy.story)
		}
		w.run(start.Add(5 * grid.Minute))
		f := w.last(1)
		if f.State != facts.LockEnded || f.Result == nil || !f.Result.Known || f.Result.Ended.Refused() || f.Result.End.Sub(f.Result.Begin)/grid.Minute != 3 {
			t.Errorf("the leg ends as %+v, result %+v", f, f.Result)
		}
		w.release(1)
		w.wait(grid.Minute)
		if w.count(1, agents.Run) != 1 {
			t.Errorf("submitted %d times", w.count(1, agents.Run))
		}
		w.clean(t)
	})
}

// fails makes the first command of a kind fail in a given way.
func (w *world) fails(verb agents.CommandVerb, f fault) {
	w.fault = func(c agents.Command) fault {
		if c.Verb == verb && w.count(1, verb) <= 1 {
			return f
		}
		return fault{}
	}
}

func reserving() *world { return newWorld(config(true, nodeNames...)) }

// submitted is a world with a leg of two nodes, from start on for so long, that is
// confirmed and whose work the manager has.
func submitted(t testing.TB, length grid.Duration) *world {
	t.Helper()
	w := reserving()
	w.placed(t, 1, what(2, start, length))
	w.wait(20 * grid.Second)
	return w
}

func TestHold_UserWithoutAnAccountIsRefusedFirst(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.mute = true // not even a look is needed for that
		for user, word := range map[string]string{"mallory": "as which no work runs", "mallory2": "as which no work runs"} {
			h := w.ask(agents.ClusterHold{Leg: leg(1), What: grid.Leg{Group: "none", Nodes: 99}, User: user})
			if h.Refusal.Code != grid.NotAllowed || !strings.Contains(h.Refusal.Detail, word) || !strings.Contains(h.Refusal.Detail, "[[account]]") {
				t.Errorf("%s: %v", user, h.Refusal)
			}
		}
	})
}

// A maintenance has no user: it needs no account, by force or not. A leg of a broker always does.
func TestHold_MaintenanceNeedsNoAccount(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		c := config(true, nodeNames...)
		c.Accounts = []Account{{User: "ana", As: "vo1"}}
		w := newWorld(c)
		maintenance := grid.LegID{Tx: grid.TxID{Incarnation: 1, Nonce: 7, Seq: 1}}
		if h := w.ask(agents.ClusterHold{Leg: maintenance, What: what(2, start, grid.Minute), Force: force, Again: true}); h.Refusal.Refused() {
			t.Errorf("a maintenance, by force %v: %v", force, h.Refusal)
		}
		if h := w.ask(agents.ClusterHold{Leg: leg(2), What: what(1, start, grid.Minute), Force: force}); h.Refusal.Code != grid.NotAllowed {
			t.Errorf("a leg without a user, by force %v: %v", force, h.Refusal)
		}
	}
}

func TestAccounts_FirstRuleThatFitsAndNeverRoot(t *testing.T) {
	t.Parallel()
	c := Config{Site: "north", Denied: []string{"toor"}, Accounts: []Account{{User: "ana", As: "ana_vo1"}, {User: "adm*", As: "root"}, {User: "zero", As: "0"}, {User: "zeros", As: "+00"}, {User: "toor", As: "toor"},
		{User: "a*b*c", As: "abc"}, {User: "guest-*", As: "guest"}}}
	for user, want := range map[string]string{"ana": "ana_vo1", "anas": "", "admin": "", "zero": "", "zeros": "", "toor": "", "axbyc": "abc", "abc": "abc", "acb": "", "guest-": "guest", "guest": "", "": ""} {
		as, why := c.account(user)
		if as.As != want || why.Refused() != (want == "") {
			t.Errorf("%q runs as %q (%v), want %q", user, as.As, why, want)
		}
	}
}

func TestHold_AnswerLostIsReadBack(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fails(agents.Reserve, fault{failed: true})
	if h := w.hold(1, what(2, start, grid.Minute)); h.Refusal.Refused() {
		t.Errorf("it is there, and refused: %v", h.Refusal)
	}
	w.release(1)
	w.wait(grid.Minute)
	w.clean(t)
}

func TestHold_RefusalIsReadBack(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fault = func(c agents.Command) fault {
		if c.Verb == agents.Reserve && w.toy.reservation(c.Name) == nil {
			w.toy.do(c) // an earlier try has come through
		}
		return fault{}
	}
	if h := w.hold(1, what(2, start, grid.Minute)); h.Refusal.Refused() {
		t.Errorf("it is there, and refused: %v", h.Refusal)
	}
}

func TestHold_DeniedAndNotThereIsBusyAndCounted(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fault = func(c agents.Command) fault { return fault{denied: c.Verb == agents.Reserve} }
	h := w.hold(1, what(2, start, grid.Minute))
	if h.Refusal.Code != grid.Busy || !strings.Contains(h.Refusal.Detail, "refused by the test") {
		t.Errorf("%v", h.Refusal)
	}
	if n := w.nodes.Counts().NotCreated; n != 1 {
		t.Errorf("%d offers could not be created, by the count", n)
	}
	w.clean(t)
}

func TestHold_OtherContentUnderItsNameIsDeletedAndRefused(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fault = func(c agents.Command) fault {
		if c.Verb == agents.Reserve && w.toy.reservation(c.Name) == nil {
			w.toy.reservations = append(w.toy.reservations, grid.ManagedReservation{Name: c.Name, Start: c.Start, End: c.End, Nodes: []string{"n1", "n4"}})
		}
		return fault{}
	}
	if h := w.hold(1, what(2, start, grid.Minute)); h.Refusal.Code != grid.Busy {
		t.Errorf("%v", h.Refusal)
	}
	w.wait(grid.Minute)
	w.clean(t)
}

func TestHold_TakesNoLongerThanItsBound(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fails(agents.Reserve, fault{slow: 40 * grid.Second})
	if h := w.hold(1, what(2, start, grid.Minute)); h.Refusal.Code != grid.NoCluster || w.now.Sub(dawn) > 16*grid.Second {
		t.Errorf("after %v: %v", w.now.Sub(dawn), h.Refusal)
	}
	w.wait(2 * grid.Minute)
	w.clean(t)
}

// A site that asks and then dies does not know about it in its next life, and does not ask
// again. It would never release what is locked for it a minute later.
func TestHold_WhatNobodyAsksForAnyMoreIsNotPlaced(t *testing.T) {
	t.Parallel()
	for _, slow := range []grid.Duration{16 * grid.Second, 50 * grid.Second, 90 * grid.Second} {
		w := reserving()
		w.fails(agents.Reserve, fault{slow: slow})
		for range 2 { // the first has it look
			w.step(theSite, agents.ClusterHold{Leg: leg(1), What: what(2, start.Add(grid.Hour), grid.Minute), User: "ana"})
			w.wait(2 * grid.Second)
		}
		w.wait(5 * grid.Minute)
		for _, f := range w.told {
			if x, ok := f.(facts.NodesLocked); ok {
				t.Errorf("after %v: %+v", slow, x)
			}
		}
		w.clean(t)
	}
}

func TestHold_WhatComesLateIsReaped(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fails(agents.Reserve, fault{late: grid.Minute}) // later than is said to be possible
	if h := w.hold(1, what(2, start, grid.Minute)); h.Refusal.Code != grid.NoCluster {
		t.Errorf("%v", h.Refusal)
	}
	w.wait(40 * grid.Second)
	if len(w.toy.ours()) == 0 && w.now < dawn.Add(grid.Minute) {
		w.wait(10 * grid.Second)
	}
	w.wait(grid.Minute)
	if w.nodes.Counts().Orphans != 1 {
		t.Errorf("%d orphans", w.nodes.Counts().Orphans)
	}
	w.clean(t)
}

func TestHold_NothingIsPlacedBeforeTheFirstLook(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.wait(grid.Minute)
		w.mute = true
		w.begin()
		for _, s := range w.nodes.Show(0).States {
			if n := s.Free.Min(w.now, grid.MaxTime); n != 0 {
				t.Errorf("%d nodes are free before the first look", n)
			}
		}
		if h := w.hold(1, what(1, start, grid.Minute)); h.Refusal.Code != grid.NoCluster {
			t.Errorf("%v", h.Refusal)
		}
		w.mute = false
		w.wait(30 * grid.Second)
		if h := w.hold(2, what(1, start, grid.Minute)); h.Refusal.Refused() {
			t.Errorf("%v", h.Refusal)
		}
	})
}

func TestHold_UnconfirmedIsOverWithItsWindow(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.hold(1, what(2, start, grid.Minute))
		w.run(start.Add(2 * grid.Minute))
		if got := w.fates(1); !slices.Equal(got, []facts.LockState{facts.LockExpired}) {
			t.Errorf("%v", got)
		}
		w.clean(t)
	})
}

// Nodes that a foreign reservation, a job by its limit, another lock or a drain takes
// are not chosen, and short gaps are filled first.
func TestHold_ChoosesNodesThatAreFreeAllThrough(t *testing.T) {
	t.Parallel()
	w := newWorld(config(true, "n1", "n2", "n3", "n4", "n5", "n6"))
	w.toy.reservations = []grid.ManagedReservation{{Name: "theirs", Start: start.Add(5 * grid.Minute), End: start.Add(grid.Hour), Nodes: []string{"n1"}}}
	w.toy.jobs = []toyJob{{ManagedJob: grid.ManagedJob{Number: "7", Name: "j", User: "eve", State: grid.ManagedRunning, Nodes: []string{"n2"}, Count: 1, Start: dawn - 1000, Limit: grid.Hour}, limit: dawn.Add(grid.Hour)}}
	w.toy.node("n3").State = grid.NodeDrained
	w.placed(t, 1, what(1, start.Add(15*grid.Minute), grid.Minute)) // n4 .. n6
	h := w.hold(2, what(2, start, 6*grid.Minute))
	if !slices.Equal(h.Nodes, []string{"n4", "n5"}) {
		t.Errorf("nodes %v", h.Nodes)
	}
	if h := w.hold(3, what(1, start, 2*grid.Minute)); !slices.Equal(h.Nodes, []string{"n1"}) {
		t.Errorf("%v, not the node whose gap is the shortest: %v", h.Nodes, h.Refusal)
	}
	if h := w.hold(4, what(2, start, 6*grid.Minute)); h.Refusal.Code != grid.Busy || len(h.Instead) == 0 {
		t.Errorf("%+v", h)
	} else if again := w.hold(5, what(2, h.Instead[0], 6*grid.Minute)); again.Refusal.Refused() {
		t.Errorf("instead at %v: %v", h.Instead[0], again.Refusal)
	}
}

// Free nodes that are shown can be reserved: a window that ends where the next one begins has
// no room for its padding, and is neither shown nor placed.
func TestShow_IsFreeWhereAWindowFitsWithItsPadding(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t0, padding := start.Add(10*grid.Minute), w.cfg.Limits.Padding
		w.placed(t, 1, what(len(nodeNames), start.Add(grid.Hour), 10*grid.Minute))
		most := 50*grid.Minute - padding
		for i, length := range []grid.Duration{most + padding, most + 1, most} {
			shown := w.nodes.states(w.now)[0].Free.Min(t0, t0.Add(length)) > 0
			h := w.hold(uint64(2+i), what(1, t0, length))
			if fits := length <= most; shown != fits || h.Refusal.Refused() == fits {
				t.Errorf("%s are shown to be free: %v; the hold: %v", length.Words(), shown, h.Refusal)
			}
		}
	})
}

// The nodes of a leg that was given up before its window can be had as soon as its
// reservation is deleted: they are shown to be free at once, and a hold waits for that
// rather than to be refused for a padding that nothing needs.
func TestRelease_BeforeTheWindowFreesTheNodesWithTheReservation(t *testing.T) {
	t.Parallel()
	for name, confirm := range map[string]func(*world){"held": func(*world) {}, "confirmed": func(w *world) { w.confirm(1) }, "bare": func(w *world) { w.confirmBare(1) }} {
		w := reserving()
		next := what(len(nodeNames), start.Add(5*grid.Minute), 5*grid.Minute)
		w.hold(1, what(len(nodeNames), start, 5*grid.Minute))
		confirm(w)
		w.wait(20 * grid.Second)
		w.release(1)
		released := w.now
		if n := w.nodes.states(w.now)[0].Free.Min(next.Start, next.End); n != len(nodeNames) {
			t.Errorf("%s: %d nodes are shown to be free", name, n)
		}
		if h := w.hold(2, next); h.Refusal.Refused() {
			t.Errorf("%s: %v", name, h.Refusal)
		} else if took := w.now.Sub(released); took > 2*grid.Second {
			t.Errorf("%s: placed after %v", name, took)
		}
		w.release(2)
		w.wait(30 * grid.Second)
		w.clean(t)
	}
}

// Nodes of a reservation that the manager does not delete are neither shown as free nor used.
func TestRelease_NodesOfAReservationThatStaysAreNotFree(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.fault = func(c agents.Command) fault {
		return fault{undone: c.Verb == agents.Delete, failed: c.Verb == agents.Delete}
	}
	w.hold(1, what(len(nodeNames), start, 5*grid.Minute))
	w.release(1)
	next := what(1, start.Add(5*grid.Minute), 5*grid.Minute)
	if h := w.hold(2, next); h.Refusal.Code != grid.Busy {
		t.Errorf("%v on %v", h.Refusal, h.Nodes)
	}
	if n := w.nodes.states(w.now)[0].Free.Min(next.Start, next.End); n != 0 {
		t.Errorf("%d nodes are shown to be free", n)
	}
}

// A leg that is released keeps its nodes until a look has shown that they are free.
func TestRelease_NodesAreFreeOnceSeenToBe(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.placed(t, 1, what(4, start, 10*grid.Minute))
		w.run(start.Add(30 * grid.Second))
		w.fault = func(c agents.Command) fault { return fault{undone: true, failed: w.now < start.Add(2*grid.Minute)} }
		w.release(1)
		w.run(start.Add(3 * grid.Minute))
		if h := w.hold(2, what(1, start.Add(5*grid.Minute), grid.Minute)); !h.Refusal.Refused() {
			t.Errorf("placed on %v, where work of a released leg still runs", h.Nodes)
		}
		w.fault = nil
		w.wait(30 * grid.Second)
		if h := w.hold(3, what(1, start.Add(8*grid.Minute), grid.Minute)); h.Refusal.Refused() {
			t.Errorf("%v", h.Refusal)
		}
		w.release(3)
		w.wait(30 * grid.Second)
		w.clean(t)
	})
}

// A release that comes before the hold's answer leaves nothing behind.
func TestRelease_BeforeTheReservationIsThere(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.wait(grid.Second)
	w.fails(agents.Reserve, fault{slow: 5 * grid.Second})
	w.step(theSite, agents.ClusterHold{Leg: leg(1), What: what(1, start, grid.Minute), User: "ana"})
	w.release(1)
	w.wait(30 * grid.Second)
	if got := w.fates(1); !slices.Equal(got, []facts.LockState{facts.LockReleased}) {
		t.Errorf("%v", got)
	}
	w.clean(t)
}

// A reservation or a job with a name of ours and no lock is removed. One whose name only
// begins like ours is not.
func TestReap_OrphansAndNothingElse(t *testing.T) {
	t.Parallel()
	w := reserving()
	foreign := grid.ManagedReservation{Name: "bourse.training", Start: start, End: start.Add(grid.Hour), Nodes: []string{"n3"}}
	w.toy.reservations = []grid.ManagedReservation{{Name: nameOf(8), Start: start, End: start.Add(grid.Hour), Nodes: []string{"n1"}}, foreign}
	for i, name := range []string{nameOf(9), "bourse.sh", nameOf(9) + "0"} {
		w.toy.jobs = append(w.toy.jobs, toyJob{ManagedJob: grid.ManagedJob{Number: string(rune('1' + i)), Name: name, User: "eve", State: grid.ManagedRunning, Nodes: []string{nodeNames[i]}, Start: dawn - 1}, limit: grid.Never})
	}
	w.wait(grid.Minute)
	if w.toy.reservation(foreign.Name) == nil || w.toy.job("bourse.sh") == nil || w.toy.job(nameOf(9)+"0") == nil {
		t.Error("what is another's is gone")
	}
	if w.toy.reservation(nameOf(8)) != nil || w.toy.job(nameOf(9)) != nil || w.nodes.Counts().Orphans != 2 {
		t.Errorf("orphans are left: %v", w.toy.ours())
	}
}
