package cluster

import (
	"cmp"
	"maps"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/admission"
)

// DurableSharedCluster is a SharedCluster that lives in real time and outlives its
// process: what it has taken, on which nodes, and what its site has not heard
// follows from its facts (docs/decisions/0010). A replay decides nothing: it puts
// work where it was put, and what the nodes have done since follows by reckoning.
// Time passes for it while the process is down, as for a DurableCluster.
//
// A configuration that has changed between two lives is taken as it is: work that
// has lost one of its nodes is lost.
type DurableSharedCluster struct {
	*SharedCluster
	cfg    SharedConfig
	begun  bourse.Time // of its local work
	works  bool        // that has begun
	marks  []mark      // how far each group has been fed, until it is started
	reckon []overdue   // what has ended by the reckoning and is not on record yet
	gone   []int64     // whose nodes there are no more
}

// overdue is work that has ended.
type overdue struct {
	at bourse.Time
	id int64
}

// SharedConfig is what a durable cluster of deadlines is made of.
type SharedConfig struct {
	Site    agents.ID // whom it tells
	Groups  []bourse.Group
	Options SharedOptions
	Work    DeadlineWork // nil: no local jobs
}

// DeadlineWork feeds a group its local jobs, as Work does.
type DeadlineWork func(group int, begun, after bourse.Time) func() (DeadlineJob, bool)

// NewDurableSharedCluster returns a cluster that has not begun to live: facts may
// be replayed, then it wants Started. The options must be such as admission.New
// takes.
func NewDurableSharedCluster(cfg SharedConfig) *DurableSharedCluster {
	return &DurableSharedCluster{cfg: cfg, SharedCluster: NewSharedCluster(cfg.Site, cfg.Groups, cfg.Options, nil), marks: make([]mark, len(cfg.Groups))}
}

// Step hands the cluster one message.
func (d *DurableSharedCluster) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if m, ok := m.(agents.Started); ok {
		d.start(now, m, out)
		return
	}
	d.SharedCluster.Step(now, from, m, out)
}

// start records what the reckoning has found beyond the facts, then lives through
// what has been due since.
func (d *DurableSharedCluster) start(now bourse.Time, m agents.Started, out *agents.Outbox) {
	c, last := d.SharedCluster, d.now
	if !d.works {
		d.works, d.begun, last = true, now, now
		out.Record(bourse.WorkBegun{At: now})
	}
	last = min(last, now)
	c.out, c.now, c.fed = out, now, d.marks
	c.version = max(m.Nonce, 1) // of no earlier life
	slices.Sort(d.gone)
	for _, id := range slices.Compact(d.gone) {
		c.abandon(now, id)
	}
	for _, e := range d.reckon {
		c.happened(e.at, admission.Event{Job: e.id, Kind: admission.Ended})
	}
	d.gone, d.reckon = nil, nil
	for _, s := range c.servers {
		if s.Now() < last {
			s.Advance(last)
		}
	}
	c.pass(last)
	for i := range c.feeds {
		c.feeds[i] = newDeadlineFeed(d.feed(i, last, now))
	}
	c.remindAgain(now, remind{firstWait / 2})
	c.live(now)
	c.pass(now)
	c.arm(now)
}

// feed gives a group the jobs that it has not had yet.
func (d *DurableSharedCluster) feed(group int, last, now bourse.Time) func() (DeadlineJob, bool) {
	if d.cfg.Work == nil {
		return func() (j DeadlineJob, ok bool) { return j, false }
	}
	had := d.marks[group]
	if early := now.Add(-missed); had.submit < early {
		had = mark{submit: early}
	}
	had.submit = max(had.submit, d.begun)
	next := d.cfg.Work(group, d.begun, had.submit)
	return func() (DeadlineJob, bool) {
		for {
			j, ok := next()
			if ok && j.Submit == had.submit && had.taken > 0 {
				had.taken--
				continue
			}
			j.Submit = max(j.Submit, last)
			return j, ok
		}
	}
}

// abandon gives up work whose nodes are gone.
func (c *SharedCluster) abandon(now bourse.Time, id int64) {
	if j := c.jobs[id]; j != nil {
		delete(c.jobs, id)
		c.out.Record(bourse.JobEnded{Job: j.ID, Group: c.groups[j.group].Name, Nodes: j.Nodes, Submit: j.Submit,
			Start: j.start, Killed: true, Due: j.Deadline})
	} else if l := c.numbered(id); l != nil && l.state < ended {
		l.state = lost
		c.moved(now, l.leg, bourse.LockLost)
		c.tell(l)
	}
}

// Replay applies a fact of an earlier life.
func (d *DurableSharedCluster) Replay(at bourse.Time, f agents.Fact) {
	switch f := f.(type) {
	case bourse.ClusterImage:
		d.load(f)
	case bourse.WorkBegun:
		d.begun, d.works = f.At, true
		d.reach(f.At)
	case bourse.TasksPlaced:
		d.reach(cmp.Or(f.When, at))
		d.place(f)
	case bourse.JobEnded:
		d.reach(cmp.Or(f.Ended, at))
		d.over(f)
	case bourse.JobRefused:
		d.turnedAway(f)
	case bourse.LockMoved:
		d.reach(cmp.Or(f.When, at))
		d.lockMoved(f)
	}
}

// reach moves the reckoning to an instant of the past.
func (d *DurableSharedCluster) reach(t bourse.Time) {
	t = max(t, d.now)
	for next := d.due(); next <= t; next = d.due() {
		for _, s := range d.servers {
			for _, e := range s.Advance(next) {
				d.reckon = append(d.reckon, overdue{next, e.Job})
			}
		}
	}
	for _, s := range d.servers {
		s.Advance(t)
	}
	d.now = t
}

// due is when the next work ends by the reckoning.
func (d *DurableSharedCluster) due() bourse.Time {
	next := bourse.Never
	for _, s := range d.servers {
		next = min(next, s.Next())
	}
	return next
}

// group is the number of a group, below 0 if there is none of that name any more.
func (c *SharedCluster) group(name string) int {
	return slices.IndexFunc(c.groups, func(g bourse.Group) bool { return g.Name == name })
}

// place puts work where it was put.
func (d *DurableSharedCluster) place(f bourse.TasksPlaced) {
	d.number = max(d.number, f.Number)
	group := d.group(f.Group)
	if d.jobs[f.Number] == nil && d.numbered(f.Number) == nil {
		d.know(max(group, 0), f)
		if f.Leg == (bourse.LegID{}) && group >= 0 {
			d.marks[group].take(f.Job.Submit)
		}
	}
	if group < 0 || !d.servers[group].Place(d.work(f.Number), f.Run, f.Nodes) {
		d.gone = append(d.gone, f.Number)
		return
	}
	if len(f.Nodes) > 0 {
		d.begins(f.Number, d.now)
	}
}

// know takes work into the books.
func (d *DurableSharedCluster) know(group int, f bourse.TasksPlaced) {
	if f.Leg == (bourse.LegID{}) {
		d.jobs[f.Number] = &sharedJob{DeadlineJob: DeadlineJob{LocalJob: f.Job, Deadline: f.Deadline}, group: group, start: f.Start}
		return
	}
	l := &sharedLeg{leg: f.Leg, number: f.Number, group: group, what: f.What, run: f.Run, began: f.Start > 0}
	d.shares[f.Leg] = l
	d.order = append(d.order, l)
}

// work is what the admission knows of work.
func (c *SharedCluster) work(id int64) admission.Job {
	if j := c.jobs[id]; j != nil {
		return admission.Job{ID: id, Nodes: j.Nodes, Estimate: j.Estimate, Deadline: j.Deadline}
	}
	l := c.numbered(id)
	return admission.Job{ID: id, Nodes: l.what.Nodes, Estimate: l.what.Work, Deadline: l.what.End}
}

// begins notes that work has begun.
func (d *DurableSharedCluster) begins(id int64, at bourse.Time) {
	if j := d.jobs[id]; j != nil {
		j.start = at
	} else if l := d.numbered(id); l != nil {
		if l.began = true; l.state == reserved {
			l.state = running
		}
	}
}

// recorded strikes off what is on record as ended; where the reckoning has it work
// still, it ends now.
func (d *DurableSharedCluster) recorded(group int, id int64) {
	d.reckon = slices.DeleteFunc(d.reckon, func(e overdue) bool { return e.id == id })
	d.gone = slices.DeleteFunc(d.gone, func(x int64) bool { return x == id })
	d.servers[group].End(id)
}

// over ends a local job.
func (d *DurableSharedCluster) over(f bourse.JobEnded) {
	if id, j := d.named(f.Group, f.Job); j != nil {
		d.recorded(j.group, id)
		delete(d.jobs, id)
		d.count(j.group, d.now, j.Deadline)
	}
}

// turnedAway takes note of a job that was refused as it came, or dropped later.
func (d *DurableSharedCluster) turnedAway(f bourse.JobRefused) {
	if id, j := d.named(f.Group, f.Job); j != nil && j.start == 0 && f.Reason.Code != bourse.Conflict {
		d.recorded(j.group, id)
		delete(d.jobs, id)
	} else if group := d.group(f.Group); group >= 0 {
		d.marks[group].take(f.Submit)
	}
}

// named is a local job that waits or runs; none has the name of another one.
func (d *DurableSharedCluster) named(group string, job int64) (int64, *sharedJob) {
	for id, j := range d.jobs { // at most one
		if j.ID == job && d.groups[j.group].Name == group {
			return id, j
		}
	}
	return 0, nil
}

func (d *DurableSharedCluster) lockMoved(f bourse.LockMoved) {
	l := d.shares[f.Leg]
	switch {
	case f.State == bourse.LockReleased:
		if l != nil {
			d.recorded(l.group, l.number)
		}
		d.giveUp(d.now, f.Leg)
	case l == nil:
	case f.State == bourse.LockConfirmed && l.state == locked:
		l.agree()
	case f.State == bourse.LockHeard:
		l.heard = true
	case f.State == bourse.LockEnded:
		d.recorded(l.group, l.number)
		d.count(l.group, d.now, l.what.End)
		if l.ends = d.now; l.state != locked {
			l.state = ended
		}
	case f.State == bourse.LockLost:
		d.recorded(l.group, l.number)
		l.state = lost
	}
}

// Image returns all that the cluster keeps as one fact.
func (d *DurableSharedCluster) Image() agents.Fact {
	c, marks := d.SharedCluster, d.marks
	f := bourse.ClusterImage{At: c.now, Begun: d.begun, Fed: d.works}
	for i, s := range c.servers {
		m := bourse.ServerMemory{Group: c.groups[i].Name, Number: c.number, Submit: marks[i].submit, Taken: marks[i].taken, Kept: c.kept[i].Kept, Missed: c.kept[i].Missed}
		s.Save(&m)
		f.Servers = append(f.Servers, m)
	}
	for _, id := range slices.Sorted(maps.Keys(c.jobs)) {
		j := c.jobs[id]
		m := &f.Servers[j.group]
		m.Placed = append(m.Placed, bourse.TasksPlaced{Number: id, Job: j.LocalJob, Deadline: j.Deadline, Run: j.Run, Start: j.start})
	}
	for _, l := range c.order {
		if c.shares[l.leg] != l {
			continue
		}
		x := bourse.LockMemory{NodesLocked: bourse.NodesLocked{Leg: l.leg, What: l.what, Ends: l.ends}, State: nameOf[l.state], Heard: l.heard, Number: l.number}
		f.Locks = append(f.Locks, x)
		p := bourse.TasksPlaced{Number: l.number, Leg: l.leg, Run: l.run}
		if l.began {
			p.Start = max(c.now, 1)
		}
		f.Servers[l.group].Placed = append(f.Servers[l.group].Placed, p)
	}
	for _, r := range c.past.line {
		f.Past = append(f.Past, bourse.ReleasedLeg{Leg: r.leg, At: r.at})
	}
	return f
}

// load begins with an image.
func (d *DurableSharedCluster) load(f bourse.ClusterImage) {
	*d = *NewDurableSharedCluster(d.cfg)
	d.now, d.begun, d.works = f.At, f.Begun, f.Fed
	placed, group := map[int64]bourse.TasksPlaced{}, map[int64]int{}
	for _, m := range f.Servers {
		i := d.group(m.Group)
		d.number = max(d.number, m.Number)
		has := map[int64]bool{}
		for _, n := range m.Nodes {
			for _, t := range n.Tasks {
				has[t.Number] = true
			}
		}
		for _, r := range m.Running {
			has[r.Number] = true
		}
		for _, w := range m.Waiting {
			has[w.Number] = true
		}
		for _, p := range m.Placed {
			placed[p.Number], group[p.Number] = p, max(i, 0)
			d.number = max(d.number, p.Number)
			switch {
			case i < 0:
				d.gone = append(d.gone, p.Number)
			case p.Leg == (bourse.LegID{}):
				d.know(i, p)
				if !has[p.Number] {
					d.reckon = append(d.reckon, overdue{f.At, p.Number})
				}
			}
		}
		if i < 0 {
			continue
		}
		d.gone = append(d.gone, d.servers[i].Restore(&m)...)
		d.marks[i] = mark{m.Submit, m.Taken}
		d.kept[i] = Deadlines{m.Kept, m.Missed}
	}
	for _, x := range f.Locks {
		p := placed[x.Number]
		p.What = x.What
		d.know(group[x.Number], p)
		l := d.shares[x.Leg]
		l.state, l.heard, l.ends = stateOf[x.State], x.Heard, x.Ends
	}
	slices.SortFunc(d.order, func(a, b *sharedLeg) int { return cmp.Compare(a.number, b.number) })
	for _, r := range f.Past {
		d.past.add(r.At, r.Leg)
	}
	for _, s := range d.servers {
		if s.Now() < d.now {
			s.Advance(min(d.now, s.Next()))
		}
	}
}

// placed records where work was put, for the next life.
func (c *SharedCluster) placed(now bourse.Time, group int, id int64, nodes []int) {
	if c.fed == nil {
		return
	}
	f := bourse.TasksPlaced{Group: c.groups[group].Name, Number: id, Nodes: slices.Clone(nodes), When: c.when(now)}
	if j := c.jobs[id]; j != nil {
		f.Job, f.Deadline, f.Run = j.LocalJob, j.Deadline, j.Run
	} else if l := c.numbered(id); l != nil {
		f.Leg, f.What, f.Deadline, f.Run = l.leg, l.what, l.what.End, l.run
	}
	c.out.Record(f)
}

// moved records what has become of a leg, for the next life.
func (c *SharedCluster) moved(now bourse.Time, id bourse.LegID, to bourse.LockState) {
	if c.fed != nil {
		c.out.Record(bourse.LockMoved{Leg: id, State: to, When: c.when(now)})
	}
}

// when is what a fact says of its own instant: nothing, 0, if that is now.
func (c *SharedCluster) when(at bourse.Time) bourse.Time {
	if at == c.now {
		return 0
	}
	return at
}
