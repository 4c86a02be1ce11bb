package managed

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// vanishedWork is the result of work that the manager has shown to run and no longer
// knows.
func vanishedWork(t *testing.T) *grid.WorkResult {
	t.Helper()
	w := submitted(t, 10*grid.Minute)
	w.run(start.Add(grid.Minute))
	w.is(t, 1, facts.LockRunning)
	w.toy.jobs = nil
	w.wait(grid.Minute)
	w.is(t, 1, facts.LockEnded)
	r := w.last(1).Result
	w.over(t, 1)
	return r
}

func TestLost_HowWorkThatHasVanishedEndedIsNotKnown(t *testing.T) {
	t.Parallel()
	if r := vanishedWork(t); r == nil || r.Known || r.Ended.Code != grid.Unknown || r.Begin == 0 {
		t.Errorf("%+v", r)
	}
}
