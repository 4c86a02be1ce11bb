package managed

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

// vanishedWork is the result of work that the manager has shown to run and no longer
// knows.
func vanishedWork(t *testing.T) *bourse.WorkResult {
	t.Helper()
	w := submitted(t, 10*bourse.Minute)
	w.run(start.Add(bourse.Minute))
	w.is(t, 1, bourse.LockRunning)
	w.toy.jobs = nil
	w.wait(bourse.Minute)
	w.is(t, 1, bourse.LockEnded)
	r := w.last(1).Result
	w.over(t, 1)
	return r
}

func TestLost_HowWorkThatHasVanishedEndedIsNotKnown(t *testing.T) {
	t.Parallel()
	if r := vanishedWork(t); r == nil || r.Known || r.Ended.Code != bourse.Unknown || r.Begin == 0 {
		t.Errorf("%+v", r)
	}
}
