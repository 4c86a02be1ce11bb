package jobs

import (
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// How the work of a job went. It fails with any of its legs. What it costs does not depend
// on that, and a leg whose nodes were lost is not a failure: its window is repaired or given
// back, and the job runs again.

// failure says which of the work of a window that is over failed, the first by transaction
// and leg; no reason: none did.
func (j *Job) failure() grid.Reason {
	for _, t := range j.Window() {
		for i := range t.Legs() {
			l := &t.Legs()[i]
			if l.State() != grid.Settled {
				continue
			}
			if why := l.Result().Failure(); why.Refused() {
				return grid.Because(why.Code, "its work at %s %v", t.Sites()[i], why)
			}
		}
	}
	return grid.Reason{}
}

// ending is the state of a job whose window is over.
func ending(failure grid.Reason) grid.JobState {
	if failure.Refused() {
		return grid.JobFailed
	}
	return grid.JobDone
}

// Simulated is the result of a leg's work on a cluster that runs nothing, if the job is
// known to fail there: it ends with a status of its own, or takes longer than its window.
// nil: it does not fail.
func (r rooms) Simulated(t *transaction.Job, part string, leg *grid.Leg, end grid.Time) *grid.WorkResult {
	j := r.Names[t.Name]
	run, length := j.Run, j.Length
	if p := j.PartNamed(part); p != nil {
		run, length = p.Run, p.Length
	}
	switch {
	case j.Exit != 0:
		return &grid.WorkResult{Begin: leg.Start, End: end, Exit: j.Exit, Known: true}
	case run > length && leg.Work == 0 && end >= leg.End:
		return &grid.WorkResult{Begin: leg.Start, End: end, Ended: grid.Because(grid.Expired, "its window was over")}
	}
	return nil
}
