package cluster

import "bourse"

// missed is how far back local jobs are taken in that were submitted while the
// cluster was down: the users of one that is away for longer go elsewhere.
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

// From is where a life takes up the feed of a group that has been fed so far.
func (l *Life) From(had Mark) Mark {
	if early := l.Now.Add(-missed); had.Submit < early {
		had = Mark{Submit: early}
	}
	had.Submit = max(had.Submit, l.Begun)
	return had
}

// Feed leaves out of a feed that begins at a mark's submit what was taken before.
// What comes too late by now is submitted at the earliest instant that can be;
// submit points to it.
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
