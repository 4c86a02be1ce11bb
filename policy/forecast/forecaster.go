package forecast

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Forecaster forecasts the jobs of a queue at their submission, and learns from what comes of
// them. Its owner tells it of each job's submission, start and end in the order in which they
// happen, and so it never knows what was not known. The zero Forecaster has seen nothing.
type Forecaster struct {
	Runs        Runs
	Submissions Submissions
	Calibrator  Calibrator
	jobs        map[int64]known // those that wait or run
}

// known is what is known of a job that has not ended.
type known struct {
	user  string // "": nobody known
	nodes int
	limit grid.Duration
	start grid.Time
}

// Submitted tells that a job enters the queue. Forecast it before. Ids are of jobs that have
// not ended.
func (f *Forecaster) Submitted(id int64, user string, at grid.Time, nodes int, limit grid.Duration) {
	f.know(id, user, nodes, limit)
	if nodes > 0 && limit > 0 {
		f.Submissions.Add(id, at, nodes, limit)
	}
}

// know keeps what is known of a job that has not ended.
func (f *Forecaster) know(id int64, user string, nodes int, limit grid.Duration) {
	if f.jobs == nil {
		f.jobs = make(map[int64]known)
	}
	f.jobs[id] = known{user: user, nodes: nodes, limit: limit}
}

// Started tells that a job starts, and returns its forecast; nil if none is awaited.
func (f *Forecaster) Started(id int64, at grid.Time) *Said {
	if k, ok := f.jobs[id]; ok {
		k.start = at
		f.jobs[id] = k
	}
	return f.Calibrator.Started(id, at)
}

// Ended tells that a job has ended.
func (f *Forecaster) Ended(id int64, at grid.Time) {
	k, ok := f.jobs[id]
	if !ok {
		return
	}
	run := at.Sub(k.start)
	f.Runs.Add(k.user, k.nodes, k.limit, run)
	f.Submissions.Ended(id, run)
	delete(f.jobs, id)
}

// Canceled tells that a job leaves the queue without a start.
func (f *Forecaster) Canceled(id int64) {
	delete(f.jobs, id)
	f.Calibrator.Canceled(id)
}

// Draw draws how long a job waits that is submitted at the state's instant; nil: it starts at
// once. The jobs of the state are known by their ids.
func (f *Forecaster) Draw(s *backfill.State, j Job, draws int, r Random) Draws {
	if StartsNow(s, j) {
		return nil
	}
	return Waiting(s, j, &f.Runs, func(id int64) (string, bool) { return f.jobs[id].user, true }, &f.Submissions, draws, r)
}
