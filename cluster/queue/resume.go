package queue

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/sla"
)

// A restart puts everything back where it was: first the locks of legs, then the local jobs.
// Only then may flexible ones move again.

// Begin begins a life.
func (b *Backend) Begin(h cluster.Host, l cluster.Life) {
	m := b.memory
	b.memory, b.host, b.now = nil, h, l.Now
	b.version = l.Nonce + 1 // no earlier life has had it
	for i, opt := range b.options {
		opt.Start, opt.Zero = l.At, l.Begun
		q := New(opt)
		q.Watch(watch{b, b.groups[i].Name})
		if q.promises != nil {
			q.promises.moved = b.shifted
		}
		b.queues = append(b.queues, q)
	}
	for _, x := range l.Locks {
		b.restore(l.At, x)
	}
	b.number = max(b.number, l.Number)
	for _, o := range m.outages {
		b.restoreOutage(l.At, o)
	}
	b.fed = make([]cluster.Mark, len(b.queues))
	for i, q := range b.queues {
		b.fed[i] = m.groups[i].fed
		if w := (&keptWatch{watch{b, b.groups[i].Name}, &b.fed[i], false}); l.Durable {
			q.Watch(w)
			q.resume(m.groups[i])
			w.lives = true
		}
	}
	b.loosenAll(m)
	for i, q := range b.queues {
		if b.work != nil {
			had := l.From(b.fed[i])
			q.Feed(cluster.Feed(had, b.work(i, l.Begun, had.Submit), func(j *grid.LocalJob) *grid.Time { return &j.Submit }, q.group.Now))
		}
	}
}

// restore restores a reservation of an earlier life. If it no longer has nodes, it is lost.
func (b *Backend) restore(at grid.Time, x *facts.LockMemory) {
	group := b.group(x.What.Group)
	x.Flex = b.window(max(group, 0), x.Flex)
	b.number++
	if x.State == facts.LockEnded || x.State == facts.LockLost {
		return
	}
	r := &reservation{leg: x.Leg, number: b.number, group: max(group, 0), what: x.What, ends: x.Ends, confirmed: x.State != facts.LockHeld,
		running: x.State == facts.LockRunning, agreed: int64(x.Agreed), flex: x.Flex, shifts: x.Shifts, fixed: x.Fixed, on: x.On}
	if over := b.legs[x.Beside]; over != nil && over.confirmed && over.group == r.group {
		r.over, over.borne = over, true
	}
	if group < 0 || x.What.Part.Some() && int(x.What.Part.Of) != b.groups[group].Divided() || b.take(at, r).Refused() {
		b.host.Recover(facts.NodesFreed{Leg: r.leg})
		b.host.Recover(facts.LockMoved{Leg: r.leg, State: facts.LockLost})
		return
	}
	b.legs[r.leg] = r
	b.order = append(b.order, r)
	b.agenda.add(r.what.End, ending, r)
	if r.confirmed && r.ends < r.what.End {
		b.agenda.add(r.ends, ending, r)
	}
	if r.confirmed && !r.running {
		b.agenda.add(r.what.Start, starting, r)
	}
}

// restoreOutage keeps failed nodes out of service, as many as the group still has free.
func (b *Backend) restoreOutage(at grid.Time, o facts.NodesDown) {
	g := b.group(o.Group)
	if g < 0 || o.Until <= at {
		return
	}
	q := b.queues[g]
	if o.Nodes = min(o.Nodes, q.State().Firm().Min(at, o.Until)); o.Nodes < 1 {
		return
	}
	b.number++
	q.Reserve(at, backfill.Reserved{ID: b.number, Nodes: o.Nodes, Start: at, End: o.Until})
	b.outages = append(b.outages, o)
}

// resume gives an empty queue the jobs of an earlier life.
func (q *Queue) resume(g *groupMemory) {
	if q.promises != nil {
		q.resumePromises(g)
		return
	}
	if q.predictor != nil {
		q.predictor = g.predictor
	}
	if q.past != nil {
		q.past = g.past
	}
	for _, r := range g.inRunningOrder() {
		ref := q.keep(&r.Job)
		e := &q.jobs[ref]
		e.start, e.plan = r.Start, r.End
		x := backfill.Running{ID: r.Job.ID, Nodes: r.Job.Nodes, Start: r.Start, End: r.End}
		if q.predictor != nil {
			x.Limit = r.Start.Add(r.Job.Limit())
		}
		if !q.group.Resume(x) {
			q.watcher.Ended(&e.job, r.Start, q.group.Now(), true)
			q.learn(q.group.Now(), &e.job, q.group.Now().Sub(r.Start))
			q.drop(ref)
			continue
		}
		q.limiter.move(&r.Job, 0, 1)
		q.ends.push(end{min(r.Start.Add(max(r.Job.Run, 0)), r.End), r.Job.ID, ref})
	}
	for _, j := range g.inQueueOrder() {
		q.enter(&j)
	}
	q.armed = true
}

// resumePromises puts the local jobs of an earlier life back where they were. Promises that
// no longer fit, because there are fewer nodes, are broken.
func (q *Queue) resumePromises(g *groupMemory) {
	p, now := q.promises, q.group.Now()
	put := func(j *grid.LocalJob, start, end grid.Time) *promised {
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
		if put(&x.Job, x.Start, x.Start.Add(x.Job.Limit())) == nil {
			q.keeper.Broken(&x.Job, grid.Reason{Code: grid.Busy, Detail: "the promise was broken: there are fewer nodes"})
		}
	}
	q.armed = true
}

// loosenAll lets flexible legs and jobs move again, once all are back where they were.
func (b *Backend) loosenAll(m *memory) {
	for _, r := range b.order {
		if r.confirmed && !r.running {
			b.loosen(r)
		}
	}
	for i, q := range b.queues {
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
			if x.Due.Sub(x.Ready) > x.Job.Limit() {
				q.promises.Open(id, x.Ready, x.Due, fix)
			}
		}
	}
}

// Save adds the local jobs and the outages to an image.
func (b *Backend) Save(f *facts.ClusterImage) {
	if b.memory != nil {
		b.memory.save(f)
		return
	}
	for i, q := range b.queues {
		g := q.memory()
		g.Group, g.Submit, g.Taken = b.groups[i].Name, b.fed[i].Submit, b.fed[i].Taken
		f.Groups = append(f.Groups, g)
	}
	for _, o := range b.outages {
		if o.Until > b.now {
			f.Outages = append(f.Outages, o)
		}
	}
}

// memory is what an image keeps about a queue's jobs.
func (q *Queue) memory() (g facts.GroupMemory) {
	if q.promises != nil {
		return q.promisesMemory()
	}
	state := q.State()
	g.Waiting = make([]grid.LocalJob, 0, len(state.Queue))
	for i := range state.Queue {
		g.Waiting = append(g.Waiting, q.jobs[state.Queue[i].Ref].job)
	}
	for _, x := range q.ends {
		e := &q.jobs[x.ref]
		g.Running = append(g.Running, facts.RunningJob{Job: e.job, Start: e.start, End: e.plan})
	}
	slices.SortFunc(g.Running, func(a, b facts.RunningJob) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
	if q.predictor != nil {
		g.Learned = q.predictor.Save()
	}
	if q.past != nil {
		g.Shares = q.past.Save()
	}
	if !q.opt.Policy.InOrderOfArrival() {
		slices.SortFunc(g.Waiting, compareSubmit)
	}
	return g
}

// promisesMemory is what an image keeps about a group's promised local jobs.
func (q *Queue) promisesMemory() (g facts.GroupMemory) {
	g.Waiting = []grid.LocalJob{}
	for _, l := range q.promises.locals {
		x, _ := q.promises.Promise(l.id)
		if l.runs || l.again {
			g.Running = append(g.Running, facts.RunningJob{Job: l.job, Start: l.began, End: x.End()})
		} else {
			g.Promised = append(g.Promised, promisedJob("", &l.job, &x))
		}
	}
	slices.SortFunc(g.Running, func(a, b facts.RunningJob) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
	slices.SortFunc(g.Promised, func(a, b facts.JobPromised) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
	return g
}
