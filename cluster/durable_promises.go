package cluster

import (
	"cmp"
	"maps"
	"slices"

	"bourse"
	"bourse/policy/sla"
)

// What a durable cluster keeps of its promises: a restart puts each where it was,
// and only then lets those move again that may.

// Promised records the slot of a local job.
func (w *keptWatch) Promised(j *bourse.LocalJob, p *sla.Promise, taken bool) {
	if !w.lives {
		return
	}
	if taken {
		w.fed.take(j.Submit)
	}
	w.out.Record(promisedJob(w.group, j, p))
}

// Broken records that a local job that was promised a slot has none any more.
func (w *keptWatch) Broken(j *bourse.LocalJob, why bourse.Reason) { w.watch.Refused(j, why) }

func promisedJob(group string, j *bourse.LocalJob, p *sla.Promise) bourse.JobPromised {
	return bourse.JobPromised{Group: group, Job: *j, Start: p.Start, Ready: p.Ready, Due: p.Due, Fix: max(p.SLA.Fix, 0)}
}

// promise takes note of the slot of a local job; the first word of it is one more
// of the feed.
func (g *groupMemory) promise(f bourse.JobPromised) {
	if _, known := g.promised[f.Job.ID]; !known {
		g.fed.take(f.Job.Submit)
	}
	g.promised[f.Job.ID] = f
}

// inPromiseOrder lists the local jobs that wait for their slots, by id.
func (g *groupMemory) inPromiseOrder() []bourse.JobPromised {
	return slices.SortedFunc(maps.Values(g.promised), func(a, b bourse.JobPromised) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
}

// nodesMoved has a lock lie elsewhere.
func (m *clusterMemory) nodesMoved(f bourse.NodesMoved) {
	if l := m.locks[f.Leg]; l != nil {
		l.Ends = l.Ends.Add(f.Start.Sub(l.What.Start))
		l.What.Start, l.What.End, l.Turn, l.Fixed = f.Start, f.End, f.Turn, f.Fixed
	}
}

// resumePromises puts the local jobs of an earlier life where they were. What does
// not fit any more, on fewer nodes, is broken.
func (q *Queue) resumePromises(g *groupMemory) {
	p, now := q.promises, q.group.Now()
	put := func(j *bourse.LocalJob, start, end bourse.Time) *promised {
		p.number++
		id := -p.number
		if end <= now || j.Nodes > q.opt.Nodes {
			return nil
		}
		start = max(start, now)
		if _, why := q.promise(sla.Strict(id, j.Submit, sla.Size{Nodes: j.Nodes, Runtime: end.Sub(start)}, start)); why.Refused() {
			return nil
		}
		l := &promised{id: id, job: *j, start: start}
		p.locals[id], p.names[j.ID] = l, true
		return l
	}
	for _, r := range g.inRunningOrder() {
		l := put(&r.Job, r.Start, r.End)
		if l == nil {
			q.watcher.Ended(&r.Job, r.Start, now, true)
			continue
		}
		l.began, l.again = r.Start, true
	}
	for _, x := range g.inPromiseOrder() {
		if put(&x.Job, x.Start, x.Start.Add(estimate(&x.Job))) == nil {
			q.keeper.Broken(&x.Job, bourse.Reason{Code: bourse.Busy, Detail: "the promise was broken: there are fewer nodes"})
		}
	}
	q.armed = true
}

// loosenAll lets those move again that may, now that all are where they were.
func (c *Cluster) loosenAll(m *clusterMemory) {
	for _, l := range c.order {
		if l.state == reserved {
			c.loosen(l)
		}
	}
	for i, q := range c.queues {
		if q.promises == nil {
			continue
		}
		was := m.groups[i].promised
		for _, id := range slices.Sorted(maps.Keys(q.promises.locals)) {
			x, waits := was[q.promises.locals[id].job.ID]
			if !waits {
				continue
			}
			fix := sla.NeverFix
			if x.Fix > 0 {
				fix = x.Fix
			}
			if x.Due.Sub(x.Ready) > estimate(&x.Job) {
				q.promises.Open(id, x.Ready, x.Due, fix)
			}
		}
	}
}

// promisesMemory is what an image keeps of a group's local jobs.
func (q *Queue) promisesMemory() (g bourse.GroupMemory) {
	g.Waiting = []bourse.LocalJob{}
	for _, l := range q.promises.locals {
		x, _ := q.promises.Promise(l.id)
		if l.runs || l.again {
			g.Running = append(g.Running, bourse.RunningJob{Job: l.job, Start: l.began, End: x.End()})
		} else {
			g.Promised = append(g.Promised, promisedJob("", &l.job, &x))
		}
	}
	slices.SortFunc(g.Running, func(a, b bourse.RunningJob) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
	slices.SortFunc(g.Promised, func(a, b bourse.JobPromised) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
	return g
}
