package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// A clock passes over the confirmed legs that should have begun between two
// instants: not those that run, are held, are over, or lie before or after.
func TestPassed_CountsWhatShouldHaveBegun(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil).site
	const sec = grid.Time(1000)
	for i, x := range []struct {
		state grid.LegState
		start grid.Time
	}{
		{grid.Confirmed, 100 * sec}, {grid.Confirmed, 101 * sec}, {grid.Confirmed, 200 * sec}, {grid.Confirmed, 201 * sec},
		{grid.Running, 150 * sec}, {grid.Held, 150 * sec}, {grid.Settled, 150 * sec},
	} {
		m := facts.LegMoved{Leg: grid.LegID{Tx: grid.TxID{Broker: "physics", Incarnation: 1, Nonce: 1, Seq: uint64(i + 1)}},
			What: grid.Leg{Group: "main", Nodes: 1, Start: x.start, End: x.start.Add(grid.Hour)}, Job: "wave", Limit: 5}
		for _, state := range []grid.LegState{grid.Held, grid.Confirmed, grid.Running, grid.Settled} {
			if state <= x.state {
				m.State = state
				s.Replay(0, m)
			}
		}
	}
	if got := s.Passed(100*sec, 200*sec); got != 2 {
		t.Errorf("%d windows have passed, want 2", got)
	}
}
