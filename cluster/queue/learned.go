package queue

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// learn notes a run that has ended, for predictions and fair shares.
func (q *Queue) learn(now bourse.Time, j *bourse.LocalJob, run bourse.Duration) {
	if q.predictor != nil {
		q.predictor.Learn(j, j.Limit(), run)
	}
	if q.past != nil {
		q.past.Ended(j.User, j.Nodes, now)
	}
}

// had is the past use, for fair share, of a waiting job's user.
func (q *Queue) had(w *backfill.Queued) uint64 {
	return q.past.Of(q.jobs[w.Ref].job.User, q.group.Now())
}
