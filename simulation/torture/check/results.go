package check

import (
	"fmt"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// failures says, by a broker's facts alone, of which jobs a leg of the present window has ended
// with work that failed. It reads the results itself: that a view and a broker agree proves
// nothing where both take a failure for a success.
func (m *mirror) failures() map[string]bool {
	failed, of := map[string]bool{}, map[grid.TxID]facts.TxBegun{}
	for _, f := range m.facts {
		switch f := f.(type) {
		case facts.JobSubmitted:
			delete(failed, f.Job.Name)
		case facts.TxBegun:
			of[f.Tx] = f
		case facts.TxDecided:
			if t := of[f.Tx]; f.Commit && t.Repairs == (grid.LegID{}) {
				delete(failed, t.Job) // another window
			}
		case facts.LegDone:
			if r := f.Result; r != nil && f.State == grid.Settled && (!r.Known || r.Exit != 0 || r.Signal != 0 || r.Ended.Code != "") {
				failed[of[f.Leg.Tx].Job] = true
			}
		}
	}
	return failed
}

// endedAs checks that a job whose window is over is failed if any of its work is, and done if
// none is. Rule I30.
func endedAs(name string, state grid.JobState, failed bool) error {
	if state.Ended() && (state == grid.JobFailed) != failed {
		return fmt.Errorf("I30: by its turns job %s is %v, and by the results of its legs that its work failed is %t", name, state, failed)
	}
	return nil
}
