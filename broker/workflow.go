package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
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
		return reason(grid.Invalid, "after names %s, the most is %d", grid.Count(len(j.After), "job"), maxAfter)
	}
	for i, d := range j.After {
		p, key := in.Names[d.Job], grid.Phrase(d.On.Key())
		switch {
		case d.Job == j.Name:
			return reason(grid.Invalid, "%s names the job itself: %s -> %s is a loop", key, d.Job, d.Job)
		case slices.Contains(grid.Names(j.After[:i]), d.Job):
			return reason(grid.Invalid, "%s names %q twice, or another condition names it too", key, d.Job)
		case p == nil || p.Stub || p.User != j.User:
			return reason(grid.Unknown, "%s names %q, and %s has no such job of the same user; it has to be submitted before", key, d.Job, in.cfg.Name)
		case d.On == grid.IfEach:
			if why := unlike(j, p); why.Refused() {
				return why
			}
		}
		if n := (jobs.Need{Job: p, On: d.On}); !n.Possible() {
			return n.Never()
		}
	}
	return grid.Reason{}
}

// reviewTouched reviews the jobs that this step has touched, and those after them.
func (in *intake) reviewTouched(now grid.Time, out *agents.Outbox) {
	for len(in.Touched) > 0 {
		j := in.Touched[0]
		in.Touched, j.Touched = in.Touched[1:], false
		in.review(now, j, out)
		for _, s := range j.Feeds() {
			in.review(now, s, out)
		}
	}
	in.Touched = nil
}

// tellFallen records what happened to jobs that lost their window in this step. That
// follows from the facts about their legs, but is recorded for readers of the facts.
// Rows B22, B23.
func (in *intake) tellFallen(out *agents.Outbox) {
	for len(in.Fallen) > 0 {
		j := in.Fallen[0]
		in.Fallen = in.Fallen[1:]
		switch j.State {
		case grid.JobWaiting:
			in.Record(facts.JobBroken{Job: j.Name, Reason: j.Reason}, out)
		case grid.JobAbandoned:
			in.Record(facts.JobPostponed{Job: j.Name, Final: true, Reason: reason(grid.Unknown, "its window is gone, and what it asks for is not known any more")}, out)
		}
	}
}

// review checks that a job still starts after the jobs it comes after, and acts if not.
func (in *intake) review(now grid.Time, j *jobs.Job, out *agents.Outbox) {
	if len(j.Needs()) == 0 || !j.State.Open() {
		return
	}
	for _, p := range j.Needs() {
		if !p.Possible() {
			out.Row("B84")
			in.withdraw(now, j, p.Never(), out)
			return
		}
	}
	at, ok := j.Follows()
	switch j.State {
	case grid.JobWaiting:
		in.reviewWaiting(j, at, ok, out)
	case grid.JobTrying:
		if t := j.Last(); t != nil && t.Open() && t.Resolved() && (!ok || t.Start() < at) {
			in.putOff(now, j, t, j.Slipped(at, ok), ok, out)
		}
	case grid.JobPlaced:
		settled := !slices.ContainsFunc(j.Window(), func(t *transaction.Tx) bool { return !t.Resolved() || t.GivenUp() != grid.Kept })
		if settled && len(j.Window()) > 0 && (!ok || j.Starts() < at) {
			out.Row(slipRow(ok))
			in.slip(now, j, j.Slipped(at, ok), out)
		}
	}
}

// reviewWaiting makes a job due that had to wait for others, or puts it back if the
// current cycle may have planned it too early.
func (in *intake) reviewWaiting(j *jobs.Job, at grid.Time, ok bool, out *agents.Outbox) {
	was := j.Held
	j.Held = !ok
	if j.Array != nil {
		in.Stirred = true
		return
	}
	if in.scheduler.putBack(j, at, ok, out) {
		return
	}
	if ok && (was || j.Again) && !j.Taken && in.callsLeft() { // otherwise it waits for the next cycle
		j.Again = false
		if j.Gather == nil {
			in.Queue.Summon(j)
		}
		in.scheduler.atLeast(1)
	}
}

// putOff aborts a try whose window would now start too early.
func (in *intake) putOff(now grid.Time, j *jobs.Job, t *transaction.Tx, why grid.Reason, again bool, out *agents.Outbox) {
	out.Row("B82")
	if in.scheduler.trying(t) {
		j.Again = again
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
	if in.called != in.Now {
		in.called, in.calls = in.Now, 0
	}
	in.calls++
	return in.calls <= maxCalls
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
func (in *intake) slip(now grid.Time, j *jobs.Job, why grid.Reason, out *agents.Outbox) {
	j.Again = true // it is due again once its legs are released
	e, txs := in.errands.errandOf(j), slices.Clone(j.Window())
	if e != nil {
		in.errands.finish(e)
	}
	in.Record(facts.JobBroken{Job: j.Name, Reason: why, Wish: j.Wished()}, out)
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
