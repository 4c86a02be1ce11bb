package cluster

import "github.com/bourse-grid/bourse/grid"

// missed is the greatest age of a local job, submitted while the cluster was down, that
// is still taken: users of a cluster that is down for longer go elsewhere.
const missed = grid.Hour

// Mark says how far a group has been fed its local jobs: the submit time of the last
// job taken, and how many jobs with that submit time were taken.
type Mark struct {
	Submit grid.Time
	Taken  int
}

// Take moves the mark past one more job.
func (m *Mark) Take(submit grid.Time) {
	if submit != m.Submit {
		*m = Mark{Submit: submit}
	}
	m.Taken++
}

// From is where a life resumes the feed of a group that was fed up to a mark. It skips
// jobs that are too old, and those from before the local work began.
func (l *Life) From(had Mark) Mark {
	if early := l.Now.Add(-missed); had.Submit < early {
		had = Mark{Submit: early}
	}
	had.Submit = max(had.Submit, l.Begun)
	return had
}

// Feed drops the jobs already taken from a feed that begins at a mark's submit time.
// A job whose submit time has passed is submitted at the earliest instant possible now.
// submit points to a job's submit time.
func Feed[J any](had Mark, next func() (J, bool), submit func(*J) *grid.Time, earliest func() grid.Time) func() (J, bool) {
	return func() (J, bool) {
		for {
			j, ok := next()
			at := submit(&j)
			if ok && *at == had.Submit && had.Taken > 0 {
				had.Taken--
				continue
			}
			*at = max(*at, earliest())
			return j, ok
		}
	}
}
