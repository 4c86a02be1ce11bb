package cluster

import (
	"bourse"
	"bourse/agents"
	"bourse/policy/backfill"
)

// DurableCluster is a simulated cluster that lives in real time and outlives its
// process: what it has locked, what runs and waits in it and what its site has
// not heard follows from its facts. Time passes for it while the process is
// down: at its next start it lives through what was due meanwhile, at the true
// instants, before it hears anything. docs/decisions/0010 says why facts of
// effects, and not of messages.
//
// A configuration that has changed between two lives is taken as it is: what no
// longer fits on the nodes is lost, reservations last.
type DurableCluster struct {
	*Cluster
	cfg    ClusterConfig
	memory *clusterMemory // until it is started; then the Cluster has it all
	fed    []mark         // by group
	begun  bourse.Time    // of its local work
}

// ClusterConfig is what a durable cluster is made of.
type ClusterConfig struct {
	Site   agents.ID // whom it tells
	Groups []bourse.Group
	Queues []QueueOptions // in the order of the groups; their Start is not looked at
	Work   Work           // nil: no local jobs
}

// Work feeds a group of a cluster its local jobs, in order of submit, those
// submitted at after or later; the zero of the work's own clock is begun. The
// same arguments give the same jobs, in every life.
type Work func(group int, begun, after bourse.Time) func() (bourse.LocalJob, bool)

// missed is how far back local jobs are taken in that were submitted while the
// cluster was down: the users of one that is away for longer go elsewhere.
const missed = bourse.Hour

// NewDurableCluster returns a cluster that has not begun to live: facts may be
// replayed, then it wants Started.
func NewDurableCluster(cfg ClusterConfig) *DurableCluster {
	return &DurableCluster{cfg: cfg, memory: newClusterMemory(cfg)}
}

// Replay applies a fact of an earlier life.
func (d *DurableCluster) Replay(at bourse.Time, f agents.Fact) { d.memory.apply(at, f) }

// Step hands the cluster one message.
func (d *DurableCluster) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if m, ok := m.(agents.Started); ok {
		d.start(now, m, out)
		return
	}
	d.Cluster.Step(now, from, m, out)
}

// start brings the cluster back as it was, then lives through what has been due
// since.
func (d *DurableCluster) start(now bourse.Time, m agents.Started, out *agents.Outbox) {
	memory := d.memory
	if !memory.fed {
		memory.fed, memory.begun, memory.at = true, now, now
		out.Record(bourse.WorkBegun{At: now})
	}
	memory.at = min(memory.at, now)
	queues := make([]*Queue, len(d.cfg.Groups))
	for i, opt := range d.cfg.Queues {
		opt.Start = memory.at
		queues[i] = NewQueue(opt)
	}
	c := NewCluster(d.cfg.Site, d.cfg.Groups, queues)
	d.Cluster, d.memory, d.begun = c, nil, memory.begun
	c.out, c.now, c.durable = out, now, true
	c.version = max(m.Nonce, 1) // of no earlier life
	d.fed = make([]mark, len(queues))
	c.restore(memory)
	for i, q := range queues {
		d.fed[i] = memory.groups[i].fed
		q.Watch(&keptWatch{watch{c, d.cfg.Groups[i].Name}, &d.fed[i], false})
		q.resume(memory.groups[i])
		q.keeper.(*keptWatch).lives = true
	}
	c.loosenAll(memory)
	for i, q := range queues {
		d.feed(i, q, now)
	}
	c.remindAgain(now, remind{firstWait / 2})
	c.live(now)
	c.arm(now)
}

// feed gives a group the jobs that it has not had yet.
func (d *DurableCluster) feed(group int, q *Queue, now bourse.Time) {
	if d.cfg.Work == nil {
		return
	}
	had := d.fed[group]
	if early := now.Add(-missed); had.submit < early {
		had = mark{submit: early}
	}
	had.submit = max(had.submit, d.begun)
	next := d.cfg.Work(group, d.begun, had.submit)
	q.Feed(func() (bourse.LocalJob, bool) {
		for {
			j, ok := next()
			if ok && j.Submit == had.submit && had.taken > 0 {
				had.taken--
				continue
			}
			j.Submit = max(j.Submit, q.group.Now())
			return j, ok
		}
	})
}

// Image returns all that the cluster keeps as one fact.
func (d *DurableCluster) Image() agents.Fact {
	if d.memory != nil {
		return d.memory.image()
	}
	c := d.Cluster
	f := bourse.ClusterImage{At: c.now, Begun: d.begun, Fed: true}
	for i, q := range c.queues {
		g := q.memory()
		g.Group, g.Submit, g.Taken = c.groups[i].Name, d.fed[i].submit, d.fed[i].taken
		f.Groups = append(f.Groups, g)
	}
	f.Locks = c.lockMemories()
	for _, r := range c.past.line {
		f.Past = append(f.Past, bourse.ReleasedLeg{Leg: r.leg, At: r.at})
	}
	for _, o := range c.outages {
		if o.Until > c.now {
			f.Outages = append(f.Outages, o)
		}
	}
	return f
}

// mark says how far a group has been fed: the submit of the last job taken, and
// how many of that submit there were.
type mark struct {
	submit bourse.Time
	taken  int
}

func (m *mark) take(submit bourse.Time) {
	if submit != m.submit {
		*m = mark{submit: submit}
	}
	m.taken++
}

// keptWatch is the watch of a durable cluster: a restart must know of jobs that
// wait, and how far the queue has been fed.
type keptWatch struct {
	watch
	fed   *mark
	lives bool // what is queued is new
}

// Queued records that a job waits.
func (w *keptWatch) Queued(j *bourse.LocalJob) {
	if w.lives {
		w.fed.take(j.Submit)
		w.out.Record(bourse.JobQueued{Group: w.group, Job: *j})
	}
}

// Refused records that a job never entered the queue or, after a restart with
// fewer nodes, that it waits no longer.
func (w *keptWatch) Refused(j *bourse.LocalJob, why bourse.Reason) {
	if w.lives {
		w.fed.take(j.Submit)
	}
	w.watch.Refused(j, why)
}

// Extended records that a job's planned end has moved.
func (w *keptWatch) Extended(j *bourse.LocalJob, end bourse.Time) {
	w.out.Record(bourse.JobExtended{Job: j.ID, Group: w.group, End: end, When: w.when(end.Add(-estimate(j)))})
}

// resume has a queue without jobs go on with those of an earlier life.
func (q *Queue) resume(g *groupMemory) {
	if q.promises != nil {
		q.resumePromises(g)
		return
	}
	for _, r := range g.inRunningOrder() {
		ref := q.keep(&r.Job)
		e := &q.jobs[ref]
		e.start, e.plan = r.Start, r.End
		if !q.group.Resume(backfill.Running{ID: r.Job.ID, Nodes: r.Job.Nodes, Start: r.Start, End: r.End}) {
			q.watcher.Ended(&e.job, r.Start, q.group.Now(), true)
			q.drop(ref)
			continue
		}
		q.ends.push(end{min(r.Start.Add(max(r.Job.Run, 0)), r.End), r.Job.ID, ref})
	}
	for _, j := range g.inQueueOrder() {
		q.enter(&j)
	}
	q.armed = true
}
