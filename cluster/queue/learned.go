package queue

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/formula"
)

// learn notes a run that has ended, for predictions and fair shares.
func (q *Queue) learn(now grid.Time, j *grid.LocalJob, run grid.Duration) {
	if q.predictor != nil {
		q.predictor.Learn(j, j.Limit(), run)
	}
	if q.past != nil {
		q.past.Ended(j.User, j.Nodes, now)
	}
}

// owner is the user of a waiting job, for fair share.
func (q *Queue) owner(w *backfill.Queued) int64 { return q.jobs[w.Ref].job.User }

// had is the past use, for fair share, of a user.
func (q *Queue) had(user int64) uint64 { return q.past.Of(user, q.group.Now()) }

// values sets what an order by formula reads of a waiting job and its group does not know.
func (q *Queue) values(w *backfill.Queued, v *formula.Values) {
	const seconds = 1000
	j := &q.jobs[w.Ref].job
	if q.past != nil {
		v[formula.Usage] = float64(q.had(j.User)) / seconds
	}
	if j.Queue < len(q.opt.Queues) {
		v[formula.Queue] = float64(j.Queue)
	}
}
