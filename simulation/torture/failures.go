package torture

import (
	"fmt"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// failing reports whether jobs fail in the world of a seed: in every eighth of those whose
// clusters run nothing. What fails elsewhere fails by its manager.
func failing(seed uint64) bool {
	kinds, _ := managedKinds(seed)
	return kinds == nil && seed%8 == 5
}

// drawFailures lets the work of every fourth job fail, and has those that come after others do
// so on any condition.
func (w *world) drawFailures(r *rand.Rand) {
	for i := range w.brokers {
		jobs := w.brokers[i].jobs
		for k := range jobs {
			if r.IntN(4) == 0 {
				jobs[k].Exit = 1 + r.IntN(3)
			}
			for d := range jobs[k].After {
				jobs[k].After[d].On = grid.Conditions()[r.IntN(3)]
			}
		}
	}
}

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
