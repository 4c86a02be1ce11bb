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
