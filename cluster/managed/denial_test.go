package managed

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// denying is a world whose manager denies a command for a reason.
func denying(verb agents.CommandVerb, code grid.Code) *world {
	w := reserving()
	w.fault = func(c agents.Command) fault { return fault{denied: c.Verb == verb, code: code} }
	return w
}

// free is how many nodes the site is shown to be free at an instant.
func (w *world) free(at grid.Time) int { return w.shown().States[0].Free.At(at) }

// Nodes that the manager denies twice are not offered for WithheldFor, nor asked for.
func TestDenial_OfTheSameTwiceWithholdsIt(t *testing.T) {
	t.Parallel()
	later := start.Add(grid.Hour)
	for code, x := range map[grid.Code]struct {
		words string
		code  grid.Code // of a hold meanwhile
		check func(t *testing.T, w *world)
	}{
		grid.NotAllowed: {"does not offer group main", grid.Busy, func(t *testing.T, w *world) {
			if n := w.free(later); n != 0 {
				t.Errorf("%d nodes are offered", n)
			}
		}},
		grid.TooLarge: {"a window of 10m is longer", grid.TooLarge, func(t *testing.T, w *world) {
			if s := w.shown(); len(s.Longest) != 1 || s.Longest[0] != 10*grid.Minute-1 {
				t.Errorf("windows of %v are offered", s.Longest)
			}
		}},
		grid.Busy: {"does not offer nodes n1, n2, n3, n4 of group main from ", grid.Busy, func(t *testing.T, w *world) {
			if n := w.free(start); n != 0 {
				t.Errorf("%d nodes are offered", n)
			}
			if n := w.free(later); n != 4 {
				t.Errorf("later only %d nodes are offered", n)
			}
		}},
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			w := denying(agents.Reserve, code)
			for n := uint64(1); n <= 2; n++ {
				if n == 2 && len(w.nodes.Troubles()) > 0 {
					t.Errorf("after one: %v", w.nodes.Troubles())
				}
				if h := w.hold(n, what(4, start, 10*grid.Minute)); !strings.Contains(h.Refusal.Detail, "refused by the test") {
					t.Fatalf("leg %d: %v", n, h.Refusal)
				}
				w.wait(5 * grid.Second)
			}
			given := len(w.given)
			h := w.hold(3, what(1, start, 10*grid.Minute))
			if h.Refusal.Code != x.code || !strings.Contains(h.Refusal.Detail, x.words) || len(w.given) != given {
				t.Errorf("the third is refused with %s: %v", h.Refusal.Code, h.Refusal)
			}
			if list := w.nodes.Troubles(); len(list) != 1 || w.nodes.Counts().Withheld != 1 || !strings.Contains(string(list[0].Words), "denied it twice: refused by the test") {
				t.Errorf("the operator is told %v", list)
			}
			x.check(t, w)
			w.fault = nil
			w.wait(15 * grid.Minute)
			if list := w.nodes.Troubles(); len(list) != 0 {
				t.Errorf("after 15 min: %v", list)
			}
			if n := w.free(later); n != 4 {
				t.Errorf("after 15 min %d nodes are offered", n)
			}
			if h := w.hold(4, what(4, later, 10*grid.Minute)); h.Refusal.Refused() {
				t.Errorf("after 15 min: %v", h.Refusal)
			}
		})
	}
}

// Two denials of different things, or of the same thing long apart, withhold nothing.
func TestDenial_OfDifferentThingsWithholdsNothing(t *testing.T) {
	t.Parallel()
	w := denying(agents.Reserve, grid.Busy)
	w.hold(1, what(1, start, 10*grid.Minute))
	w.hold(2, what(1, start.Add(grid.Hour), 10*grid.Minute))
	if list := w.nodes.Troubles(); len(list) != 0 {
		t.Error(list)
	}
	w.wait(11 * grid.Minute)
	w.hold(3, what(1, start.Add(grid.Hour), 10*grid.Minute))
	if list := w.nodes.Troubles(); len(list) != 0 {
		t.Error(list)
	}
}

// An account whose work the manager does not take costs two legs, and then no other.
func TestDenial_OfAnAccountRefusesItsLegs(t *testing.T) {
	t.Parallel()
	w := denying(agents.Run, grid.NotAllowed)
	for n := uint64(1); n <= 2; n++ {
		w.placed(t, n, what(1, start, 10*grid.Minute))
		w.wait(40 * grid.Second)
		if got := w.last(n).State; got != facts.LockLost {
			t.Fatalf("leg %d is %s", n, got)
		}
	}
	if h := w.hold(3, what(1, start.Add(grid.Hour), 10*grid.Minute)); h.Refusal.Code != grid.NotAllowed || !strings.Contains(h.Refusal.Detail, "local account vo1") {
		t.Error(h.Refusal)
	}
	if n := w.free(start.Add(grid.Hour)); n != 4 {
		t.Errorf("%d nodes are offered to others", n)
	}
}

// Looks that fail are a trouble from the first on until one succeeds.
func TestTrouble_LooksThatFail(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.wait(grid.Minute)
	w.mute = true
	w.wait(grid.Minute)
	list := w.nodes.Troubles()
	if len(list) != 1 || list[0].Key != "looks" || list[0].Blind || list[0].Since.Sub(dawn) < grid.Minute || list[0].Since.Sub(dawn) > 90*grid.Second {
		t.Fatalf("%+v", list)
	}
	w.wait(6 * grid.Minute)
	if again := w.nodes.Troubles(); len(again) != 1 || again[0].Since != list[0].Since || !again[0].Blind {
		t.Errorf("%+v", again)
	}
	w.mute = false
	w.wait(grid.Minute)
	if list := w.nodes.Troubles(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
