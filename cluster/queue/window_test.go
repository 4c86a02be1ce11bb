package queue

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// An earlier build kept the window of a leg that had taken the place of another
// one, also where no nodes are promised; an operator may turn promises off between
// two lives. Neither may end the cluster when the leg is moved again.
func TestCluster_GoesOnWithAWindowFromAnOldJournal(t *testing.T) {
	t.Parallel()
	now := grid.Time(1_000_000)
	window := grid.Flex{Ready: now, Due: now + 900_000}
	what := grid.Leg{Group: "main", Nodes: 4, Start: now + 100_000, End: now + 200_000}
	l := newLives(durableConfig(backfill.EASY, false, func(int, grid.Time, grid.Time) func() (grid.LocalJob, bool) { return Jobs(nil) }), now)
	l.facts = append(l.facts,
		recorded{now, facts.NodesLocked{Leg: testLeg(1), What: what, Ends: what.End, Flex: window}},
		recorded{now, facts.LockMoved{Leg: testLeg(1), State: facts.LockConfirmed}})
	l.begin(now + 1000)
	what.Start, what.End = what.Start+1000, what.End+1000
	l.said = nil
	l.step(now+1000, agents.ClusterHold{Leg: testLeg(2), What: what, Replaces: testLeg(1), Flex: window})
	if m, ok := l.said[0].(agents.ClusterHeld); !ok || m.Refusal.Refused() {
		t.Errorf("the hold is answered with %+v", l.said)
	}
	l.step(now+1000, agents.ClusterConfirm{Leg: testLeg(2)})
	if err := l.cluster.Audit(now + 1000); err != nil {
		t.Error(err)
	}
}
