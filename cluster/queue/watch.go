package queue

import (
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/sla"
)

// watch turns what a queue does into facts.
type watch struct {
	*Backend
	group string
}

// Started records a start of the local queue.
func (w watch) Started(j *grid.LocalJob, s *backfill.Start) {
	w.host.Record(facts.JobStarted{Job: j.ID, Group: w.group, Nodes: j.Nodes, Submit: j.Submit,
		End: s.End, Class: s.Class.String(), User: j.User, Queue: j.Queue, Begun: w.host.When(s.End.Add(-s.Estimate))})
}

// Ended records an end.
func (w watch) Ended(j *grid.LocalJob, start, end grid.Time, killed bool) {
	w.host.Record(facts.JobEnded{Job: j.ID, Group: w.group, Nodes: j.Nodes, Submit: j.Submit,
		Start: start, Killed: killed, Ended: w.host.When(end)})
}

// Refused records that a job never entered the queue.
func (w watch) Refused(j *grid.LocalJob, why grid.Reason) {
	w.host.Record(facts.JobRefused{Job: j.ID, Nodes: j.Nodes, Submit: j.Submit, Reason: why, Group: w.group})
}

// keptWatch is the watch of a durable cluster: a restart must know which jobs wait, and how
// far the queue has been fed.
type keptWatch struct {
	watch
	fed   *cluster.Mark
	lives bool // jobs queued from now on are new, not restored
}

// Queued records that a job waits.
func (w *keptWatch) Queued(j *grid.LocalJob) {
	if w.lives {
		w.fed.Take(j.Submit)
		w.host.Record(facts.JobQueued{Group: w.group, Job: *j})
	}
}

// Refused records that a job never entered the queue or, after a restart with fewer nodes,
// that it no longer waits.
func (w *keptWatch) Refused(j *grid.LocalJob, why grid.Reason) {
	if w.lives {
		w.fed.Take(j.Submit)
	}
	w.watch.Refused(j, why)
}

// Extended records that a job's planned end has moved.
func (w *keptWatch) Extended(j *grid.LocalJob, now, end grid.Time) {
	w.host.Record(facts.JobExtended{Job: j.ID, Group: w.group, End: end, When: w.host.When(now)})
}

// Promised records the slot of a local job.
func (w *keptWatch) Promised(j *grid.LocalJob, p *sla.Promise, taken bool) {
	if !w.lives {
		return
	}
	if taken {
		w.fed.Take(j.Submit)
	}
	w.host.Record(promisedJob(w.group, j, p))
}

// Broken records that a local job no longer has the slot it was promised.
func (w *keptWatch) Broken(j *grid.LocalJob, why grid.Reason) { w.watch.Refused(j, why) }

func promisedJob(group string, j *grid.LocalJob, p *sla.Promise) facts.JobPromised {
	return facts.JobPromised{Group: group, Job: *j, Start: p.Start, Ready: p.Ready, Due: p.Due, Fix: max(p.SLA.Fix, 0)}
}
