package managed

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse"
)

// A life whose journal is older than the submission of work finds in the manager that it has run,
// and does not submit it again: whether it was confirmed by then, or only held.
func TestPast_WorkThatHasRunDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	for _, confirmed := range []bool{true, false} {
		both(t, func(t *testing.T, w *world) {
			w.toy.lengths[nameOf(1)] = 10 * bourse.Second
			if h := w.hold(1, what(2, start, 4*bourse.Minute)); h.Refusal.Refused() {
				t.Fatal(h.Refusal)
			}
			old := slices.Clone(w.facts)
			w.confirm(1)
			if confirmed {
				old = slices.Clone(w.facts)
			}
			w.run(start.Add(20 * bourse.Second))
			if w.toy.begun[nameOf(1)] != 1 {
				t.Fatalf("its work has begun %d times", w.toy.begun[nameOf(1)])
			}
			w.facts = old
			w.begin()
			if !confirmed {
				w.wait(5 * bourse.Second)
				w.confirm(1)
			}
			w.run(start.Add(2 * bourse.Minute))
			if r := w.last(1).Result; w.last(1).State != bourse.LockEnded || r == nil || !r.Known {
				t.Errorf("%v, %+v", w.fates(1), r)
			}
			w.over(t, 1)
		})
	}
}

// purgedWork is how often work has begun in the end that was submitted by an earlier life, has run,
// and is no longer known to the manager; and what has become of its leg.
func purgedWork(t *testing.T) (begun int, last bourse.LockState) {
	w := submitted(t, 4*bourse.Minute)
	old := slices.Clone(w.facts)
	w.toy.lengths[nameOf(1)] = 5 * bourse.Second
	w.run(start.Add(10 * bourse.Second))
	w.toy.jobs, w.facts = nil, old
	w.begin()
	w.run(start.Add(3 * bourse.Minute))
	return w.toy.begun[nameOf(1)], w.last(1).State
}

// What was submitted and is gone may have run, and does not run again.
func TestPast_WorkThatMayHaveRunIsLost(t *testing.T) {
	t.Parallel()
	if begun, last := purgedWork(t); begun != 1 || last != bourse.LockLost {
		t.Errorf("its work has begun %d times, its leg is %v", begun, last)
	}
}
