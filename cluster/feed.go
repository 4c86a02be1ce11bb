package cluster

import "github.com/bourse-grid/bourse"

// missed bounds how old a local job may be that was submitted while the cluster
// was down and is still taken: when a cluster is away for longer, its users go
// elsewhere.
const missed = bourse.Hour

// Mark says how far a group has been fed its local jobs: the submit of the last
// one taken, and how many of that submit there were.
type Mark struct {
	Submit bourse.Time
	Taken  int
}

// Take marks one more.
func (m *Mark) Take(submit bourse.Time) {
	if submit != m.Submit {
		*m = Mark{Submit: submit}
	}
	m.Taken++
}

// From is where a life takes up the feed of a group that was fed up to a mark.
func (l *Life) From(had Mark) Mark {
	if early := l.Now.Add(-missed); had.Submit < early {
		had = Mark{Submit: early}
	}
	had.Submit = max(had.Submit, l.Begun)
	return had
}

// Feed leaves out of a feed that begins at a mark's submit what was taken before.
// A job that comes too late is submitted at the earliest instant that is possible
// now; submit points to it.
func Feed[J any](had Mark, next func() (J, bool), submit func(*J) *bourse.Time, earliest func() bourse.Time) func() (J, bool) {
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
