package api

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// RecurrenceRequest makes a job recur: one window after the other.
type RecurrenceRequest struct {
	Every        *Seconds        `json:"every,omitempty" doc:"makes it recur: each window may begin this many seconds after the one before it. ready, deadline, maxPrice and budget are those of the first, and of each" example:"86400"`
	Count        int             `json:"count,omitempty" minimum:"2" maximum:"1000" doc:"with every: how many windows"`
	Until        Written[Moment] `json:"until,omitzero" maxLength:"40" doc:"with every, instead of count: no window is ready then or later; a span after the submission such as 10d, or RFC 3339"`
	AllOrNothing bool            `json:"allOrNothing,omitempty" doc:"with every: all windows are bought at once or none, at most 8, as the parts of one job; otherwise as many as fit, each an element of an array"`
}

// Job turns a request into a job submitted now, or names the wrong key.
func (r *JobRequest) Job(now grid.Time) (grid.Job, string, error) {
	j, key, err := r.single(now)
	if err != nil {
		return j, key, err
	}
	x, key, err := r.RecurrenceRequest.recurrence(&j, now)
	if err != nil || !x.Some() {
		return j, key, err
	}
	if key, err = x.Check(&j); err != nil {
		return j, recurrenceKeys[key], err
	}
	j.Recur(x)
	return j, "", nil
}

// recurrenceKeys are the keys of a batch file as the API has them.
var recurrenceKeys = map[string]string{"every": "every", "count": "count", "all_or_nothing": "allOrNothing"}

// recurrence reads how a job recurs, or names the wrong key.
func (r *RecurrenceRequest) recurrence(j *grid.Job, now grid.Time) (x grid.Recurrence, key string, err error) {
	if r.Every == nil {
		switch {
		case r.Count != 0:
			return x, "count", fmt.Errorf("needs every, how far the windows are apart")
		case !r.Until.IsZero():
			return x, "until", fmt.Errorf("needs every, how far the windows are apart")
		case r.AllOrNothing:
			return x, "allOrNothing", fmt.Errorf("needs every, how far the windows are apart")
		}
		return x, "", nil
	}
	x = grid.Recurrence{Every: r.Every.Duration, Count: r.Count, All: r.AllOrNothing}
	switch {
	case r.Count != 0 && !r.Until.IsZero():
		return x, "until", fmt.Errorf("stands beside count; leave one of the two out")
	case r.Count != 0:
		return x, "", nil
	case r.Until.IsZero():
		return x, "every", fmt.Errorf("needs count, how many windows, or until, when no more are ready")
	}
	until, err := momentAt(r.Until, now, now)
	if err != nil {
		return x, "until", err
	}
	if x.Count = grid.CountUntil(j.Ready, until, x.Every); x.Count < 2 || x.Count > grid.MaxRecurring {
		_, err = x.Check(j)
		return x, "until", err
	}
	return x, "", nil
}
