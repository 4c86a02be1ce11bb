package managed

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// divided is the group of four nodes that sells eighths of them.
var divided = grid.Group{Name: "main", Nodes: 4, Slices: 8, Cores: 64, Machine: grid.Machine{GPUs: 8, Memory: 512 << 30}}

func eighths(n int) grid.LegPart { return grid.LegPart{Slices: int16(n), Of: 8, GPUs: int16(n)} }

// slicing is a world of such a group.
func slicing(reserves bool) *world {
	cfg := config(reserves, nodeNames...)
	cfg.Groups[0] = divided
	return newWorld(cfg)
}

func part(n int, at grid.Time, length grid.Duration) grid.Leg {
	l := what(1, at, length)
	l.Part = eighths(n)
	return l
}

// bothSliced runs a test with a manager that keeps reservations and with one that keeps none.
func bothSliced(t *testing.T, test func(t *testing.T, w *world)) {
	for name, reserves := range map[string]bool{"reserves": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, slicing(reserves))
		})
	}
}

// on is under which numbers a leg has its nodes by the facts.
func (w *world) on(n uint64) (on []int32) {
	for _, f := range w.told {
		if f, ok := f.(facts.NodesLocked); ok && f.Leg == leg(n) {
			on = f.On
		}
	}
	return on
}

func (w *world) opened() []grid.Opened {
	if list := w.nodes.Show(0).Opened; list != nil {
		return list[0]
	}
	return nil
}

// The specification's example, as far as it is about nodes: legs of 4, 3, 1 and 2 x 2 eighths.
func TestSlices_LiveInsideAndOpen(t *testing.T) {
	t.Parallel()
	bothSliced(t, func(t *testing.T, w *world) {
		d := part(2, start.Add(2*grid.Hour), grid.Hour)
		d.Nodes = 2
		for i, x := range []struct {
			leg   grid.Leg
			nodes string
			on    []int32
		}{
			{part(4, start, 4*grid.Hour), "n1", []int32{1}},
			{part(3, start, 2*grid.Hour), "n1", []int32{1}},
			{part(1, start, 6*grid.Hour), "n2", []int32{2}},
			{d, "n1 n2", []int32{1, 2}},
		} {
			n := uint64(i + 1)
			h := w.placed(t, n, x.leg)
			if got := strings.Join(h.Nodes, " "); got != x.nodes || !slices.Equal(h.On, x.on) || !slices.Equal(w.on(n), x.on) {
				t.Errorf("leg %d lies on %s, numbers %v; must be %s, %v", n, got, h.On, x.nodes, x.on)
			}
		}
		list := w.opened()
		if len(list) != 2 || list[0].End != start.Add(4*grid.Hour) || list[1].End != start.Add(6*grid.Hour) {
			t.Fatalf("opened are %+v", list)
		}
		for at, want := range map[grid.Duration][2]int{0: {1, 7}, 2 * grid.Hour: {2, 5}, 3 * grid.Hour: {4, 7}} {
			if got := [2]int{list[0].Free.At(start.Add(at)), list[1].Free.At(start.Add(at))}; got != want {
				t.Errorf("after %s %v slices are free; must be %v", at.Words(), got, want)
			}
		}
		w.release(1) // the others stay where they are
		w.wait(grid.Minute)
		var spans []string
		for _, o := range w.opened() {
			spans = append(spans, (o.Start-start).String()+"-"+(o.End-start).String())
		}
		if got := strings.Join(spans, " "); got != "0-7200 0-21600 7200-10800" && got != "0-10800 0-21600" {
			t.Errorf("without the opener there are %s", got)
		}
		w.run(start.Add(grid.Minute))
		for n, want := range map[uint64]facts.LockState{2: facts.LockRunning, 3: facts.LockRunning} {
			if got := w.last(n).State; got != want {
				t.Errorf("a minute into its window leg %d is %s: %v", n, got, w.toy.story)
			}
		}
		w.run(start.Add(7 * grid.Hour))
		w.clean(t)
	})
}

// Managers let such reservations overlap those of others, so a hold waits for a look that is
// newer than its reservation.
func TestSlices_AReservationOfOthersIsSeenBeforeHeld(t *testing.T) {
	t.Parallel()
	for _, w := range []*world{slicing(true), prompt(slicing(true).cfg)} {
		refusedBesideOthers(t, w)
	}
}

func refusedBesideOthers(t *testing.T, w *world) {
	t.Helper()
	h := besideOthers(t, w)
	if h.Refusal.Code != grid.Busy || !strings.Contains(h.Refusal.Detail, "node n1 of north has a reservation of others") {
		t.Errorf("the hold is answered %v on %v", h.Refusal, h.Nodes)
	}
	w.wait(grid.Minute)
	if w.toy.reservation(nameOf(2)) != nil {
		t.Error("what was refused keeps its reservation")
	}
	if len(w.opened()) != 0 {
		t.Errorf("beside others is offered %+v", w.opened())
	}
	w.fault = nil
	if h := w.hold(3, part(2, start, grid.Hour)); h.Refusal.Refused() || h.Nodes[0] == "n1" {
		t.Errorf("the next hold is answered %v on %v", h.Refusal, h.Nodes)
	}
}

// Nobody waits for that look longer than it takes. One that was asked for before the
// reservation was there is none, though it comes after it.
func TestSlices_AHoldIsAnsweredByTheLookAfterIt(t *testing.T) {
	t.Parallel()
	w := prompt(slicing(true).cfg)
	if h := w.hold(1, part(4, start, grid.Hour)); h.Refusal.Refused() {
		t.Fatal(h.Refusal)
	}
	w.old = 400 * grid.Millisecond // a look is answered after the reservation is there
	for before := len(w.asked); len(w.asked) == before; {
		w.wait(50)
	}
	before, at := len(w.asked)-1, w.now
	h := w.hold(2, part(2, start, grid.Hour))
	if took := w.now.Sub(at); h.Refusal.Refused() || took > 3*grid.Second {
		t.Errorf("after %s the hold is answered %v: %v", took.Words(), h.Refusal, w.toy.story)
	}
	if n := len(w.asked) - before; n != 2 {
		t.Errorf("%d looks for one hold", n)
	}
}

// prompt is a world whose driver looks when it is asked to, of a clock that may be 5 s off.
func prompt(cfg Config) *world {
	cfg.Prompt, cfg.Limits.Skew, cfg.Limits.LookEvery = true, 5*grid.Second, 10*grid.Second
	return newWorld(cfg)
}

// besideOthers holds a leg inside another one while somebody reserves their node.
func besideOthers(t *testing.T, w *world) agents.ClusterHeld {
	t.Helper()
	w.hold(1, part(4, start, grid.Hour))
	w.fault = func(c agents.Command) fault { // it comes while ours is made
		if c.Verb == agents.Reserve {
			w.toy.reservations = append(w.toy.reservations, grid.ManagedReservation{Name: "theirs", Start: start.Add(10 * grid.Minute), End: start.Add(grid.Hour), Nodes: []string{"n1"}})
		}
		return fault{}
	}
	return w.hold(2, part(2, start, grid.Hour))
}

// A drained node takes no new part, and what is on it stays.
func TestSlices_ADrainedNodeTakesNoPart(t *testing.T) {
	t.Parallel()
	bothSliced(t, func(t *testing.T, w *world) {
		w.placed(t, 1, part(4, start, grid.Hour))
		w.toy.node("n1").State = grid.NodeDrained
		w.wait(30 * grid.Second)
		if h := w.hold(2, part(2, start, grid.Hour)); h.Refusal.Refused() || h.Nodes[0] != "n2" {
			t.Errorf("beside a drained node: %v on %v", h.Refusal, h.Nodes)
		}
		if len(w.opened()) != 1 {
			t.Errorf("opened are %+v", w.opened())
		}
	})
}

// All legs on a node that is lost are, and no other.
func TestSlices_ALostNodeLosesAllOnIt(t *testing.T) {
	t.Parallel()
	w := slicing(true)
	for n := range uint64(2) {
		w.placed(t, n+1, part(3, start, grid.Hour))
	}
	w.placed(t, 3, part(7, start, grid.Hour))
	w.run(start.Add(grid.Minute))
	w.toy.node("n1").State = grid.NodeDown
	for i := range w.toy.jobs {
		if j := &w.toy.jobs[i]; slices.Contains(j.Nodes, "n1") {
			j.State = grid.ManagedLost
		}
	}
	w.wait(grid.Minute)
	for n, want := range map[uint64]facts.LockState{1: facts.LockLost, 2: facts.LockLost, 3: facts.LockRunning} {
		if got := w.last(n).State; got != want {
			t.Errorf("leg %d is %s, must be %s", n, got, want)
		}
	}
}

// Where the manager keeps nothing, work that overruns keeps its slices from the next.
func TestSlices_WorkThatOverrunsKeepsItsSlices(t *testing.T) {
	t.Parallel()
	w := slicing(false)
	w.toy.grace = 20 * grid.Second
	w.placed(t, 1, part(2, start, grid.Hour))      // opens the node
	w.placed(t, 2, part(6, start, 10*grid.Minute)) // does not end when it is told
	w.placed(t, 3, part(6, start.Add(10*grid.Minute), grid.Minute))
	w.run(start.Add(10*grid.Minute + 15*grid.Second))
	if w.count(3, agents.Run) != 0 {
		t.Errorf("the next begins while it is there: %v", w.toy.story)
	}
	w.run(start.Add(10*grid.Minute + 50*grid.Second))
	if got := w.last(3).State; got != facts.LockRunning {
		t.Errorf("the next is %s: %v", got, w.toy.story)
	}
	w.run(start.Add(2 * grid.Hour))
	w.clean(t)
}

// A life that begins finds who shares which node.
func TestSlices_ARestartKeepsWhoLiesWhere(t *testing.T) {
	t.Parallel()
	bothSliced(t, func(t *testing.T, w *world) {
		w.placed(t, 1, part(4, start, grid.Hour))
		w.placed(t, 2, part(4, start, grid.Hour))
		w.compact()
		w.begin()
		w.wait(10 * grid.Second)
		if len(w.opened()) != 1 || w.opened()[0].Least(start, start.Add(grid.Hour)) != 0 {
			t.Errorf("opened are %+v", w.opened())
		}
		if h := w.hold(3, part(1, start, grid.Hour)); h.Refusal.Refused() || !slices.Equal(h.On, []int32{2}) {
			t.Errorf("a further one: %v, %v", h.Refusal, h.On)
		}
		if h := w.hold(4, part(3, start, grid.Minute)); h.Refusal.Refused() || !slices.Equal(h.On, []int32{2}) {
			t.Errorf("one inside that: %v, %v", h.Refusal, h.On)
		}
	})
}

// Work is told what it may use: what was asked for, and the share of what was not.
func TestSlices_WorkIsToldWhatItMayUse(t *testing.T) {
	t.Parallel()
	w := slicing(true)
	l := part(3, start, grid.Hour)
	l.Part.Cores, l.Part.GPUs = 20, 1
	w.placed(t, 1, l)
	w.wait(20 * grid.Second)
	i := slices.IndexFunc(w.given, func(c agents.Command) bool { return c.Verb == agents.Run })
	if i < 0 || w.given[i].Part != (grid.LegPart{Slices: 3, Of: 8, Cores: 20, GPUs: 1, Memory: 192 << 30}) {
		t.Errorf("given were %+v", w.given)
	}
}

// A request that cannot be a part of such nodes is refused, without a look.
func TestSlices_OfAnotherDivisionAreRefused(t *testing.T) {
	t.Parallel()
	w := slicing(true)
	l := part(3, start, grid.Hour)
	l.Part.Of = 4
	if h := w.hold(1, l); h.Refusal.Code != grid.Unknown {
		t.Errorf("fourths of a node of eighths: %v", h.Refusal)
	}
}
