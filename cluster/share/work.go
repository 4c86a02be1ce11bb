package share

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/admission"
)

// Suits says whether the group exists, and whether the leg has work by which it can share
// nodes.
func (b *Backend) Suits(m agents.ClusterHold) (why grid.Reason) {
	switch {
	case b.group(m.What.Group) < 0:
		why = grid.Reason{Code: grid.Unknown, Detail: fmt.Sprintf("there is no group %q", m.What.Group)}
	case m.What.Work <= 0:
		why = grid.Reason{Code: grid.NotAllowed, Detail: "its nodes are time-shared, none can be reserved: a job must run on this site alone and have a deadline"}
	}
	return why
}

// Place admits a leg's work, or says why not.
func (b *Backend) Place(now grid.Time, m agents.ClusterHold) grid.Reason {
	group, run := b.group(m.What.Group), m.What.Work
	if m.Run > 0 {
		run = m.Run
	}
	d := b.servers[group].Arrive(admission.Job{ID: b.number + 1, Nodes: m.What.Nodes, Estimate: m.What.Work, Deadline: m.What.End}, run)
	if d.Reason.Refused() {
		return d.Reason
	}
	b.number++
	l := &leg{id: m.Leg, number: b.number, group: group, what: m.What, run: run, began: d.Nodes != nil}
	b.legs[m.Leg] = l
	b.order = append(b.order, l)
	b.placed(now, group, l.number, d.Nodes)
	b.version++
	return grid.Reason{}
}

// Confirm changes nothing: work has begun, or will when it is first in line.
func (b *Backend) Confirm(grid.Time, grid.LegID, *grid.Handover) {}

// Release takes a leg's work away in any state. The facts say of all such work that it has
// begun.
func (b *Backend) Release(_ grid.Time, id grid.LegID) (begun bool) {
	l := b.legs[id]
	if l == nil {
		return false
	}
	if !l.over {
		b.servers[l.group].End(l.number)
	}
	b.version++
	b.forget(l)
	return false
}

// forget removes a leg from the books.
func (b *Backend) forget(l *leg) {
	delete(b.legs, l.id)
	if len(b.order) > 2*len(b.legs)+16 {
		b.order = slices.DeleteFunc(b.order, func(l *leg) bool { return b.legs[l.id] != l })
	}
}

// arrive admits a local job, or turns it away.
func (b *Backend) arrive(now grid.Time, group int, j Job) {
	if b.options.Estimates.Predicts() {
		j.Predicted = b.predictors[group].Predict(&j.LocalJob, j.Limit())
	}
	d := b.admit(group, j)
	b.fed[group].Take(j.Submit)
	if d.Reason.Refused() {
		b.refused(group, &j, d.Reason)
		return
	}
	b.number++
	x := &job{Job: j, group: group}
	b.jobs[b.number] = x
	b.placed(now, group, b.number, d.Nodes)
	if d.Nodes != nil {
		b.startedJob(now, x)
	}
}

// admit asks the group's server. If a restart must recognise local jobs by their names, a
// job is turned away whose name waits or runs there.
func (b *Backend) admit(group int, j Job) admission.Decision {
	if b.durable {
		for _, x := range b.jobs { // the answer is the same in any order
			if x.group == group && x.ID == j.ID {
				return admission.Decision{Reason: grid.Reason{Code: grid.Conflict, Detail: fmt.Sprintf("a job %d waits or runs already", j.ID)}}
			}
		}
	}
	return b.servers[group].Arrive(admission.Job{ID: b.number + 1, Nodes: j.Nodes, Estimate: j.planned(), Deadline: j.Deadline}, j.Run)
}

func (b *Backend) refused(group int, j *Job, why grid.Reason) {
	b.host.Record(facts.JobRefused{Job: j.ID, Nodes: j.Nodes, Submit: j.Submit, Reason: why, Group: b.groups[group].Name})
}

// placed records where work was put, for the next life.
func (b *Backend) placed(now grid.Time, group int, id int64, nodes []int) {
	f := facts.TasksPlaced{Group: b.groups[group].Name, Number: id, Nodes: slices.Clone(nodes), When: b.host.When(now)}
	if j := b.jobs[id]; j != nil {
		f.Job, f.Deadline, f.Run = j.LocalJob, j.Deadline, j.Run
	} else if l := b.numbered(id); l != nil {
		f.Leg, f.What, f.Deadline, f.Run = l.id, l.what, l.what.End, l.run
	}
	b.host.Record(f)
}

// started records that a waiting job or leg works now.
func (b *Backend) started(now grid.Time, group int, id int64) {
	if l := b.numbered(id); l != nil {
		l.began = true
	}
	b.placed(now, group, id, b.servers[group].Nodes(id))
	if j := b.jobs[id]; j != nil {
		b.startedJob(now, j)
	}
}

func (b *Backend) startedJob(now grid.Time, j *job) {
	j.start = now
	b.host.Record(facts.JobStarted{Job: j.ID, Group: b.groups[j.group].Name, Nodes: j.Nodes, Submit: j.Submit,
		End: j.Deadline, Class: "shared", User: j.User, Queue: j.Queue, Due: j.Deadline, Begun: b.host.When(now)})
}

// happened records that a job or a leg has ended, or was dropped.
func (b *Backend) happened(now grid.Time, e admission.Event) {
	if j := b.jobs[e.Job]; j != nil {
		delete(b.jobs, e.Job)
		if e.Kind == admission.Dropped {
			b.refused(j.group, &j.Job, e.Reason)
			return
		}
		b.over(j, now)
		group := b.groups[j.group]
		b.host.Record(facts.JobEnded{Job: j.ID, Group: group.Name, Nodes: j.Nodes, Submit: j.Submit, Start: j.start,
			Due: j.Deadline, Work: group.Performance.Runtime(j.Run), Ended: b.host.When(now)})
		return
	}
	l := b.numbered(e.Job)
	switch {
	case l == nil:
	case e.Kind == admission.Dropped:
		b.moved(now, l, facts.LockLost)
	default:
		b.count(l.group, now, l.what.End)
		b.moved(now, l, facts.LockEnded)
	}
}

// moved records that a leg's work is over, or lost.
func (b *Backend) moved(now grid.Time, l *leg, to facts.LockState) {
	l.over = true
	b.host.Record(facts.LockMoved{Leg: l.id, State: to, When: b.host.When(now)})
}

// over records that a local job has ended: how long it runs by itself is now known.
func (b *Backend) over(j *job, now grid.Time) {
	b.count(j.group, now, j.Deadline)
	b.predictors[j.group].Learn(&j.LocalJob, j.Limit(), j.Run)
}

// count counts a deadline.
func (b *Backend) count(group int, now, deadline grid.Time) {
	if now > deadline {
		b.kept[group].missed++
	} else {
		b.kept[group].kept++
	}
}

// numbered is the leg of that number, nil if it was released.
func (b *Backend) numbered(id int64) *leg {
	i, ok := slices.BinarySearchFunc(b.order, id, func(l *leg, id int64) int { return int(l.number - id) })
	if !ok || b.legs[b.order[i].id] != b.order[i] {
		return nil
	}
	return b.order[i]
}
