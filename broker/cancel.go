package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// jobCancel gives a job up at its user's request, whatever its state. Its legs are confirmed
// if they are not yet, and released for the refund that the schedules allow. The answer
// comes when all are released, with the total refund. Row B27.
func (in *intake) jobCancel(now grid.Time, from agents.ID, m agents.JobCancel, out *agents.Outbox) {
	if a, some := in.meant(m.Job); a != nil {
		in.cancelElements(now, from, m, a, some, out)
		return
	}
	j := in.Names[m.Job]
	no := grid.Reason{}
	switch {
	case j == nil:
		no = reason(grid.Unknown, "%s has no job %q", in.cfg.Name, m.Job)
	case j.User != m.User:
		no = reason(grid.NotAllowed, "job %q is not %s's", m.Job, m.User)
	case j.State.Ended():
		no = reason(grid.BadState, "job %q has ended", m.Job)
	case j.State == grid.JobAbandoned:
		no = reason(grid.BadState, "job %q was abandoned: %v", m.Job, j.Reason)
	}
	if no.Refused() {
		if from != "" {
			out.Send(from, agents.JobReply{Job: m.Job, Reason: no})
		}
		return
	}
	waits := from == "" || in.heard(j, from)
	if j.State != grid.JobWithdrawn {
		out.Row("B27")
		in.withdraw(now, j, grid.Reason{}, out)
	}
	in.answerCancel(j, out)
	if !waits && in.askers[j] != nil {
		out.Row("B117")
		out.Send(from, agents.JobReply{Job: m.Job, Reason: reason(grid.QueueFull, "job %q is withdrawn, and %d others wait for its refund", m.Job, maxAskers)})
	}
}

// maxAskers bounds how many may wait for the answer to one cancellation.
const maxAskers = 8

// withdraw records that a job is given up, by its user or for the reason why, and undoes
// what was done for it. An array is given up with its elements.
func (in *intake) withdraw(now grid.Time, j *jobs.Job, why grid.Reason, out *agents.Outbox) {
	if j.Array != nil {
		in.withdrawJobs(now, j, j.Array.Spec.Indices, why, out)
	}
	in.Record(facts.JobCancelled{Job: j.Name, User: j.User, Reason: why}, out)
	if j.Array != nil {
		return // what waits in it went with it
	}
	in.scheduler.endPlan(j)
	defer in.gathers.GiveUp(now, j, out)
	gone := reason(grid.Withdrawn, "its user has given the job up")
	if why.Refused() {
		gone = why
	}
	if e := in.errands.errandOf(j); e != nil && e.try == nil {
		in.errands.finish(e)
		if e.tx == nil {
			in.errands.moved(now, e, gone, out)
		}
	}
	for _, t := range in.Txs.All() {
		switch {
		case t.Job() != j.Itself() || !t.Resolved():
		case t.Open():
			in.co.Abort(now, t, gone, out)
		case t.State() == grid.TxCommitted:
			in.co.Tell(now, t, transaction.FirstRepeat, out)
		}
	}
}

// heard adds an asker to those waiting for the answer to a job's cancellation. It reports
// false if there are too many.
func (in *intake) heard(j *jobs.Job, from agents.ID) bool {
	list := in.askers[j]
	if slices.Contains(list, from) {
		return true
	}
	if len(list) == maxAskers {
		return false
	}
	in.askers[j] = append(list, from)
	return true
}

// answerCancel tells those who asked that a job is given up, once none of its legs holds
// anything.
func (in *intake) answerCancel(j *jobs.Job, out *agents.Outbox) {
	if in.askers[j] == nil && in.groups[j] == nil || j.State != grid.JobWithdrawn {
		return
	}
	var back grid.Credits
	for _, t := range in.Txs.All() {
		if t.Job() != j.Itself() {
			continue
		}
		if t.Open() || t.State() == grid.TxCommitted && !t.Over() {
			return
		}
		for i := range t.Legs() {
			if l := &t.Legs()[i]; l.Undone() {
				back = back.Plus(l.Back())
			}
		}
	}
	for _, id := range in.askers[j] {
		out.Send(id, agents.JobReply{Job: j.Name, Refund: back})
	}
	delete(in.askers, j)
	if g := in.groups[j]; g != nil {
		delete(in.groups, j)
		g.released(back, out)
	}
}
