package history

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A job whose work has begun runs from the start of its window until the window is over,
// even if a part is lost and another replaces it.
func TestStanding_APlacedJobRunsOnceItsWorkHasBegun(t *testing.T) {
	t.Parallel()
	leg := func(i int) grid.LegID { return grid.LegID{Leg: i} }
	var s Standing
	for i, step := range []struct {
		turn  Turn
		state grid.JobState
		since grid.Time
	}{
		{Turn{At: 10, What: Submitted}, grid.JobWaiting, 10},
		{Turn{At: 20, What: Trying}, grid.JobTrying, 20},
		{Turn{At: 30, What: Placed, Start: 100}, grid.JobPlaced, 30},
		{Turn{At: 101, What: Started, Start: 100, leg: leg(0)}, grid.JobRunning, 100},
		{Turn{At: 102, What: Started, Start: 100, leg: leg(1)}, grid.JobRunning, 100},
		{Turn{At: 110, What: LegLost, leg: leg(0)}, grid.JobRunning, 100},
		{Turn{At: 120, What: Repaired}, grid.JobRunning, 100},
		{Turn{At: 130, What: LegLost, leg: leg(1)}, grid.JobPlaced, 130},
		{Turn{At: 140, What: Started, Start: 125, leg: leg(2)}, grid.JobRunning, 130},
		{Turn{At: 200, What: LegEnded, leg: leg(2)}, grid.JobRunning, 130},
		{Turn{At: 200, What: Done}, grid.JobDone, 200},
	} {
		if s.Take(&step.turn); s.State != step.state || s.Since != step.since {
			t.Errorf("step %d, %s: %v since %v, must be %v since %v", i, step.turn.What, s.State, s.Since, step.state, step.since)
		}
	}
}
