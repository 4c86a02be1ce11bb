package managed

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// vanishedWork is the result of work that the manager has shown to run and no longer
// knows.
func vanishedWork(t *testing.T) *grid.WorkResult {
	t.Helper()
	w := submitted(t, 10*grid.Minute)
	w.run(start.Add(grid.Minute))
	w.is(t, 1, facts.LockRunning)
	w.toy.jobs = nil
	w.wait(grid.Minute)
	w.is(t, 1, facts.LockEnded)
	r := w.last(1).Result
	w.over(t, 1)
	return r
}

func TestLost_HowWorkThatHasVanishedEndedIsNotKnown(t *testing.T) {
	t.Parallel()
	if r := vanishedWork(t); r == nil || r.Known || r.Ended.Code != grid.Unknown || r.Begin == 0 {
		t.Errorf("%+v", r)
	}
}

// A node's daemon is killed just as its manager has it begin work. The manager shows the work as
// running, and later has it no more, or in its queue again: it was paid for, and nothing has
// shown that it ever began. Only work that has begun is settled.
func TestLost_WorkThatOnlyItsManagerHasSeenBegin(t *testing.T) {
	t.Parallel()
	for what, x := range map[string]struct {
		then  func(w *world)
		word  string
		began bool
	}{
		"put back, never begun": {func(w *world) { w.toy.putBack(nameOf(1)) }, "put its work back into its queue before it began: BeginTime", false},
		"put back, begun":       {func(w *world) { w.toy.putBack(nameOf(1)) }, "", true},
		"gone, never begun":     {func(w *world) { w.toy.jobs = nil }, "whether it ran cannot be known", false},
		"gone, begun":           {func(w *world) { w.toy.jobs = nil }, "", true},
	} {
		w := submitted(t, 10*grid.Minute)
		w.toy.unbegun = map[string]bool{nameOf(1): !x.began}
		w.run(start.Add(grid.Minute))
		w.is(t, 1, facts.LockRunning)
		x.then(w)
		w.wait(grid.Minute)
		if x.word == "" {
			w.is(t, 1, facts.LockEnded)
		} else {
			w.lostFor(t, 1, x.word)
		}
		if t.Failed() {
			t.Fatal(what)
		}
		w.over(t, 1)
	}
}
