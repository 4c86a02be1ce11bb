package sites

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// What has passed by a clock are the confirmed legs that should have begun between two
// instants: not those that run, are held, are over, or lie before or after.
func TestPassed_CountsWhatShouldHaveBegun(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil).site
	const sec = bourse.Time(1000)
	for i, x := range []struct {
		state bourse.LegState
		start bourse.Time
	}{
		{bourse.Confirmed, 100 * sec}, {bourse.Confirmed, 101 * sec}, {bourse.Confirmed, 200 * sec}, {bourse.Confirmed, 201 * sec},
		{bourse.Running, 150 * sec}, {bourse.Held, 150 * sec}, {bourse.Settled, 150 * sec},
	} {
		m := bourse.LegMoved{Leg: bourse.LegID{Tx: bourse.TxID{Broker: "physics", Incarnation: 1, Nonce: 1, Seq: uint64(i + 1)}},
			What: bourse.Leg{Group: "main", Nodes: 1, Start: x.start, End: x.start.Add(bourse.Hour)}, Job: "wave", Limit: 5}
		for _, state := range []bourse.LegState{bourse.Held, bourse.Confirmed, bourse.Running, bourse.Settled} {
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
