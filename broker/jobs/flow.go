package jobs

import (
	"slices"

	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// Possible reports whether the job has ended as it must, or still may.
func (n Need) Possible() bool {
	if n.Array != nil && n.On == grid.IfDone && n.Array.spoilt() {
		return false
	}
	return n.On.Possible(n.State)
}

// Never is the reason for giving up a job because n can no longer end as it must.
func (n Need) Never() grid.Reason {
	state, wanted := n.State.Shown(n.Reason.Code), grid.Phrase("")
	if n.On != grid.IfRan {
		wanted = grid.Say(", and it runs only if that %s", grid.Phrase(n.On.Says()))
	}
	switch {
	case n.State.Open():
		return grid.Because(grid.After, "an element of %s, which it comes after, has not succeeded%v: %v", n.Name, wanted, n.Array.first)
	case state == grid.JobDone:
		return grid.Because(grid.After, "%s, which it comes after, has succeeded%v", n.Name, wanted)
	case state == grid.JobFailed:
		return grid.Because(grid.After, "%s, which it comes after, has failed%v: %v", n.Name, wanted, n.Reason)
	case n.Reason.Code == grid.After:
		return grid.Because(grid.After, "%s, which it comes after, was %s, as it came after another such job", n.Name, state.String())
	}
	return grid.Because(grid.After, "%s, which it comes after, was %s: %v", n.Name, state.String(), n.Reason)
}

// Ends is the planned end of the job's window or, if it is over, when it ended. It reports
// false if that is not known, or if it need not end as it must.
func (n Need) Ends() (grid.Time, bool) {
	switch {
	case n.On == grid.IfEach: // its elements come after those
		return 0, true
	case !n.On.Foreseen() && !n.On.Met(n.State):
		return 0, false
	case n.State.GivenUp():
		return n.Since, n.On.Met(n.State)
	}
	return n.Job.Ends()
}

// link ties a job to the jobs it comes after. Any that have been forgotten were over
// long ago.
func (rec *State) link(j *Job) {
	for _, d := range j.After {
		if p := rec.Names[d.Job]; p != nil {
			j.comesAfter(p, d.On)
		}
	}
}

// Ends is the planned end of a job's window or, if it is over, when it ended. It reports
// false if the job has no window or is about to lose it.
func (j *Job) Ends() (grid.Time, bool) {
	if j.Array != nil && j.State.Open() {
		return j.endsAll()
	}
	switch j.State {
	case grid.JobDone, grid.JobFailed:
		return j.Ended, true
	case grid.JobPlaced:
		return j.lastEnd(), !slices.ContainsFunc(j.Window(), func(t *transaction.Tx) bool { return t.GivenUp() != grid.Kept }) && !j.Overdue()
	}
	return 0, false
}

// lastEnd is the end of the last leg of a job's window. A leg under repair counts as it
// was.
func (j *Job) lastEnd() grid.Time {
	var end grid.Time
	for _, t := range j.Window() {
		for i := range t.Legs() {
			switch l := &t.Legs()[i]; {
			case l.Mended(), l.State() == grid.Cancelled:
			case l.State() == grid.Settled:
				end = max(end, l.End())
			case l.What().Work > 0:
				end = max(end, l.What().End.Add(transaction.Grace))
			default:
				end = max(end, l.What().End)
			}
		}
	}
	return end
}

// Starts is when the first leg of a job's window starts.
func (j *Job) Starts() grid.Time {
	start := grid.Never
	for _, t := range j.Window() {
		for i := range t.Legs() {
			if l := &t.Legs()[i]; !l.Mended() && l.State() != grid.Cancelled {
				start = min(start, l.What().Start)
			}
		}
	}
	return start
}

// Follows is the earliest instant at which a job may start, given the jobs it comes
// after. It reports false if one of them has no window.
func (j *Job) Follows() (grid.Time, bool) {
	var at grid.Time
	for _, p := range j.Needs() {
		end, ok := p.Ends()
		if !ok {
			return 0, false
		}
		at = max(at, end.Add(j.Gap))
	}
	return at, true
}

// holdBack keeps a waiting job out of all batches until the jobs it comes after are
// placed, and gives that as its reason.
func (rec *State) holdBack(j *Job) {
	i := slices.IndexFunc(j.Needs(), func(n Need) bool { _, ok := n.Ends(); return !ok })
	if j.Held = i >= 0; !j.Held {
		return
	}
	rec.Queue.look(j)
	switch n := j.Needs()[i]; {
	case j.Reason.Refused():
	case !n.On.Foreseen():
		j.because(grid.Because(grid.After, "it runs only if %s fails, and that is not over yet", n.Name))
	default:
		j.because(grid.Because(grid.After, "it comes after %s, which is not placed yet", n.Name))
	}
}

// Touch marks a job, so that it and the jobs after it are reviewed at the end of the
// step. Jobs that belong to no workflow need no review.
func (rec *State) Touch(j *Job) {
	if len(j.Needs())+len(j.Feeds()) > 0 && !j.Touched {
		j.Touched = true
		rec.Touched = append(rec.Touched, j)
	}
	if a := j.From.Array; a != nil {
		rec.Touch(a)
	}
}

// Slipped says what happened to the jobs that a job comes after.
func (j *Job) Slipped(at grid.Time, ok bool) grid.Reason {
	for _, p := range j.Needs() {
		end, placed := p.Ends()
		switch {
		case !placed && !ok && p.State == grid.JobPlaced && p.Overdue():
			return grid.Because(grid.After, "%s, which it comes after, is late: when it ends is not known", p.Name)
		case !placed && !ok:
			return grid.Because(grid.After, "%s, which it comes after, has lost its window", p.Name)
		case ok && end.Add(j.Gap) == at:
			return grid.Because(grid.After, "%s, which it comes after, ends at %v now: it can start at %v", p.Name, end, at)
		}
	}
	return grid.Because(grid.After, "what it comes after has changed")
}

// Wished reports whether the user moved, or gave up, a job that this one comes after.
func (j *Job) Wished() bool {
	for _, p := range j.Needs() {
		for _, t := range p.Window() {
			if t.Request() != nil || t.GivenUp() == grid.GivenUpByUser {
				return true
			}
		}
	}
	return false
}

// NeedsOver reports whether every job that this one comes after is over, so that its
// ready time is final.
func (j *Job) NeedsOver() bool {
	return !slices.ContainsFunc(j.Needs(), func(p Need) bool { return p.State.Open() })
}

// Needed reports whether an open job comes after this one.
func (j *Job) Needed() bool {
	return slices.ContainsFunc(j.Behind(), func(s *Job) bool { return s.State.Open() })
}

// Behind are the jobs that come after it, or after the array that it is an element of.
func (j *Job) Behind() []*Job {
	if a := j.From.Array; a != nil && len(a.Feeds()) > 0 {
		return slices.Concat(j.Feeds(), a.Feeds())
	}
	return j.Feeds()
}

// flow is a job's neighbours in its workflow.
type flow struct {
	needs []Need // the jobs it comes after
	feeds []*Job // the jobs that come after it
}

// Need is a job that another one comes after, and how it must end.
type Need struct {
	*Job
	On grid.Condition
}

// Needs are the jobs that it comes after.
func (j *Job) Needs() []Need {
	if j.flow == nil {
		return nil
	}
	return j.flow.needs
}

// Feeds are the jobs that come after it.
func (j *Job) Feeds() []*Job {
	if j.flow == nil {
		return nil
	}
	return j.flow.feeds
}

// comesAfter makes the job come after p, if that ends as the condition says.
func (j *Job) comesAfter(p *Job, on grid.Condition) {
	for _, x := range []*Job{j, p} {
		if x.flow == nil {
			x.own().flow = &flow{}
		}
	}
	j.flow.needs, p.flow.feeds = append(j.flow.needs, Need{p, on}), append(p.flow.feeds, j)
}
