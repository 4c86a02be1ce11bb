package planning

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Windows on pinned nodes are held in the order in which they begin, all others in serving order.
func TestHeld_ByStartOnPinnedNodes(t *testing.T) {
	t.Parallel()
	window := func(start grid.Time) Plan {
		return Plan{Alternatives: []Alternative{{Legs: []Leg{{What: grid.Leg{Nodes: 1, Start: start, End: start + 10}}}}}}
	}
	o := &Outcome{Jobs: []Plan{window(30), {Choice: -1}, window(10), window(30), window(20)}}
	for _, c := range []struct {
		padding grid.Duration
		want    []int
	}{{0, []int{0, 1, 2, 3, 4}}, {grid.Minute, []int{2, 4, 0, 3, 1}}} {
		d := &Draft{Groups: []grid.Group{{Nodes: 8, Padding: c.padding}}}
		if got, pinned := d.Held(o); !slices.Equal(got, c.want) || pinned != (c.padding > 0) {
			t.Errorf("with a padding of %v: %v, %t; must be %v", c.padding, got, pinned, c.want)
		}
	}
}

// What takes slices of nodes is laid anew in the order in which it will be held: on pinned nodes one that
// is served first and begins later lies inside the node that the other has opened by then. In serving
// order it would open the only node, and there would be no place for the other.
func TestLaid_InTheOrderInWhichWindowsAreHeld(t *testing.T) {
	t.Parallel()
	window := func(start, end grid.Time, slices int16) Plan {
		return Plan{Alternatives: []Alternative{{Legs: []Leg{{What: grid.Leg{Nodes: 1, Start: start, End: end, Part: grid.LegPart{Slices: slices, Of: 8}}}}}}}
	}
	for padding, want := range map[grid.Duration][]int{0: {0}, grid.Minute: {0, 1}} {
		one := []grid.Profile{grid.NewProfile(0, 1)}
		d := &Draft{in: &Input{Jobs: make([]Job, 2)}, Groups: []grid.Group{{Nodes: 1, Slices: 8, Padding: padding}}, admissible: one, clear: one, opened: make([][]grid.Opened, 1)}
		c := &chooser{Planner: new(Planner), d: d, q: &Quotes{Left: grid.MaxBudget}, o: &Outcome{Jobs: []Plan{window(200*sec, 300*sec, 2), window(100*sec, 500*sec, 6)}}, candidates: []int{0, 1}}
		for i := range c.o.Jobs {
			c.options = append(c.options, c.o.Jobs[i].options(grid.MaxBudget))
		}
		if all := c.laid(); all != (len(want) == 2) || !slices.Equal(c.candidates, want) || len(c.options) != len(want) {
			t.Errorf("with a padding of %v %v have a place, all %t; must be %v", padding, c.candidates, all, want)
		}
	}
}
