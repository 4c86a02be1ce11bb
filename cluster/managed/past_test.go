package managed

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A life whose journal is older than the submission of work finds in the manager that it has run,
// and does not submit it again: whether it was confirmed by then, or only held.
func TestPast_WorkThatHasRunDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	for _, confirmed := range []bool{true, false} {
		both(t, func(t *testing.T, w *world) {
			w.toy.lengths[nameOf(1)] = 10 * grid.Second
			if h := w.hold(1, what(2, start, 4*grid.Minute)); h.Refusal.Refused() {
				t.Fatal(h.Refusal)
			}
			old := slices.Clone(w.facts)
			w.confirm(1)
			if confirmed {
				old = slices.Clone(w.facts)
			}
			w.run(start.Add(20 * grid.Second))
			if w.toy.begun[nameOf(1)] != 1 {
				t.Fatalf("its work has begun %d times", w.toy.begun[nameOf(1)])
			}
			w.facts = old
			w.begin()
			if !confirmed {
				w.wait(5 * grid.Second)
				w.confirm(1)
			}
			w.run(start.Add(2 * grid.Minute))
			if r := w.last(1).Result; w.last(1).State != facts.LockEnded || r == nil || !r.Known {
				t.Errorf("%v, %+v", w.fates(1), r)
			}
			w.over(t, 1)
		})
	}
}

// purgedWork is how often work has begun in the end that was submitted by an earlier life, has run,
// and is no longer known to the manager; and what has become of its leg.
func purgedWork(t *testing.T) (begun int, last facts.LockState) {
	w := submitted(t, 4*grid.Minute)
	old := slices.Clone(w.facts)
	w.toy.lengths[nameOf(1)] = 5 * grid.Second
	w.run(start.Add(10 * grid.Second))
	w.toy.jobs, w.facts = nil, old
	w.begin()
	w.run(start.Add(3 * grid.Minute))
	return w.toy.begun[nameOf(1)], w.last(1).State
}

// A job that was submitted and is gone may have run, and does not run again.
func TestPast_WorkThatMayHaveRunIsLost(t *testing.T) {
	t.Parallel()
	if begun, last := purgedWork(t); begun != 1 || last != facts.LockLost {
		t.Errorf("its work has begun %d times, its leg is %v", begun, last)
	}
}

// forgotten is a world whose cluster has forgotten a leg whose work has run since an instant, and
// asks for it again at another.
func forgotten(t *testing.T, at, again grid.Time) (*world, agents.ClusterHeld) {
	t.Helper()
	w := submitted(t, 10*grid.Minute)
	w.run(at)
	w.is(t, 1, facts.LockRunning)
	w.facts = nil
	w.begin()
	w.run(again)
	var h agents.ClusterHeld
	for range 3 {
		if h = w.ask(agents.ClusterHold{Leg: leg(1), What: what(2, start, 10*grid.Minute), User: "ana", Again: true}); !h.Refusal.Refused() {
			break
		}
		w.wait(5 * grid.Second)
	}
	return w, h
}

// A cluster that has forgotten a leg whose work runs ends the work, which no lock covers. Asserted
// anew within the minute, the leg has no nodes again: its work would begin a second time, unless the
// manager still knows of the first.
func TestAmnesia_WorkThatRanDoesNotBeginAgain(t *testing.T) {
	t.Parallel()
	w, h := forgotten(t, start.Add(10*grid.Second), start.Add(30*grid.Second))
	if h.Refusal.Code != grid.Expired || !strings.Contains(h.Refusal.Detail, "before this life") {
		t.Errorf("%+v", h)
	}
	w.run(start.Add(9 * grid.Minute))
	if n := w.toy.begun[nameOf(1)]; n != 1 {
		t.Errorf("its work has begun %d times", n)
	}
	w.over(t, 1)
}

// Work that has not begun a minute after its window did never does, though the manager no longer
// knows that it has run, and nothing would stop it from running again.
func TestAmnesia_WorkDoesNotBeginLate(t *testing.T) {
	t.Parallel()
	w, h := forgotten(t, start.Add(10*grid.Second), start.Add(grid.Minute))
	if h.Refusal.Code != grid.Expired || !strings.Contains(h.Refusal.Detail, "more than 1m ago") {
		t.Errorf("%+v", h)
	}
	w.over(t, 1)
}
