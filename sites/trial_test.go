package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// A state is of the cluster's clock, which may be ahead of the site's: a trial of
// several legs leaves it there, or what a conservative queue is promised would lie
// before its first step.
func TestTrial_DoesNotSetTheClustersTimeBack(t *testing.T) {
	t.Parallel()
	state := backfill.State{Now: 158, Nodes: 4, Policy: backfill.Conservative, Free: grid.NewProfile(158, 4),
		Queue: []backfill.Queued{{ID: 1, Nodes: 4, Estimate: 1000, Guarantee: grid.Never}}}
	o := &offers{cfg: &Config{}, groups: map[string]int{"g": 0}, view: &view{states: []backfill.State{state}}}
	x := newTrial(o)
	x.take(127, grid.Leg{Group: "g", Nodes: 4, Start: 5000, End: 6000})
	if s, _ := x.of(0); s.Now != 158 || s.Queue[0].Guarantee != 158 {
		t.Errorf("the state is of %v, and the queue's head is promised %v", s.Now, s.Queue[0].Guarantee)
	}
}
