package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// As many nodes for as long as a Hold may name are more than any cap: their
// product does not wrap to less than nothing.
func TestLimits_NodeTimeDoesNotWrap(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.Cap = 10_000_000
	s := newStory(cfg, backfill.EASY, nil)
	s.say("broker:vo1", agents.Hold{Leg: testLeg(1), What: window(1, 100, 200), Limit: grid.MaxBudget, For: 30_000})
	l := &leg{LegMoved: facts.LegMoved{Leg: testLeg(2), What: grid.Leg{Group: "main", Nodes: maxNodes, Start: 100_000, End: grid.MaxTime}}}
	if why := s.site.limits.capped(l); why.Code != grid.Cap {
		t.Errorf("%d nodes for 317 years are under the cap: %q", maxNodes, why)
	}
}
