package planning

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// The next alternative, and the runner-up of explain, go by the weight of a credit at the
// time of the choice.
func TestLose_AsCreditsWeigh(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		weight int64
		dear   bool // the dear, early window comes first
	}{{0, true}, {1000, true}, {4000, false}} {
		in := &Input{Terms: Terms{Minimize: grid.GoalValue, Weight: x.weight}}
		in.Jobs = []Job{{Name: "a", Request: grid.Request{Urgency: grid.Hourly(10 * grid.Credit)}}}
		at := func(number int, cost grid.Credits, end grid.Duration) Alternative {
			return Alternative{Number: number, Cost: cost * grid.Credit, End: grid.Time(end), Legs: []Leg{{What: grid.Leg{Nodes: 1, End: grid.Time(end)}}}}
		}
		list := []Alternative{at(1, 10, grid.Hour), at(2, 5, 2*grid.Hour)}
		(&Draft{in: in}).Lose(0, list)
		if got := in.Terms.Better(&list[0], &list[1]); got != x.dear {
			t.Errorf("at weight %d the dear window comes first: %t; they lose %v and %v", x.weight, got, list[0].Loss, list[1].Loss)
		}
	}
}
