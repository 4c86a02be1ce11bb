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

// A job's second leg at a site is within the cap if its broker holds nothing else, and so is
// one for each part that a job can have in a group. One more is not, nor is a second leg beside
// another transaction's.
func TestLimits_OneTransactionsLegsAreAsManyAsAJobHasParts(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(16)
	cfg.Cap = 1_000_000
	s := newStory(cfg, backfill.EASY, nil)
	hold := func(tx uint64, part int) grid.Code {
		id := testLeg(tx)
		id.Leg = part
		l := &leg{LegMoved: facts.LegMoved{Leg: id, What: window(1, 10_000, 20_000)}}
		why := s.site.limits.capped(l)
		if !why.Refused() {
			s.say("broker:vo1", agents.Hold{Leg: id, What: l.What, Limit: grid.MaxBudget, For: 30_000})
		}
		return why.Code
	}
	for part := range grid.MaxParts {
		if why := hold(1, part); why != "" {
			t.Errorf("leg %d of one transaction: %q", part, why)
		}
	}
	if why := hold(1, grid.MaxParts); why != grid.Cap {
		t.Errorf("one leg more than a job has parts: %q", why)
	}
	if why := hold(2, 0); why != grid.Cap {
		t.Errorf("a leg of another transaction beside them: %q", why)
	}
}
