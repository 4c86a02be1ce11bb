package configs

import (
	"fmt"
	"time"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
)

// recurrenceKeys lists the keys of a job that recurs.
func (j *Job) recurrenceKeys() keys.List {
	recurs := &keys.Condition{Text: "with every", Holds: func(t *keys.Table) bool { return t.Has("every") }}
	every := fmt.Sprintf("%s..%s", grid.MinEvery.Words(), grid.MaxEvery.Words())
	return keys.List{
		keys.Custom("every", keys.About{Kind: "duration", Limits: every}, func(t *keys.Table, key string) {
			if t.Has(key) {
				j.Recurrence.Every = keys.Value(t, key, grid.Day)
			}
		}, "makes it recur: one window after the other, of which each may begin this much later than the one before it; ready, deadline, max_price and budget are those of the first, and of each").ByDefault("it is one window"),
		keys.Whole("count", &j.Recurrence.Count, 0, 2, grid.MaxRecurring, "how many windows").ByDefault("until `until`").When(recurs),
		moment("until", &j.Until, grid.Duration(grid.Never), "instead of a count: no window is ready then or later").ByDefault("none").When(recurs),
		keys.Boolean("all_or_nothing", &j.Recurrence.All, false, fmt.Sprintf("all windows are bought at once or none, at most %d; otherwise as many as fit, each for itself", grid.MaxParts)).When(recurs),
	}
}

// recurs checks a job that recurs, which has been read.
func (j *Job) recurs(t *keys.Table) {
	if !t.Has("every") || !t.Sound() {
		return
	}
	switch {
	case t.Has("count") && t.Has("until"):
		t.Wrong("until", "stands beside count; leave one of the two out")
		return
	case !t.Has("count") && !t.Has("until"):
		t.Wrong("every", "needs count = 10, or until = \"10d\": how many windows, or when no more are ready")
		return
	case j.Fails > 0:
		t.Wrong("every", "stands beside fails, which is drawn once for a job; write the jobs one by one")
		return
	}
	x := *j
	x.Recurrence = grid.Recurrence{}
	zero := time.Unix(0, 0)
	r, one := j.Recurrence, x.At(0, zero)
	if r.Count == 0 {
		if j.Until.Date.IsZero() != j.Ready.Date.IsZero() { // known when it is submitted
			r.Count = 2
		} else {
			r.Count = grid.CountUntil(one.Ready, j.Until.at(0, zero), r.Every)
		}
	}
	if key, err := r.Check(&one); err != nil {
		if key == "count" && !t.Has(key) {
			key = "until"
		}
		t.Wrong(key, "%v", err)
	}
}
