package managed

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The table says what to do for a leg, by what should be in the manager and what was last
// seen there. A row is a state of the job with the leg's name, a column a state of the
// reservation; if the manager keeps no reservations, that is always right. A rule names the
// command that removes a difference, or the fact that ends it, or what to wait for. Nothing
// is done for a leg while a command for it is under way. What was seen before the answer to
// a command does not count.

// rule says what to do for an entry.
type rule func(b *Backend, e *entry, now grid.Time) act

// row has the rules for a state of the job, by that of the reservation: no look yet, none,
// changed, still for the holder, right.
type row [reservations]rule

// table holds the rules. What has no rule cannot be seen, or is left alone.
var table = [wants][jobStates]row{
	placing: {
		unseenJob: all(reserve),
		noJob:     {reserve, refused, refused, lock, lock},
		pending:   all(refused), stopped: all(refused), unclear: all(refused), runs: all(refused), twoJobs: all(refused), cancelled: all(refused), over: all(refused),
	},
	held: {
		unseenJob: all(rest),
		noJob:     {rest, again, handChanged, rest, rest},
		over:      {rest, again, handChanged, rest, rest},
		pending:   all(endJob), stopped: all(endJob), unclear: all(endJob), runs: all(endJob), twoJobs: all(endJob),
	},
	bare: {
		unseenJob: all(first),
		noJob:     {first, again, handChanged, assign, occupy},
		pending:   all(endJob), stopped: all(endJob), unclear: all(endJob), runs: all(endJob), twoJobs: all(endJob),
	},
	due: {
		unseenJob: all(first),
		noJob:     {first, again, handChanged, assign, submit},
		pending:   {await, endJob, handChanged, assign, await},
		stopped:   {await, endJob, handChanged, assign, await},
		unclear:   all(await),
		runs:      all(begin),
		over:      all(begin),
		cancelled: all(handCancelled),
		twoJobs:   all(endExtra),
	},
	lying: {
		unseenJob: all(occupied),
		noJob:     {occupied, handDeleted, handChanged, occupied, occupied},
		pending:   all(occupied), stopped: all(occupied), unclear: all(occupied), runs: all(occupied), twoJobs: all(occupied),
	},
	begun: {
		unseenJob: all(run),
		noJob:     all(vanished),
		pending:   all(requeued), stopped: all(requeued), // it has run before
		unclear:   all(run),
		runs:      all(run),
		cancelled: all(ended), over: all(ended),
		twoJobs: all(endExtra),
	},
	claimed: {
		unseenJob: all(claim),
		noJob:     all(unclaimed),
		pending:   all(idle), stopped: all(idle), unclear: all(idle), runs: all(idle),
		cancelled: all(pilotOver), over: all(pilotOver),
		twoJobs: all(endExtra),
	},
	gone: {
		unseenJob: all(remove),
		noJob:     {remove, forget, remove, remove, remove},
		cancelled: {remove, forget, remove, remove, remove},
		over:      {remove, forget, remove, remove, remove},
		pending:   all(remove), stopped: all(remove), unclear: all(remove), runs: all(remove), twoJobs: all(remove),
	},
}

func all(r rule) row { return row{r, r, r, r, r} }

// act is what a rule has done, or what it wants. The zero act: the entry has changed, and
// its next rule is asked.
type act struct {
	verb  agents.CommandVerb // to give as soon as the driver is free
	wait  bool               // there is nothing to do now
	wake  grid.Time          // but there may be then; 0: only when something is seen
	look  grid.Time          // a look of this instant or later is needed; 0: none is
	hurry bool               // and as soon as LookSoon lets it
	drop  bool               // nothing of the entry is left: it is dropped
}

func give(v agents.CommandVerb) act                        { return act{verb: v} }
func until(t grid.Time) act                                { return act{wait: true, wake: t} }
func lookOf(t, wake grid.Time) act                         { return act{wait: true, look: t, wake: wake} }
func (e *entry) given(v agents.CommandVerb, most int) bool { return e.tries[v] > most }

// Rules for a leg that is being placed.

// reserve asks for the reservation, once.
func reserve(b *Backend, e *entry, now grid.Time) act {
	if !e.sent {
		return give(agents.Reserve)
	}
	if b.hurries(e) {
		return act{wait: true, look: soonest, hurry: true}
	}
	return lookOf(e.waitsFor(), 0) // to read it back
}

// lock makes it a lock: it is there.
func lock(b *Backend, e *entry, now grid.Time) act {
	if b.divides(b.group(e.what.Group)) {
		return b.lockAlone(e, now)
	}
	b.lock(e)
	return act{}
}

// refused accepts the manager's refusal, now that a look has confirmed it.
func refused(b *Backend, e *entry, now grid.Time) act {
	if !e.sent {
		return give(agents.Reserve)
	}
	b.counts.NotCreated++
	b.deny(now, e)
	b.refuse(e, grid.Because(grid.Busy, "the resource manager of %s has not created a reservation of %s from %v to %v: %v", b.cfg.Site, grid.Count(e.what.Nodes, "node"), e.what.Start, e.what.End, e.why))
	return act{}
}

// Rules for a reservation.

// rest waits for the confirmation, as long as there is anything to confirm.
func rest(b *Backend, e *entry, now grid.Time) act {
	if now < e.what.End {
		return until(e.what.End)
	}
	b.vacate(e, e.what.End)
	b.record(facts.LockMoved{Leg: e.leg, State: facts.LockExpired, When: b.host.When(e.what.End)})
	return act{}
}

// again makes a vanished reservation anew, as long as its window has not begun.
func again(b *Backend, e *entry, now grid.Time) act {
	switch {
	case now.Add(b.cfg.Limits.Skew) >= e.what.Start:
		return b.lose(e, grid.Because(grid.Busy, "its reservation has vanished from the resource manager"))
	case e.given(agents.Reserve, b.cfg.Limits.Tries):
		return b.lose(e, grid.Because(grid.Busy, "its reservation has vanished from the resource manager, and cannot be made again: %v", e.why))
	}
	return give(agents.Reserve)
}

// assign gives the reservation to its user.
func assign(b *Backend, e *entry, now grid.Time) act {
	if e.given(agents.Assign, b.cfg.Limits.Tries) {
		return b.lose(e, grid.Because(grid.NotAllowed, "its reservation cannot be given to local account %s: %v", e.account, e.why))
	}
	return give(agents.Assign)
}

// first does what can be done without a look, if all commands for the leg were given in this
// life and carried out.
func first(b *Backend, e *entry, now grid.Time) act {
	switch {
	case !e.sure && e.want == due:
		return await(b, e, now)
	case !e.sure:
		return occupy(b, e, now)
	case b.cfg.Reserves && !e.assigned && e.account != "":
		return assign(b, e, now)
	case e.want == due && e.submitted == 0:
		return submit(b, e, now)
	case e.want == bare:
		return occupy(b, e, now)
	}
	return await(b, e, now)
}

// What an administrator has changed is not changed back.

func handChanged(b *Backend, e *entry, now grid.Time) act {
	return b.lose(e, grid.Because(grid.Withdrawn, "its reservation was moved, or nodes were taken out of it, in the resource manager"))
}

func handDeleted(b *Backend, e *entry, now grid.Time) act {
	return b.lose(e, grid.Because(grid.Withdrawn, "its reservation was deleted in the resource manager"))
}

func handCancelled(b *Backend, e *entry, now grid.Time) act {
	return b.lose(e, grid.Because(grid.Withdrawn, "its work was ended in the resource manager before it began%s", saying(e.seen.is)))
}

// Rules for work that is to begin.

// submit submits the work: once, and again only if it is certain that it has not run and
// never will.
func submit(b *Backend, e *entry, now grid.Time) act {
	l := &b.cfg.Limits
	again := e.submitted == 0 || e.denied || e.seen.until.Add(l.Skew) < e.what.Start // it vanished before it could begin
	switch {
	case !again:
		return b.lose(e, grid.Because(grid.NoCluster, "its work has vanished from the resource manager; whether it ran cannot be known"))
	case !b.cfg.Reserves && e.in == "" && now < e.what.Start:
		return until(e.what.Start)
	case e.account == "":
		return b.lose(e, grid.Because(grid.NotAllowed, "there is no local account as which its work could run"))
	case now >= e.what.Start.Add(l.StartWithin):
		return b.lose(e, grid.Because(grid.Expired, "its work was not begun within %s of its window's begin%s", l.StartWithin.Words(), b.because(e)))
	case e.given(agents.Run, l.Tries):
		return b.lose(e, grid.Because(grid.Expired, "its work cannot be submitted%s", b.because(e)))
	case !b.cfg.Reserves && e.in == "" && b.before(e) != nil: // nobody else would keep them apart
		return lookOf(e.what.Start, e.what.Start.Add(l.StartWithin))
	}
	return give(agents.Run)
}

// before is an earlier leg whose work may still be on a node of the entry, because it was
// submitted and not seen to be over; nil: there is none. Of a leg of slices it is one that
// leaves it too few.
func (b *Backend) before(e *entry) *entry {
	taken := map[string]int{}
	for _, o := range b.order {
		if o == e || o.submitted == 0 || o.last != nil && !live(o.last) || !shares(e, o) {
			continue
		}
		if !e.parts() || !o.parts() {
			return o
		}
		for _, n := range o.nodes {
			if taken[n] += int(o.what.Part.Slices); slices.Contains(e.nodes, n) && taken[n]+int(e.what.Part.Slices) > int(e.what.Part.Of) {
				return o
			}
		}
	}
	return nil
}

// await waits for the work to begin.
func await(b *Backend, e *entry, now grid.Time) act {
	l := &b.cfg.Limits
	late := e.what.Start.Add(l.StartWithin)
	switch {
	case e.seen.since(late) && e.seen.job != unclear:
		return b.lose(e, grid.Because(grid.Expired, "its work has not begun within %s of its window's begin%s", l.StartWithin.Words(), b.because(e)))
	case now >= b.patience(late):
		return b.lose(e, grid.Because(grid.NoCluster, "it is not known whether its work has begun: the resource manager does not say"))
	case !e.seen.known():
		return lookOf(e.waitsFor(), b.patience(late))
	case now < e.what.Start:
		return lookOf(e.what.Start, e.what.Start)
	}
	return lookOf(e.what.Start, b.patience(late))
}

// begin records that the work has begun, once its window has.
func begin(b *Backend, e *entry, now grid.Time) act {
	l := &b.cfg.Limits
	if now < e.what.Start {
		return lookOf(e.what.Start, e.what.Start)
	}
	if at := e.seen.is.Start; at > e.what.Start.Add(l.StartWithin+l.Skew) {
		return b.lose(e, grid.Because(grid.Expired, "its work began at %v, more than %s after the begin of its window", at, l.StartWithin.Words()))
	}
	e.want = begun
	b.record(facts.LockMoved{Leg: e.leg, State: facts.LockRunning})
	return act{}
}

// endJob ends a job that should not be there, or not yet.
func endJob(b *Backend, e *entry, now grid.Time) act {
	if e.want == due {
		e.replaced = max(e.replaced, e.seen.is.Submit)
	}
	return give(agents.End)
}

// endExtra ends the second job of the name, the later one.
func endExtra(b *Backend, e *entry, now grid.Time) act { return give(agents.End) }

// Rules for a window that has begun.

// occupy begins the window of a bare reservation.
func occupy(b *Backend, e *entry, now grid.Time) act {
	l := &b.cfg.Limits
	late := e.what.Start.Add(l.StartWithin)
	switch {
	case !e.seen.known() && !e.sure:
		return lookOf(e.waitsFor(), b.patience(late))
	case now < e.what.Start:
		return lookOf(e.what.Start, e.what.Start)
	case e.seen.since(e.what.Start) && e.seen.down == "":
		e.want = lying
		b.record(facts.LockMoved{Leg: e.leg, State: facts.LockRunning})
		return act{}
	case e.seen.since(late):
		return b.lose(e, grid.Because(grid.Busy, "its node %s is not up", e.seen.down))
	case now >= b.patience(late):
		return b.lose(e, grid.Because(grid.NoCluster, "it is not known whether its nodes are there: the resource manager does not say"))
	}
	return lookOf(e.what.Start, b.patience(late))
}

// occupied waits for the window's end.
func occupied(b *Backend, e *entry, now grid.Time) act {
	l := &b.cfg.Limits
	switch {
	case now >= e.what.End:
		return b.finish(e, e.what.End, nil)
	case e.down > 0 && e.seen.since(e.down.Add(l.UnknownWithin)):
		return b.lose(e, grid.Because(grid.Busy, "its node %s has not been up for %s", e.seen.down, l.UnknownWithin.Words()))
	}
	return until(e.what.End)
}

// run lets work run until its window's end, and then ends it.
func run(b *Backend, e *entry, now grid.Time) act {
	l := &b.cfg.Limits
	padded := e.what.End.Add(l.Padding)
	unknown := b.patience(padded)
	switch {
	case now < e.what.End:
		return until(e.what.End)
	case now >= unknown:
		return b.lose(e, grid.Because(grid.NoCluster, "it is not known whether its work has ended: the resource manager does not say"))
	case e.ended && !e.seen.known():
		return lookOf(e.waitsFor(), unknown)
	case now >= padded:
		return give(agents.Delete)
	case e.ended: // it is cleaning up
		return lookOf(e.what.End, padded)
	}
	return give(agents.End)
}

// ended settles work that is seen to be over. Work that went with its node is lost.
func ended(b *Backend, e *entry, now grid.Time) act {
	j := e.seen.is
	if j.State == grid.ManagedLost {
		return b.lose(e, grid.Because(grid.Unknown, "its work was lost%s", saying(j)))
	}
	r := &grid.WorkResult{Begin: j.Start, End: j.End, Exit: j.Exit, Signal: j.Signal, Known: true}
	if r.Signal > 0 && r.Exit == 0 {
		r.Exit = 128 + r.Signal
	}
	switch {
	case b.cutOff(e, j):
		r.Ended = b.windowOver(e, j.Start)
		r.Known = r.Exit != 0 // a status of 0 on the way out says nothing of success
	case j.Why != "":
		r.Ended = grid.Because(grid.Withdrawn, "%s", j.Why)
	}
	return b.finish(e, now, r)
}

// cutOff reports whether work that is over ended with its window and not by itself. What
// ended with status 0 before that, and of which its manager says nothing else, has succeeded,
// though it was told to end before that was seen.
func (b *Backend) cutOff(e *entry, j *grid.ManagedJob) bool {
	over := j.End >= e.what.End
	if j.Why == "" && j.Exit == 0 && j.Signal == 0 || !e.ended {
		return over && (e.ended || j.Why != "")
	}
	return over || j.End >= e.what.End.Add(-b.cfg.Limits.Skew)
}

// windowOver is why work is cut off that has begun at an instant; 0: that is not known.
func (b *Backend) windowOver(e *entry, begun grid.Time) grid.Reason {
	if late := begun.Sub(e.what.Start) - b.cfg.Limits.Skew; begun > 0 && late >= grid.Second {
		return grid.Because(grid.Expired, "its window was over, and it had begun %v late", grid.Phrase(late.Words()))
	}
	return grid.Because(grid.Expired, "its window was over")
}

// vanished settles work that has run and is no longer there. If nothing has ever shown that it
// began, but a manager that called it running, it is lost.
func vanished(b *Backend, e *entry, now grid.Time) act {
	if e.last != nil && e.last.Unbegun {
		return b.lose(e, grid.Because(grid.NoCluster, "its work has vanished from the resource manager; whether it ran cannot be known"))
	}
	r := &grid.WorkResult{}
	if e.last != nil {
		r.Begin = e.last.Start
	}
	if r.Ended = grid.Because(grid.Unknown, "the resource manager no longer knows it"); e.ended {
		r.Ended = b.windowOver(e, r.Begin)
	}
	return b.finish(e, now, r)
}

// requeued settles work that has run and was queued to run again, which it must not. It is lost
// if it was queued again because its node could not begin it.
func requeued(b *Backend, e *entry, now grid.Time) act {
	if e.seen.is.Unbegun {
		return b.lose(e, grid.Because(grid.Withdrawn, "the resource manager has put its work back into its queue before it began%s", saying(e.seen.is)))
	}
	r := &grid.WorkResult{Ended: grid.Because(grid.Withdrawn, "the resource manager has put it back into its queue%s", saying(e.seen.is))}
	return b.finish(e, now, r)
}

// Rules for what should not be there.

// remove deletes it, until a look shows that it is gone.
func remove(b *Backend, e *entry, now grid.Time) act {
	switch {
	case !e.sent && e.seen.is == nil: // nothing of it was ever there
		return act{drop: true}
	case !e.seen.known() && e.given(agents.Delete, 0):
		return lookOf(e.waitsFor(), 0)
	}
	return give(agents.Delete)
}

// forget drops an entry of which nothing is left.
func forget(b *Backend, e *entry, now grid.Time) act { return act{drop: true} }

// patience is when to give up what should have been seen since an instant, or in this life.
func (b *Backend) patience(t grid.Time) grid.Time {
	return max(t, b.began).Add(b.cfg.Limits.UnknownWithin)
}

// waitsFor is the least instant of a look that can tell what became of the last command.
func (e *entry) waitsFor() grid.Time { return max(e.after+1, soonest) }

// saying adds the manager's word for why a job is in its state.
func saying(j *grid.ManagedJob) string {
	if j == nil || j.Why == "" {
		return ""
	}
	return ": " + j.Why
}

// because adds what is known of why work has not begun.
func (b *Backend) because(e *entry) string {
	switch {
	case e.seen.job == stopped:
		return ": it is held" + saying(e.seen.is)
	case e.seen.is != nil && e.seen.is.Why != "":
		return saying(e.seen.is)
	case e.seen.down != "":
		return ": node " + e.seen.down + " is not up"
	case !b.cfg.Reserves && b.before(e) != nil:
		return ": the work of an earlier window is still on its nodes"
	case e.why.Refused():
		return ": " + e.why.String()
	}
	return ""
}
