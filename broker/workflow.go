package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A job may come after others: it starts only when all of them have ended as its conditions
// say and its gap has passed. It waits until each of them has a window, is then due at once,
// and is ready at their planned end; one that runs if another fails waits until that has
// failed. In turn, a job must end early enough for the jobs after it to meet their deadlines.
//
// When a window slips, is lost or is given up, only the jobs after it are reviewed. A
// job whose window is now too early gives it back and is planned again. If what a job comes
// after can no longer end as the job's condition says, the job is abandoned at once, for a
// reason that names it, and so are those after it. Rows B80 to B86.
//
// A job can only come after jobs that the broker already knows, so there are no loops.
// Code that reads jobs in batches must refuse any loops there.

// maxAfter bounds how many jobs a job may come after.
const maxAfter = 100

// unrelated says why a job cannot come after the jobs it names; no reason: it can.
func (in *intake) unrelated(j *grid.Job) grid.Reason {
	switch {
	case j.Gap < 0 || j.Gap > grid.MaxDuration:
		return reason(grid.Invalid, "gap %v is outside 0..%v seconds", j.Gap, grid.MaxDuration)
	case len(j.After) > maxAfter:
		return reason(grid.Invalid, "after names %d jobs, the most is %d", len(j.After), maxAfter)
	}
	for i, d := range j.After {
		p, key := in.names[d.Job], grid.Phrase(d.On.Key())
		switch {
		case d.Job == j.Name:
			return reason(grid.Invalid, "%s names the job itself: %s -> %s is a loop", key, d.Job, d.Job)
		case slices.Contains(grid.Names(j.After[:i]), d.Job):
			return reason(grid.Invalid, "%s names %q twice, or another condition names it too", key, d.Job)
		case p == nil || p.stub || p.User != j.User:
			return reason(grid.Unknown, "%s names %q, and %s has no such job of the same user; it has to be submitted before", key, d.Job, in.cfg.Name)
		case d.On == grid.IfEach:
			if why := unlike(j, p); why.Refused() {
				return why
			}
		}
		if n := (need{p, d.On}); !n.possible() {
			return n.never()
		}
	}
	return grid.Reason{}
}

// possible reports whether the job has ended as it must, or still may.
func (n need) possible() bool {
	if n.array != nil && n.on == grid.IfDone && n.array.spoilt() {
		return false
	}
	return n.on.Possible(n.state)
}

// never is the reason for giving up a job because n can no longer end as it must.
func (n need) never() grid.Reason {
	state, wanted := n.state.Shown(n.reason.Code), grid.Phrase("")
	if n.on != grid.IfRan {
		wanted = grid.Say(", and it runs only if that %s", grid.Phrase(n.on.Says()))
	}
	switch {
	case n.state.Open():
		return reason(grid.After, "an element of %s, which it comes after, has not succeeded%v: %v", n.Name, wanted, n.array.first)
	case state == grid.JobDone:
		return reason(grid.After, "%s, which it comes after, has succeeded%v", n.Name, wanted)
	case state == grid.JobFailed:
		return reason(grid.After, "%s, which it comes after, has failed%v: %v", n.Name, wanted, n.reason)
	case n.reason.Code == grid.After:
		return reason(grid.After, "%s, which it comes after, was %s, as it came after another such job", n.Name, state.String())
	}
	return reason(grid.After, "%s, which it comes after, was %s: %v", n.Name, state.String(), n.reason)
}

// ends is the planned end of the job's window or, if it is over, when it ended. It reports
// false if that is not known, or if it need not end as it must.
func (n need) ends() (grid.Time, bool) {
	switch {
	case n.on == grid.IfEach: // its elements come after those
		return 0, true
	case !n.on.Foreseen() && !n.on.Met(n.state):
		return 0, false
	case n.state.GivenUp():
		return n.since, n.on.Met(n.state)
	}
	return n.job.ends()
}

// link ties a job to the jobs it comes after. Any that have been forgotten were over
// long ago.
func (mem *memory) link(j *job) {
	for _, d := range j.After {
		if p := mem.names[d.Job]; p != nil {
			j.comesAfter(p, d.On)
		}
	}
}

// ends is the planned end of a job's window or, if it is over, when it ended. It reports
// false if the job has no window or is about to lose it.
func (j *job) ends() (grid.Time, bool) {
	if j.array != nil && j.state.Open() {
		return j.endsAll()
	}
	switch j.state {
	case grid.JobDone, grid.JobFailed:
		return j.ended, true
	case grid.JobPlaced:
		return j.lastEnd(), !slices.ContainsFunc(j.Window(), func(t *transaction.Tx) bool { return t.GivenUp() != grid.Kept }) && !j.Overdue()
	}
	return 0, false
}

// lastEnd is the end of the last leg of a job's window. A leg under repair counts as it
// was.
func (j *job) lastEnd() grid.Time {
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

// starts is when the first leg of a job's window starts.
func (j *job) starts() grid.Time {
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

// follows is the earliest instant at which a job may start, given the jobs it comes
// after. It reports false if one of them has no window.
func (j *job) follows() (grid.Time, bool) {
	var at grid.Time
	for _, p := range j.needs() {
		end, ok := p.ends()
		if !ok {
			return 0, false
		}
		at = max(at, end.Add(j.Gap))
	}
	return at, true
}

// holdBack keeps a waiting job out of all batches until the jobs it comes after are
// placed, and gives that as its reason.
func (mem *memory) holdBack(j *job) {
	i := slices.IndexFunc(j.needs(), func(n need) bool { _, ok := n.ends(); return !ok })
	if j.held = i >= 0; !j.held {
		return
	}
	mem.queue.look(j)
	switch n := j.needs()[i]; {
	case j.reason.Refused():
	case !n.on.Foreseen():
		j.because(reason(grid.After, "it runs only if %s fails, and that is not over yet", n.Name))
	default:
		j.because(reason(grid.After, "it comes after %s, which is not placed yet", n.Name))
	}
}

// touch marks a job, so that it and the jobs after it are reviewed at the end of the
// step. Jobs that belong to no workflow need no review.
func (mem *memory) touch(j *job) {
	if len(j.needs())+len(j.feeds()) > 0 && !j.touched {
		j.touched = true
		mem.touched = append(mem.touched, j)
	}
	if a := j.from.array; a != nil {
		mem.touch(a)
	}
}

// reviewTouched reviews the jobs that this step has touched, and those after them.
func (in *intake) reviewTouched(now grid.Time, out *agents.Outbox) {
	for len(in.touched) > 0 {
		j := in.touched[0]
		in.touched, j.touched = in.touched[1:], false
		in.review(now, j, out)
		for _, s := range j.feeds() {
			in.review(now, s, out)
		}
	}
	in.touched = nil
}

// tellFallen records what happened to jobs that lost their window in this step. That
// follows from the facts about their legs, but is recorded for readers of the facts.
// Rows B22, B23.
func (in *intake) tellFallen(out *agents.Outbox) {
	for len(in.fallen) > 0 {
		j := in.fallen[0]
		in.fallen = in.fallen[1:]
		switch j.state {
		case grid.JobWaiting:
			in.record(facts.JobBroken{Job: j.Name, Reason: j.reason}, out)
		case grid.JobAbandoned:
			in.record(facts.JobPostponed{Job: j.Name, Final: true, Reason: reason(grid.Unknown, "its window is gone, and what it asks for is not known any more")}, out)
		}
	}
}

// review checks that a job still starts after the jobs it comes after, and acts if not.
func (in *intake) review(now grid.Time, j *job, out *agents.Outbox) {
	if len(j.needs()) == 0 || !j.state.Open() {
		return
	}
	for _, p := range j.needs() {
		if !p.possible() {
			out.Row("B84")
			in.withdraw(now, j, p.never(), out)
			return
		}
	}
	at, ok := j.follows()
	switch j.state {
	case grid.JobWaiting:
		in.reviewWaiting(j, at, ok, out)
	case grid.JobTrying:
		if t := j.Last(); t != nil && t.Open() && t.Resolved() && (!ok || t.Start() < at) {
			in.putOff(now, j, t, j.slipped(at, ok), ok, out)
		}
	case grid.JobPlaced:
		settled := !slices.ContainsFunc(j.Window(), func(t *transaction.Tx) bool { return !t.Resolved() || t.GivenUp() != grid.Kept })
		if settled && len(j.Window()) > 0 && (!ok || j.starts() < at) {
			out.Row(slipRow(ok))
			in.slip(now, j, j.slipped(at, ok), out)
		}
	}
}

// reviewWaiting makes a job due that had to wait for others, or puts it back if the
// current cycle may have planned it too early.
func (in *intake) reviewWaiting(j *job, at grid.Time, ok bool, out *agents.Outbox) {
	was := j.held
	j.held = !ok
	if j.array != nil {
		in.stirred = true
		return
	}
	if in.scheduler.putBack(j, at, ok, out) {
		return
	}
	if ok && (was || j.again) && !j.taken && in.callsLeft() { // otherwise it waits for the next cycle
		j.again = false
		in.queue.summon(j)
		in.scheduler.atLeast(1)
	}
}

// putOff aborts a try whose window would now start too early.
func (in *intake) putOff(now grid.Time, j *job, t *transaction.Tx, why grid.Reason, again bool, out *agents.Outbox) {
	out.Row("B82")
	if in.scheduler.trying(t) {
		j.again = again
		in.scheduler.endPlan(j)
		in.scheduler.postpone(j, why, false, out)
	}
	in.co.Abort(now, t, why, out)
}

// maxCalls bounds the extra calls of jobs in one instant: a mistake in this file must
// not make the broker plan for ever.
const maxCalls = 10_000

// callsLeft counts an extra call, and reports false beyond maxCalls.
func (in *intake) callsLeft() bool {
	if in.called != in.now {
		in.called, in.calls = in.now, 0
	}
	in.calls++
	return in.calls <= maxCalls
}

// slipped says what happened to the jobs that a job comes after.
func (j *job) slipped(at grid.Time, ok bool) grid.Reason {
	for _, p := range j.needs() {
		end, placed := p.ends()
		switch {
		case !placed && !ok && p.state == grid.JobPlaced && p.Overdue():
			return reason(grid.After, "%s, which it comes after, is late: when it ends is not known", p.Name)
		case !placed && !ok:
			return reason(grid.After, "%s, which it comes after, has lost its window", p.Name)
		case ok && end.Add(j.Gap) == at:
			return reason(grid.After, "%s, which it comes after, ends at %v now: it can start at %v", p.Name, end, at)
		}
	}
	return reason(grid.After, "what it comes after has changed")
}

// slipRow is the row of a window that is given back: of what it comes after, either all are
// placed, or one has lost its window.
func slipRow(placed bool) agents.Row {
	if placed {
		return "B82"
	}
	return "B83"
}

// slip gives back a job's window that would now start too early. The refund is full,
// unless its user caused the slip; then it follows the sites' schedules.
func (in *intake) slip(now grid.Time, j *job, why grid.Reason, out *agents.Outbox) {
	j.again = true // it is due again once its legs are released
	e, txs := j.errand, slices.Clone(j.Window())
	if e != nil {
		in.errands.finish(e)
	}
	in.record(facts.JobBroken{Job: j.Name, Reason: why, Wish: j.wished()}, out)
	if e != nil {
		if e.try != nil && e.try.Open() {
			in.co.Abort(now, e.try, why, out)
		}
		if e.tx == nil {
			in.errands.moved(now, e, why, out)
		}
	}
	for _, t := range txs {
		in.co.Tell(now, t, transaction.FirstRepeat, out)
	}
}

// wished reports whether the user moved, or gave up, a job that this one comes after.
func (j *job) wished() bool {
	for _, p := range j.needs() {
		for _, t := range p.Window() {
			if t.Request() != nil || t.GivenUp() == grid.GivenUpByUser {
				return true
			}
		}
	}
	return false
}

// needsOver reports whether every job that this one comes after is over, so that its
// ready time is final.
func (j *job) needsOver() bool {
	return !slices.ContainsFunc(j.needs(), func(p need) bool { return p.state.Open() })
}

// needed reports whether an open job comes after this one.
func (j *job) needed() bool {
	return slices.ContainsFunc(j.behind(), func(s *job) bool { return s.state.Open() })
}

// behind are the jobs that come after it, or after the array that it is an element of.
func (j *job) behind() []*job {
	if a := j.from.array; a != nil && len(a.feeds()) > 0 {
		return slices.Concat(j.feeds(), a.feeds())
	}
	return j.feeds()
}
