package jobs

import (
	"github.com/bourse-grid/bourse/grid"
)

// Standing is a job's state as shown to users, and since when. A placed job counts as
// running from the start of its first leg that has begun, and one that waits as gathering once
// pilots were submitted for it. That is not stored: it follows from its legs and its pilots.
func (j *Job) Standing() (grid.JobState, grid.Time) {
	if j.Array != nil {
		return j.standingOf(), j.Since
	}
	if g := j.Gathering(); g != nil && j.State == grid.JobWaiting {
		return grid.JobGathering, max(j.Since, g.Zero)
	}
	if j.State != grid.JobPlaced {
		return j.State.Shown(j.Reason.Code), j.Since
	}
	first := grid.Never
	for _, t := range j.Window() {
		for i := range t.Legs() {
			if l := &t.Legs()[i]; l.State() == grid.Running || l.State() == grid.Settled {
				first = min(first, l.What().Start)
			}
		}
	}
	if first == grid.Never {
		return j.State, j.Since
	}
	return grid.JobRunning, max(first, j.Since)
}
