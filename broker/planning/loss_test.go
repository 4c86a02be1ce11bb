package planning

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

// What is tried next, and what explain calls the runner-up, go by what a credit
// weighed when the batch chose.
func TestLose_AsCreditsWeigh(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		weight int64
		dear   bool // the dear, early window comes first
	}{{0, true}, {1000, true}, {4000, false}} {
		in := &Input{Terms: Terms{Minimize: bourse.GoalValue, Weight: x.weight}}
		in.Jobs = []Job{{Name: "a", Request: bourse.Request{Urgency: bourse.Hourly(10 * bourse.Credit)}}}
		at := func(number int, cost bourse.Credits, end bourse.Duration) Alternative {
			return Alternative{Number: number, Cost: cost * bourse.Credit, End: bourse.Time(end), Legs: []Leg{{What: bourse.Leg{Nodes: 1, End: bourse.Time(end)}}}}
		}
		list := []Alternative{at(1, 10, bourse.Hour), at(2, 5, 2*bourse.Hour)}
		(&Draft{in: in}).lose(0, list)
		if got := in.Terms.Better(&list[0], &list[1]); got != x.dear {
			t.Errorf("at weight %d the dear window comes first: %t; they lose %v and %v", x.weight, got, list[0].Loss, list[1].Loss)
		}
	}
}
