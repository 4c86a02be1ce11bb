package jobs

import (
	"github.com/bourse-grid/bourse/grid"
)

// texts interns strings that many jobs and legs share: names of users, sites and groups.
// When a journal is read each fact has its own copy.
type texts struct {
	kept map[string]string
	came *submission // of the last job taken
}

// newTexts returns an empty set.
func newTexts() texts { return texts{map[string]string{}, &noSubmission} }

// maxTexts bounds the interned strings, some of which may no longer be in use. At the
// bound they are dropped and collected anew.
const maxTexts = 100_000

// one is the shared copy of a string.
func (x *texts) one(s string) string {
	if have, ok := x.kept[s]; ok {
		return have
	}
	if len(x.kept) >= maxTexts {
		clear(x.kept)
	}
	x.kept[s] = s
	return s
}

// take sets what a job asks for. Consecutive jobs of one submission share its data.
func (x *texts) take(j *Job, as grid.Job) {
	as.User = x.one(as.User)
	j.take(as, x.came)
	x.came = j.From
}
