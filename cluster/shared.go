package cluster

import (
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/admission"
)

// SharedCluster is the simulated cluster of a site that takes work with deadlines
// in place of reservations: its nodes are time-shared (Libra, LibraRisk), or serve
// whoever must end first (EDF), by policy/admission. It answers the messages that
// Cluster answers, but knows no slots: what it locks for a leg is a share, which
// it gives or refuses at once, and which works from then on until it is done,
// released, or, under EDF, dropped. Its groups are admitted to each by itself.
//
// Of one instant what ends comes first, then local jobs that arrive, then the
// messages of its site; under EDF whoever can start does so after each of these.
type SharedCluster struct {
	site    agents.ID
	groups  []bourse.Group
	servers []admission.Server // by group
	feeds   []deadlineFeed     // of local jobs that have not come yet, by group
	jobs    map[int64]*sharedJob
	shares  map[bourse.LegID]*sharedLeg
	order   []*sharedLeg // one that is no more stays until half are
	past    past
	number  int64  // of the last job or leg
	version uint64 // raised by every change
	armed   bourse.Time
	reminds bool
	kept    []Deadlines // by group
	now     bourse.Time
	out     *agents.Outbox
	// fed has it record what a restart needs, and says how far each group has been
	// fed; nil: it lives as long as its process. See DurableSharedCluster.
	fed []mark
}

// deadlineFeed hands out local jobs in order of submission.
type deadlineFeed struct {
	head DeadlineJob // the next one, if there is one
	more bool
	next func() (DeadlineJob, bool)
}

func (f *deadlineFeed) pull() { f.head, f.more = f.next() }

func newDeadlineFeed(next func() (DeadlineJob, bool)) deadlineFeed {
	f := deadlineFeed{next: next}
	f.pull()
	return f
}

// SharedOptions say how a SharedCluster serves.
type SharedOptions struct {
	Control        admission.Control
	RefuseLoneLate bool // see admission.Options
	Limit          int  // EDF: jobs that wait in a group; more are refused
}

// DeadlineJob is a local job that should end by a deadline. What it runs and is
// estimated to run are of a node of performance 1 to itself.
type DeadlineJob struct {
	bourse.LocalJob
	Deadline bourse.Time
}

// Deadlines counts what has become of the deadlines of work that was taken, legs
// and local jobs together.
type Deadlines struct{ Kept, Missed int }

// sharedJob is a local job that waits or runs.
type sharedJob struct {
	DeadlineJob
	group int
	start bourse.Time // 0: it waits
}

// sharedLeg is what is kept for a leg.
type sharedLeg struct {
	leg    bourse.LegID
	number int64
	group  int
	what   bourse.Leg
	run    bourse.Duration // what it really takes
	began  bool            // it works
	state  lockState
	ends   bourse.Time // ended: when
	heard  bool
}

// NewSharedCluster returns the cluster of a site, and its local jobs in order of
// submission, by group. The options must be such as admission.New takes.
func NewSharedCluster(site agents.ID, groups []bourse.Group, opt SharedOptions, local [][]DeadlineJob) *SharedCluster {
	c := &SharedCluster{site: site, groups: groups, jobs: map[int64]*sharedJob{}, kept: make([]Deadlines, len(groups)),
		shares: map[bourse.LegID]*sharedLeg{}, version: 1, armed: bourse.Never}
	for _, g := range groups {
		s, err := admission.New(admission.Options{Control: opt.Control, RefuseLoneLate: opt.RefuseLoneLate, Queue: opt.Limit,
			Nodes: slices.Repeat([]bourse.Performance{g.Performance}, g.Nodes)}, 0)
		if err != nil {
			panic(fmt.Sprintf("cluster: group %s of %s: %v", g.Name, site, err))
		}
		c.servers = append(c.servers, s)
	}
	for i := range groups {
		var list []DeadlineJob
		if i < len(local) {
			list = local[i]
		}
		c.feeds = append(c.feeds, newDeadlineFeed(func() (j DeadlineJob, ok bool) {
			if len(list) == 0 {
				return j, false
			}
			j, list = list[0], list[1:]
			return j, true
		}))
	}
	return c
}

// Step hands the cluster one message.
func (c *SharedCluster) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	c.out, c.now = out, now
	if _, ok := m.(tick); ok && now >= c.armed {
		c.armed = bourse.Never
	}
	c.live(now)
	switch m := m.(type) {
	case agents.Started, tick:
	case remind:
		c.remindAgain(now, m)
	case agents.SnapshotRequest:
		c.snapshot(from, m)
	case agents.ClusterInventory:
		c.inventory(from, m)
	case agents.ClusterHold:
		out.Send(from, agents.ClusterHeld{Leg: m.Leg, Refusal: c.hold(now, m)})
	case agents.ClusterConfirm:
		c.confirm(now, from, m.Leg)
	case agents.ClusterRelease:
		c.release(now, m.Leg)
		out.Send(from, agents.ClusterDone{Leg: m.Leg, Step: m.Kind()})
	case agents.ClusterHeard:
		if l := c.shares[m.Leg]; l != nil && !l.heard {
			l.heard = true
			c.moved(now, l.leg, bourse.LockHeard)
		}
	default:
		panic(fmt.Sprintf("cluster: shared cluster of %s got %s from %s", c.site, m.Kind(), from))
	}
	c.pass(now)
	c.arm(now)
}

// live lives through every instant up to now at which something is due by itself.
func (c *SharedCluster) live(now bourse.Time) {
	for t := c.next(); t <= now; t = c.next() {
		c.instant(t)
	}
	for _, s := range c.servers {
		s.Advance(now)
	}
}

// arm sets the alarm for the next turn, unless one as early is on its way.
func (c *SharedCluster) arm(now bourse.Time) {
	if next := max(c.next(), now); next < c.armed {
		c.armed = next
		c.out.Alarm(next, tick{})
	}
}

// next is the next instant at which something is due by itself, or Never.
func (c *SharedCluster) next() bourse.Time {
	next := bourse.Never
	for i, s := range c.servers {
		next = min(next, s.Next())
		if c.feeds[i].more {
			next = min(next, c.feeds[i].head.Submit)
		}
	}
	return next
}

// instant does what is due at an instant: ends, arrivals, starts.
func (c *SharedCluster) instant(now bourse.Time) {
	c.version++
	for i, s := range c.servers {
		for _, e := range slices.Clone(s.Advance(now)) {
			c.happened(now, e)
		}
		for f := &c.feeds[i]; f.more && f.head.Submit <= now; {
			j := f.head
			f.pull()
			c.arrive(now, i, j)
		}
	}
	c.pass(now)
}

// arrive takes a local job, or turns it away.
func (c *SharedCluster) arrive(now bourse.Time, group int, j DeadlineJob) {
	d := c.admit(group, j)
	if c.fed != nil {
		c.fed[group].take(j.Submit)
	}
	if d.Reason.Refused() {
		c.refused(group, &j, d.Reason)
		return
	}
	c.number++
	x := &sharedJob{DeadlineJob: j, group: group}
	c.jobs[c.number] = x
	c.placed(now, group, c.number, d.Nodes)
	if d.Nodes != nil {
		c.startedJob(now, x)
	}
}

// admit asks the group's server. Where a restart must tell local jobs by their
// names, one whose name waits or runs there is turned away.
func (c *SharedCluster) admit(group int, j DeadlineJob) admission.Decision {
	if c.fed != nil {
		for _, x := range c.jobs { // the answer is the same in any order
			if x.group == group && x.ID == j.ID {
				return admission.Decision{Reason: bourse.Reason{Code: bourse.Conflict, Detail: fmt.Sprintf("a job %d waits or runs already", j.ID)}}
			}
		}
	}
	return c.servers[group].Arrive(admission.Job{ID: c.number + 1, Nodes: j.Nodes, Estimate: j.Estimate, Deadline: j.Deadline}, j.Run)
}

func (c *SharedCluster) refused(group int, j *DeadlineJob, why bourse.Reason) {
	f := bourse.JobRefused{Job: j.ID, Nodes: j.Nodes, Submit: j.Submit, Reason: why}
	if c.fed != nil {
		f.Group = c.groups[group].Name
	}
	c.out.Record(f)
}

// pass starts and drops who waits, as EDF does.
func (c *SharedCluster) pass(now bourse.Time) {
	for i, s := range c.servers {
		for _, e := range slices.Clone(s.Pass()) {
			c.version++
			if e.Kind == admission.Started {
				c.started(now, i, e.Job)
				continue
			}
			c.happened(now, e)
		}
	}
}

// started notes that a job or a leg works that has waited.
func (c *SharedCluster) started(now bourse.Time, group int, id int64) {
	c.placed(now, group, id, c.servers[group].Nodes(id))
	if j := c.jobs[id]; j != nil {
		c.startedJob(now, j)
	} else if l := c.numbered(id); l != nil {
		c.startedLeg(l)
	}
}

func (c *SharedCluster) startedJob(now bourse.Time, j *sharedJob) {
	j.start = now
	c.out.Record(bourse.JobStarted{Job: j.ID, Group: c.groups[j.group].Name, Nodes: j.Nodes, Submit: j.Submit,
		End: j.Deadline, Class: "shared", User: j.User, Queue: j.Queue, Due: j.Deadline, Begun: c.when(now)})
}

func (c *SharedCluster) startedLeg(l *sharedLeg) {
	l.began = true
	if l.state == reserved {
		l.state = running
		c.tell(l)
	}
}

// happened notes that a job or a leg has ended, or was dropped.
func (c *SharedCluster) happened(now bourse.Time, e admission.Event) {
	if j := c.jobs[e.Job]; j != nil {
		delete(c.jobs, e.Job)
		if e.Kind == admission.Dropped {
			c.refused(j.group, &j.DeadlineJob, e.Reason)
			return
		}
		c.count(j.group, now, j.Deadline)
		group := c.groups[j.group]
		c.out.Record(bourse.JobEnded{Job: j.ID, Group: group.Name, Nodes: j.Nodes, Submit: j.Submit, Start: j.start,
			Due: j.Deadline, Work: group.Performance.Runtime(j.Run), Ended: c.when(now)})
		return
	}
	l := c.numbered(e.Job)
	switch {
	case l == nil:
		return
	case e.Kind == admission.Dropped:
		l.state = lost
		c.moved(now, l.leg, bourse.LockLost)
	default:
		c.count(l.group, now, l.what.End)
		l.ends = now
		c.moved(now, l.leg, bourse.LockEnded)
		if l.state == locked {
			return // nobody has confirmed it yet
		}
		l.state = ended
	}
	c.tell(l)
}

// count counts a deadline.
func (c *SharedCluster) count(group int, now, deadline bourse.Time) {
	if now > deadline {
		c.kept[group].Missed++
	} else {
		c.kept[group].Kept++
	}
}

// Deadlines returns what has become of the deadlines of what was taken.
func (c *SharedCluster) Deadlines() (sum Deadlines) {
	for _, k := range c.kept {
		sum.Kept += k.Kept
		sum.Missed += k.Missed
	}
	return sum
}

// numbered is the leg of that number, nil if it was released.
func (c *SharedCluster) numbered(id int64) *sharedLeg {
	i, ok := slices.BinarySearchFunc(c.order, id, func(l *sharedLeg, id int64) int { return int(l.number - id) })
	if !ok || c.shares[c.order[i].leg] != c.order[i] {
		return nil
	}
	return c.order[i]
}

// Audit checks that no node works beyond its capacity, and under Libra that what
// the deadlines need of it is no more than it has.
func (c *SharedCluster) Audit(bourse.Time) error {
	for i, s := range c.servers {
		if err := s.Audit(); err != nil {
			return fmt.Errorf("group %s of %s: %w", c.groups[i].Name, c.site, err)
		}
	}
	return nil
}
