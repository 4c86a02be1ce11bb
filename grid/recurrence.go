package grid

import (
	"cmp"
	"fmt"
	"strconv"
)

// Recurrence makes a job recur: Count windows, of which each may begin Every after the one
// before it. The zero Recurrence means that it does not.
//
// It is nothing that agents know. As many windows as fit are an array whose elements are ready
// one after the other; all or none are a job of parts at offsets, which one transaction buys.
type Recurrence struct {
	Every Duration
	Count int  // 2..MaxRecurring; with All, 2..MaxParts
	All   bool // all windows or none
}

// Bounds of a recurrence.
const (
	MaxRecurring = 1000 // windows
	MinEvery     = Minute
	MaxEvery     = 366 * Day
)

// Some reports whether a job recurs.
func (r Recurrence) Some() bool { return r.Every > 0 }

// CountUntil is how many windows are ready before an instant, of which the first is ready at
// another one; at most MaxRecurring + 1.
func CountUntil(ready, until Time, every Duration) int {
	if until <= ready || every <= 0 {
		return 0
	}
	return int(min(int64(until.Sub(ready)-1)/int64(every)+1, MaxRecurring+1))
}

// Check says what makes no sense in a job that recurs, and by which key of a batch file; no
// error: nothing. The job is otherwise sound.
func (r Recurrence) Check(j *Job) (key string, err error) {
	takes := max(j.MinPerformance, Unit).Runtime(j.Shortest())
	switch {
	case r.Every < MinEvery || r.Every > MaxEvery:
		return "every", fmt.Errorf("%s: must be %s to %s", r.Every.Words(), MinEvery.Words(), MaxEvery.Words())
	case r.Count < 2 || r.Count > MaxRecurring:
		return "count", fmt.Errorf("%s windows; must be 2 to %d", counted(r.Count), MaxRecurring)
	case takes > r.Every:
		return "every", fmt.Errorf("%s is shorter than a window, which takes %s; give every at least as much", r.Every.Words(), takes.Words())
	case j.Array.Some():
		return "every", fmt.Errorf("stands beside array; a job recurs or is an array, so leave one of the two out")
	case len(j.Parts) > 0:
		return "every", fmt.Errorf("a job with parts cannot recur; submit one for each window")
	case r.Span() > MaxDuration:
		return "every", fmt.Errorf("%s %s apart are too long for a schedule", Count(r.Count, "window"), r.Every.Words())
	}
	if r.All {
		return r.checkAll(j)
	}
	return "", nil
}

// counted is a number of windows, which above MaxRecurring is not known exactly.
func counted(n int) string {
	if n > MaxRecurring {
		return "more than " + strconv.Itoa(MaxRecurring)
	}
	return strconv.Itoa(n)
}

// checkAll is Check of what only holds for windows of which all are bought or none.
func (r Recurrence) checkAll(j *Job) (key string, err error) {
	const remedy = "leave all_or_nothing out, and each window stands for itself"
	switch {
	case r.Count > MaxParts:
		return "count", fmt.Errorf("%s windows, and all or nothing is for at most %d; %s", counted(r.Count), MaxParts, remedy)
	case r.Span() > MaxOffset:
		return "every", fmt.Errorf("the last window is %s after the first, and all or nothing is for at most %s; %s", r.Span().Words(), MaxOffset.Words(), remedy)
	case len(j.Sizes) > 0:
		return "all_or_nothing", fmt.Errorf("needs a number of nodes, and no range; %s", remedy)
	case j.Flexible > 0 || j.Phi > 0:
		return "all_or_nothing", fmt.Errorf("stands beside flexible or alternatives, and all windows keep their distance; %s", remedy)
	case j.Budget.Times(r.Count) > MaxBudget:
		return "count", fmt.Errorf("%s for %v credits each are more than %v credits", Count(r.Count, "window"), j.Budget, MaxBudget)
	}
	return "", nil
}

// Span is how long after the first window the last one is ready.
func (r Recurrence) Span() Duration { return r.Every * Duration(r.Count-1) }

// First is the deadline of the first window, of a job that gives none: when the next may begin.
func (r Recurrence) First(ready, deadline Time) Time {
	if deadline != Never {
		return deadline
	}
	return ready.Add(r.Every)
}

// Recur makes a job recur, which must pass Check. What it says of its times and its money is
// of the first window, and of each.
func (j *Job) Recur(r Recurrence) {
	j.Deadline = r.First(j.Ready, j.Deadline)
	if !r.All {
		j.Array = Array{Indices: Ranges{{0, r.Count - 1}}, Every: r.Every}
		return
	}
	parts, least := make([]JobPart, r.Count), cmp.Or(j.MinPerformance, Unit)
	for i := range parts {
		parts[i] = JobPart{Name: "w" + strconv.Itoa(i), Nodes: j.Nodes, Length: j.Length, Run: j.Run, Offset: r.Every * Duration(i),
			MinPerformance: least, MaxPrice: j.MaxPrice, Require: j.Require, Sites: j.Sites, Avoid: j.Avoid, OneSite: j.OneSite, Work: j.Work}
	}
	j.Deadline, j.Budget = j.Deadline.Add(r.Span()), j.Budget.Times(r.Count)
	j.Run, j.Work, j.Require, j.Sites, j.Avoid, j.OneSite = 0, nil, Requirement{}, nil, nil, false
	j.Compose(parts)
}
