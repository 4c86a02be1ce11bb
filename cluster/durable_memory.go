package cluster

import (
	"cmp"
	"maps"
	"slices"

	"bourse"
	"bourse/agents"
)

// clusterMemory is what the facts of a durable cluster say, gathered while they
// are replayed. It plans nothing: that a job was started is a fact, why it was
// is forgotten.
type clusterMemory struct {
	at      bourse.Time // of what happened last: nothing has since
	begun   bourse.Time
	fed     bool
	groups  []*groupMemory
	index   map[string]*groupMemory
	locks   map[bourse.LegID]*lockMemory
	past    past
	outages []bourse.NodesDown
	number  int // raised by every lock and every confirmation
}

// groupMemory is what is known of a group's local jobs.
type groupMemory struct {
	name     string
	priority []int // of each named queue
	waiting  map[int64]waitingJob
	running  map[int64]bourse.RunningJob
	promised map[int64]bourse.JobPromised
	fed      mark
	number   int
}

// waitingJob is a job that waits, and its place in the order of arrival.
type waitingJob struct {
	bourse.LocalJob
	number int
}

type lockMemory struct {
	bourse.LockMemory
	number int
}

func newClusterMemory(cfg ClusterConfig) *clusterMemory {
	m := &clusterMemory{index: map[string]*groupMemory{}, locks: map[bourse.LegID]*lockMemory{}}
	for i, g := range cfg.Groups {
		x := &groupMemory{name: g.Name, waiting: map[int64]waitingJob{}, running: map[int64]bourse.RunningJob{}, promised: map[int64]bourse.JobPromised{}}
		for _, q := range cfg.Queues[i].Queues {
			x.priority = append(x.priority, q.Priority)
		}
		m.groups = append(m.groups, x)
		m.index[g.Name] = x
	}
	return m
}

// group is what is known of a group, nothing of one that there is no more.
func (m *clusterMemory) group(name string) *groupMemory {
	if g := m.index[name]; g != nil {
		return g
	}
	return &groupMemory{waiting: map[int64]waitingJob{}, running: map[int64]bourse.RunningJob{}, promised: map[int64]bourse.JobPromised{}}
}

// apply brings the memory up to a fact that was recorded at an instant.
func (m *clusterMemory) apply(at bourse.Time, f agents.Fact) {
	own := at // when it happened: earlier, where it was recorded late
	switch f := f.(type) {
	case bourse.ClusterImage:
		m.load(f)
		own = f.At
	case bourse.WorkBegun:
		m.begun, m.fed = f.At, true
	case bourse.JobQueued:
		m.group(f.Group).queued(f.Job)
		own = f.Job.Submit
	case bourse.JobStarted:
		own = cmp.Or(f.Begun, at)
		m.group(f.Group).started(own, f)
	case bourse.JobEnded:
		delete(m.group(f.Group).running, f.Job)
		own = cmp.Or(f.Ended, at)
	case bourse.JobPromised:
		m.group(f.Group).promise(f)
		own = cmp.Or(f.When, at)
	case bourse.NodesMoved:
		m.nodesMoved(f)
		own = cmp.Or(f.When, at)
	case bourse.JobExtended:
		m.group(f.Group).extended(f)
		own = cmp.Or(f.When, at)
	case bourse.JobRefused:
		m.group(f.Group).refused(f)
		own = f.Submit
	case bourse.NodesLocked:
		m.number++
		m.locks[f.Leg] = &lockMemory{bourse.LockMemory{NodesLocked: f, State: bourse.LockHeld}, m.number}
	case bourse.NodesFreed:
		m.standAlone(f.Leg)
		own = cmp.Or(f.When, at)
	case bourse.LockMoved:
		own = cmp.Or(f.When, at)
		m.lockMoved(own, f)
	case bourse.NodesDown:
		m.outages = append(slices.DeleteFunc(m.outages, func(o bourse.NodesDown) bool { return o.Until <= at }), f)
	}
	m.at = max(m.at, own)
}

func (m *clusterMemory) lockMoved(at bourse.Time, f bourse.LockMoved) {
	l := m.locks[f.Leg]
	if f.State == bourse.LockReleased {
		m.past.add(at, f.Leg)
	}
	switch {
	case l == nil:
	case f.State == bourse.LockReleased, f.State == bourse.LockExpired:
		delete(m.locks, f.Leg)
	case f.State == bourse.LockHeard:
		l.Heard = true
	default:
		l.State = f.State
	}
	switch f.State {
	case bourse.LockConfirmed:
		m.number++
		if l != nil {
			l.Agreed, l.Ends = m.number, max(l.Ends, at)
		}
	case bourse.LockEnded:
		if l != nil {
			l.Ends, l.Beside = at, bourse.LegID{}
		}
	case bourse.LockLost:
		if l != nil {
			l.Beside = bourse.LegID{}
		}
	}
}

// standAlone has the locks that counted on the nodes of another one count on
// them no more.
func (m *clusterMemory) standAlone(id bourse.LegID) {
	for _, l := range m.locks {
		if l.Beside == id {
			l.Beside = bourse.LegID{}
		}
	}
}

func (g *groupMemory) queued(j bourse.LocalJob) {
	g.number++
	g.waiting[j.ID] = waitingJob{j, g.number}
	g.fed.take(j.Submit)
}

func (g *groupMemory) started(at bourse.Time, f bourse.JobStarted) {
	if j, ok := g.waiting[f.Job]; ok {
		delete(g.waiting, f.Job)
		g.running[f.Job] = bourse.RunningJob{Job: j.LocalJob, Start: at, End: f.End}
	}
	if p, ok := g.promised[f.Job]; ok {
		delete(g.promised, f.Job)
		g.running[f.Job] = bourse.RunningJob{Job: p.Job, Start: at, End: f.End}
	}
}

func (g *groupMemory) extended(f bourse.JobExtended) {
	if r, ok := g.running[f.Job]; ok {
		r.End = f.End
		g.running[f.Job] = r
	}
}

// refused takes note of a job that was turned away: one of the feed, or one that
// waited before a restart.
func (g *groupMemory) refused(f bourse.JobRefused) {
	if j, ok := g.waiting[f.Job]; ok && j.Submit == f.Submit && f.Reason.Code != bourse.Conflict {
		delete(g.waiting, f.Job)
		return
	}
	if p, ok := g.promised[f.Job]; ok && p.Job.Submit == f.Submit && f.Reason.Code != bourse.Conflict {
		delete(g.promised, f.Job)
		return
	}
	g.fed.take(f.Submit)
}

// inQueueOrder lists the jobs that wait: by priority, then arrival.
func (g *groupMemory) inQueueOrder() []bourse.LocalJob {
	priority := func(j waitingJob) int {
		switch {
		case len(g.priority) == 0:
			return 0
		case j.Queue > 0 && j.Queue < len(g.priority):
			return g.priority[j.Queue]
		}
		return g.priority[0]
	}
	sorted := slices.SortedFunc(maps.Values(g.waiting), func(a, b waitingJob) int {
		return cmp.Or(cmp.Compare(priority(b), priority(a)), cmp.Compare(a.number, b.number))
	})
	list := make([]bourse.LocalJob, len(sorted))
	for i := range sorted {
		list[i] = sorted[i].LocalJob
	}
	return list
}

// inRunningOrder lists the jobs that run, by id.
func (g *groupMemory) inRunningOrder() []bourse.RunningJob {
	return slices.SortedFunc(maps.Values(g.running), func(a, b bourse.RunningJob) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
}

// inLockOrder lists the locks in the order in which they were made.
func (m *clusterMemory) inLockOrder() []*lockMemory {
	return slices.SortedFunc(maps.Values(m.locks), func(a, b *lockMemory) int { return cmp.Compare(a.number, b.number) })
}

// image is the memory as one fact.
func (m *clusterMemory) image() bourse.ClusterImage {
	f := bourse.ClusterImage{At: m.at, Begun: m.begun, Fed: m.fed, Outages: slices.Clone(m.outages)}
	for _, g := range m.groups {
		f.Groups = append(f.Groups, bourse.GroupMemory{Group: g.name, Waiting: g.inQueueOrder(), Running: g.inRunningOrder(),
			Promised: g.inPromiseOrder(), Submit: g.fed.submit, Taken: g.fed.taken})
	}
	for _, l := range m.inLockOrder() {
		f.Locks = append(f.Locks, l.LockMemory)
	}
	rank(f.Locks)
	for _, r := range m.past.line {
		f.Past = append(f.Past, bourse.ReleasedLeg{Leg: r.leg, At: r.at})
	}
	return f
}

// rank numbers the confirmed locks from 1 in the order in which they were.
func rank(locks []bourse.LockMemory) {
	var agreed []*bourse.LockMemory
	for i := range locks {
		if locks[i].Agreed > 0 {
			agreed = append(agreed, &locks[i])
		}
	}
	slices.SortFunc(agreed, func(a, b *bourse.LockMemory) int { return cmp.Compare(a.Agreed, b.Agreed) })
	for i, l := range agreed {
		l.Agreed = i + 1
	}
}

// load begins with an image.
func (m *clusterMemory) load(f bourse.ClusterImage) {
	m.at, m.begun, m.fed, m.outages, m.past = f.At, f.Begun, f.Fed, slices.Clone(f.Outages), past{}
	for _, g := range m.groups {
		g.fed = mark{}
		clear(g.waiting)
		clear(g.promised)
		clear(g.running)
	}
	for _, x := range f.Groups {
		g := m.group(x.Group)
		for _, j := range x.Waiting {
			g.queued(j)
		}
		for _, r := range x.Running {
			g.running[r.Job.ID] = r
		}
		for _, p := range x.Promised {
			g.promised[p.Job.ID] = p
		}
		g.fed = mark{x.Submit, x.Taken}
	}
	clear(m.locks)
	m.number = len(f.Locks)
	for i, l := range f.Locks {
		m.locks[l.Leg] = &lockMemory{l, i + 1}
		m.number = max(m.number, l.Agreed)
	}
	for _, r := range f.Past {
		m.past.add(r.At, r.Leg)
	}
}
