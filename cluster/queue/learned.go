package queue

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// learn takes note of a run that has ended: predictions go by it, and fair shares.
func (q *Queue) learn(now bourse.Time, j *bourse.LocalJob, run bourse.Duration) {
	if q.predictor != nil {
		q.predictor.Learn(j, j.Limit(), run)
	}
	if q.past != nil {
		q.past.Ended(j.User, j.Nodes, now)
	}
}

// had is what the user of a job that waits has had.
func (q *Queue) had(w *backfill.Queued) uint64 {
	return q.past.Of(q.jobs[w.Ref].job.User, q.group.Now())
}
