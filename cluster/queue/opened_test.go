package queue

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// newDivided is a cluster of n nodes of 8 slices without local work.
func newDivided(n int) *alone {
	s := newAlone(n)
	g := &s.nodes.groups[0]
	g.Slices, g.Cores, g.Machine.GPUs = 8, 64, 8
	return s
}

// portion is a window of parts.
func portion(n, slices int, start, end grid.Time) grid.Leg {
	l := window(n, start, end)
	if slices < 8 {
		l.Part = grid.LegPart{Slices: int16(slices), Of: 8}
	}
	return l
}

// ask holds and confirms a leg, and returns its nodes.
func (s *alone) ask(leg uint64, what grid.Leg) ([]int32, grid.Reason) {
	r := s.say(agents.ClusterHold{Leg: testLeg(leg), What: what})[0].(agents.ClusterHeld)
	if !r.Refusal.Refused() {
		s.say(agents.ClusterConfirm{Leg: testLeg(leg)})
	}
	return r.On, r.Refusal
}

// The worked example of parts of nodes, hour by hour: who opens a node, who lies inside, and
// what is left of a node when its opener is released.
func TestOpened_WorkedExample(t *testing.T) {
	t.Parallel()
	s := newDivided(2)
	const h = 100
	for i, x := range []struct {
		what grid.Leg
		on   []int32
		free [8]int // whole nodes, by hour
	}{
		{portion(1, 4, 1*h, 5*h), []int32{1}, [8]int{2, 1, 1, 1, 1, 2, 2, 2}},    // A opens
		{portion(1, 3, 1*h, 3*h), []int32{1}, [8]int{2, 1, 1, 1, 1, 2, 2, 2}},    // B lies inside
		{portion(1, 1, 1*h, 7*h), []int32{2}, [8]int{2, 0, 0, 0, 0, 1, 1, 2}},    // C is longer than A
		{portion(2, 2, 3*h, 4*h), []int32{1, 2}, [8]int{2, 0, 0, 0, 0, 1, 1, 2}}, // D: the fewest free first
		{portion(1, 8, 5*h, 6*h), nil, [8]int{2, 0, 0, 0, 0, 0, 1, 2}},           // E takes a whole node
	} {
		on, why := s.ask(uint64(i+1), x.what)
		if why.Refused() || !slices.Equal(on, x.on) {
			t.Fatalf("leg %d is on %v (%v), not %v", i+1, on, why, x.on)
		}
		for hour, free := range x.free {
			if got := s.free(grid.Time(hour*h + 1)); got != free {
				t.Errorf("after leg %d, %d nodes are free in hour %d, not %d", i+1, got, hour, free)
			}
		}
	}
	s.say(agents.ClusterRelease{Leg: testLeg(1)})
	for hour, free := range [8]int{2, 0, 0, 0, 1, 0, 1, 2} { // B and D keep the node, from 4 on nobody
		if got := s.free(grid.Time(hour*h + 1)); got != free {
			t.Errorf("after the release of A, %d nodes are free in hour %d, not %d", got, hour, free)
		}
	}
	if err := s.nodes.Audit(); err != nil {
		t.Error(err)
	}
}

// laid is what the model of a node knows of a leg.
type laid struct {
	what grid.Leg
	on   []int32
}

// Whatever comes and goes, no node has more slices taken than it has, a part lies on nodes that
// are taken whole for exactly as long as parts are on them, and a hold is refused only if there
// is no place: a model counts them, second by second.
func TestOpened_AgainstNodesSecondBySecond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "nodes")
		s, model := newDivided(n), map[int]laid{}
		for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
			if id := rapid.IntRange(0, 2*i).Draw(t, "released"); model[id].what.Nodes > 0 {
				s.say(agents.ClusterRelease{Leg: testLeg(uint64(id))})
				delete(model, id)
			}
			start := grid.Time(rapid.IntRange(1, 20).Draw(t, "start"))
			what := portion(rapid.IntRange(1, 2).Draw(t, "count"), rapid.IntRange(1, 8).Draw(t, "slices"), start, start+grid.Time(rapid.IntRange(1, 10).Draw(t, "length")))
			on, why := s.ask(uint64(100+i), what)
			if places := room(model, n, what); why.Refused() != (places < what.Nodes) {
				t.Fatalf("%+v: %v, the model has %d places", what, why, places)
			}
			if !why.Refused() {
				model[100+i] = laid{what, on}
			}
			if err := s.nodes.Audit(); err != nil {
				t.Fatal(err)
			}
			for at := grid.Time(1); at < 32; at++ {
				if free := n - taken(model, at); free != s.free(at) {
					t.Fatalf("at %v %d nodes are free, the model has %d", at, s.free(at), free)
				}
			}
		}
	})
}

// taken is how many nodes are not free at an instant, counted from the legs alone.
func taken(model map[int]laid, at grid.Time) (n int) {
	open := map[int32]int{}
	for _, x := range model {
		if x.what.Start > at*1000 || at*1000 >= x.what.End {
			continue
		}
		if !x.what.Part.Some() {
			n += x.what.Nodes
		}
		for _, number := range x.on {
			if open[number] += int(x.what.Part.Slices); open[number] > 8 {
				panic(fmt.Sprintf("node %d has %d slices taken at %v", number, open[number], at))
			}
		}
	}
	return n + len(open)
}

// room is on how many nodes a leg could lie.
func room(model map[int]laid, n int, what grid.Leg) int {
	least := n
	for at := what.Start / 1000; at < what.End/1000; at++ {
		least = min(least, n-taken(model, at))
	}
	numbers := map[int32]bool{}
	for _, x := range model {
		for _, number := range x.on {
			numbers[number] = true
		}
	}
	for number := range numbers {
		fits := what.Part.Some()
		for at := what.Start / 1000; at < what.End/1000 && fits; at++ {
			used := 0
			for _, x := range model {
				if x.what.Start <= at*1000 && at*1000 < x.what.End && slices.Contains(x.on, number) {
					used += int(x.what.Part.Slices)
				}
			}
			fits = used > 0 && used+int(what.Part.Slices) <= 8
		}
		if fits {
			least++
		}
	}
	return least
}
