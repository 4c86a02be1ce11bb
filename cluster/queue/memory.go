package queue

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/fairshare"
)

// memory is what the facts of earlier lives say about local jobs and outages, collected
// during replay. It plans nothing: that a job started is a fact, and why it did does not
// matter.
type memory struct {
	groups  []*groupMemory
	index   map[string]*groupMemory
	outages []facts.NodesDown
}

// groupMemory is what is known about a group's local jobs.
type groupMemory struct {
	name     string
	priority []int // of each named queue
	waiting  map[int64]waitingJob
	running  map[int64]facts.RunningJob
	promised map[int64]facts.JobPromised
	fed      cluster.Mark
	number   int

	predictor *estimates.Predictor
	past      *fairshare.Past // nil: the policy does not ask for it
	ranked    bool            // the queue has an order other than that of arrival
}

// waitingJob is a job that waits, and its place in the order of arrival.
type waitingJob struct {
	grid.LocalJob
	number int
}

func newMemory(groups []grid.Group, options []Options) *memory {
	m := &memory{index: map[string]*groupMemory{}}
	for i, g := range groups {
		x := newGroupMemory(g.Name)
		x.predictor = estimates.New(options[i].Estimates)
		if options[i].Policy.ByOwner() && options[i].Promises == nil {
			x.past = fairshare.New(options[i].HalfLife)
		}
		x.ranked = !options[i].Policy.InOrderOfArrival()
		for _, q := range options[i].Queues {
			x.priority = append(x.priority, q.Priority)
		}
		m.groups = append(m.groups, x)
		m.index[g.Name] = x
	}
	return m
}

func newGroupMemory(name string) *groupMemory {
	return &groupMemory{name: name, waiting: map[int64]waitingJob{}, running: map[int64]facts.RunningJob{}, promised: map[int64]facts.JobPromised{},
		predictor: estimates.New(estimates.Request)}
}

// group is what is known about a group. For a group that no longer exists it is empty, and
// what is added to it is lost.
func (m *memory) group(name string) *groupMemory {
	if g := m.index[name]; g != nil {
		return g
	}
	return newGroupMemory(name)
}

// Replay applies a fact to the memory and returns when it happened: earlier than at if it
// was recorded late. The agent replays facts about locks.
func (b *Backend) Replay(at grid.Time, f agents.Fact) grid.Time {
	m := b.memory
	at = facts.Happened(at, f)
	switch f := f.(type) {
	case facts.ClusterImage:
		m.load(f)
		return f.At
	case facts.JobQueued:
		m.group(f.Group).queued(f.Job)
		return f.Job.Submit
	case facts.JobStarted:
		m.group(f.Group).started(at, f)
	case facts.JobEnded:
		m.group(f.Group).ended(at, f.Job)
	case facts.JobPromised:
		m.group(f.Group).promise(f)
	case facts.JobExtended:
		m.group(f.Group).extended(f)
	case facts.JobRefused:
		m.group(f.Group).refused(f)
		return f.Submit
	case facts.NodesDown:
		m.outages = append(slices.DeleteFunc(m.outages, func(o facts.NodesDown) bool { return o.Until <= at }), f)
	}
	return at
}

func (g *groupMemory) queued(j grid.LocalJob) {
	g.number++
	g.waiting[j.ID] = waitingJob{j, g.number}
	g.fed.Take(j.Submit)
}

func (g *groupMemory) started(at grid.Time, f facts.JobStarted) {
	if j, ok := g.waiting[f.Job]; ok {
		delete(g.waiting, f.Job)
		g.running[f.Job] = facts.RunningJob{Job: j.LocalJob, Start: at, End: f.End}
		if g.past != nil {
			g.past.Began(j.User, j.Nodes, at)
		}
	}
	if p, ok := g.promised[f.Job]; ok {
		delete(g.promised, f.Job)
		g.running[f.Job] = facts.RunningJob{Job: p.Job, Start: at, End: f.End}
	}
}

func (g *groupMemory) ended(at grid.Time, id int64) {
	if r, ok := g.running[id]; ok {
		delete(g.running, id)
		g.predictor.Learn(&r.Job, r.Job.Limit(), at.Sub(r.Start))
		if g.past != nil {
			g.past.Ended(r.Job.User, r.Job.Nodes, at)
		}
	}
}

func (g *groupMemory) extended(f facts.JobExtended) {
	if r, ok := g.running[f.Job]; ok {
		r.End = f.End
		g.running[f.Job] = r
	}
}

// refused notes a refused job: one from the feed, or one that waited before a restart.
func (g *groupMemory) refused(f facts.JobRefused) {
	if j, ok := g.waiting[f.Job]; ok && j.Submit == f.Submit && f.Reason.Code != grid.Conflict {
		delete(g.waiting, f.Job)
		return
	}
	if p, ok := g.promised[f.Job]; ok && p.Job.Submit == f.Submit && f.Reason.Code != grid.Conflict {
		delete(g.promised, f.Job)
		return
	}
	g.fed.Take(f.Submit)
}

// promise notes a local job's slot. The first one for a job means that it was taken from the
// feed.
func (g *groupMemory) promise(f facts.JobPromised) {
	if _, known := g.promised[f.Job.ID]; !known {
		g.fed.Take(f.Job.Submit)
	}
	g.promised[f.Job.ID] = f
}

// inQueueOrder lists the waiting jobs by priority, then arrival. With an order of
// its own, which may change all the time, it lists them by submission, then id.
func (g *groupMemory) inQueueOrder() []grid.LocalJob {
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
		if g.ranked {
			return compareSubmit(a.LocalJob, b.LocalJob)
		}
		return cmp.Or(cmp.Compare(priority(b), priority(a)), cmp.Compare(a.number, b.number))
	})
	list := make([]grid.LocalJob, len(sorted))
	for i := range sorted {
		list[i] = sorted[i].LocalJob
	}
	return list
}

func compareSubmit(a, b grid.LocalJob) int {
	return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
}

// inRunningOrder lists the running jobs, by id.
func (g *groupMemory) inRunningOrder() []facts.RunningJob {
	return slices.SortedFunc(maps.Values(g.running), func(a, b facts.RunningJob) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
}

// inPromiseOrder lists the local jobs that wait for their slots, by id.
func (g *groupMemory) inPromiseOrder() []facts.JobPromised {
	return slices.SortedFunc(maps.Values(g.promised), func(a, b facts.JobPromised) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
}

// save adds the memory to an image.
func (m *memory) save(f *facts.ClusterImage) {
	f.Outages = slices.Clone(m.outages)
	for _, g := range m.groups {
		x := facts.GroupMemory{Group: g.name, Waiting: g.inQueueOrder(), Running: g.inRunningOrder(),
			Promised: g.inPromiseOrder(), Submit: g.fed.Submit, Taken: g.fed.Taken, Learned: g.predictor.Save()}
		if g.past != nil {
			x.Shares = g.past.Save()
		}
		f.Groups = append(f.Groups, x)
	}
}

// load replaces the memory by that of an image.
func (m *memory) load(f facts.ClusterImage) {
	m.outages = slices.Clone(f.Outages)
	for _, g := range m.groups {
		g.fed = cluster.Mark{}
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
		g.fed = cluster.Mark{Submit: x.Submit, Taken: x.Taken}
		g.predictor.Load(x.Learned)
		if g.past != nil {
			g.past.Load(x.Shares)
		}
	}
}
