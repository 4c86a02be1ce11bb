package sites

import (
	"fmt"

	"bourse"
	"bourse/agents"
	"bourse/policy/backfill"
)

// Cluster is the simulated cluster behind a site: a peer agent that knows nodes
// and queues but no money. Each group of nodes has its own queue and its own
// reservations. A real resource manager answers the same messages.
//
// Of one instant the cluster's own turns come first (ends of work, then the
// queues: ends, arrivals, one scheduling pass, then starts of reservations),
// then the messages of its site; what those change is followed by another pass
// once they are through.
type Cluster struct {
	site    agents.ID
	groups  []bourse.Group
	queues  []*Queue
	locks   map[bourse.LegID]*lock
	agenda  agenda
	number  int64  // of the last lock, the id of its reservation
	version uint64 // raised by every change
	states  []backfill.State
	shown   uint64      // the version that states show
	armed   bourse.Time // the next alarm on its way
	out     *agents.Outbox
}

// lock is the cluster's side of a leg: nodes locked, then a reservation that
// work runs in.
type lock struct {
	leg       bourse.LegID
	number    int64
	group     int
	what      bourse.Leg
	ends      bourse.Time // when its work is over
	confirmed bool
	running   bool
}

// tick is the alarm for the cluster's next turn.
type tick struct{}

// Kind names the alarm.
func (tick) Kind() string { return "Tick" }

// NewCluster returns the cluster of a site. The queues stand in the order of
// the groups and have their local jobs.
func NewCluster(site agents.ID, groups []bourse.Group, queues []*Queue) *Cluster {
	c := &Cluster{site: site, groups: groups, queues: queues,
		locks: map[bourse.LegID]*lock{}, version: 1, armed: bourse.Never}
	for i, q := range queues {
		q.Watch(watch{c, groups[i].Name})
	}
	return c
}

// Step hands the cluster one message.
func (c *Cluster) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	c.out = out
	switch m := m.(type) {
	case agents.Started:
	case tick:
		if now >= c.armed {
			c.armed = bourse.Never
		}
		c.turn(now)
	case agents.SnapshotRequest:
		c.snapshot(from, m)
		return
	case agents.ClusterHold:
		out.Send(from, agents.ClusterHeld{Leg: m.Leg, Refusal: c.hold(now, m)})
	case agents.ClusterConfirm:
		c.confirm(now, m.Leg)
	case agents.ClusterRelease:
		if l := c.locks[m.Leg]; l != nil {
			c.free(now, l)
		}
	default:
		panic(fmt.Sprintf("sites: cluster of %s got %s from %s", c.site, m.Kind(), from))
	}
	c.arm(now)
}

// turn does what is due now by itself.
func (c *Cluster) turn(now bourse.Time) {
	for {
		l := c.agenda.pop(now, ending)
		if l == nil {
			break
		}
		if c.locks[l.leg] == l && l.running {
			c.free(now, l)
			c.out.Send(c.site, agents.ClusterEnded{Leg: l.leg, End: now})
		}
	}
	for _, q := range c.queues {
		if q.Next() <= now {
			q.Advance(now)
			c.version++
		}
	}
	for {
		l := c.agenda.pop(now, starting)
		if l == nil {
			break
		}
		if c.locks[l.leg] == l && l.confirmed {
			c.run(l)
		}
	}
}

// arm sets the alarm for the next turn, unless one as early is on its way.
func (c *Cluster) arm(now bourse.Time) {
	next := c.agenda.next()
	for _, q := range c.queues {
		next = min(next, q.Next())
	}
	if next = max(next, now); next < c.armed {
		c.armed = next
		c.out.Alarm(next, tick{})
	}
}

// snapshot shows the state of all groups; nothing but the version if that is
// the one the site has.
func (c *Cluster) snapshot(from agents.ID, m agents.SnapshotRequest) {
	a := agents.Snapshot{Ref: m.Ref, Version: c.version}
	if m.Have != c.version {
		if c.shown != c.version {
			c.states = make([]backfill.State, len(c.queues))
			for i, q := range c.queues {
				c.states[i] = q.State().Clone()
			}
			c.shown = c.version
		}
		a.States = c.states
	}
	c.out.Send(from, a)
}

// hold locks nodes, or says who is in the way.
func (c *Cluster) hold(now bourse.Time, m agents.ClusterHold) bourse.Reason {
	group := -1
	for i, g := range c.groups {
		if g.Name == m.What.Group {
			group = i
		}
	}
	if group < 0 || c.locks[m.Leg] != nil {
		panic(fmt.Sprintf("sites: cluster of %s asked to hold %v in group %q", c.site, m.Leg, m.What.Group))
	}
	c.number++
	r := backfill.Reserved{ID: c.number, Nodes: m.What.Nodes, Start: m.What.Start, End: m.What.End}
	if why := c.queues[group].Reserve(now, r); why.Refused() {
		return why
	}
	l := &lock{leg: m.Leg, number: c.number, group: group, what: m.What, ends: m.What.End}
	if m.Run > 0 {
		l.ends = min(l.ends, m.What.Start.Add(m.Run))
	}
	c.locks[m.Leg] = l
	c.version++
	c.out.Record(bourse.NodesLocked{Leg: m.Leg, What: m.What})
	return bourse.Reason{}
}

// confirm makes a lock a reservation that work runs in, from its start on.
func (c *Cluster) confirm(now bourse.Time, id bourse.LegID) {
	l := c.locks[id]
	if l == nil || l.confirmed {
		return
	}
	l.confirmed = true
	c.agenda.add(turn{l.ends, ending, l})
	if l.what.Start <= now {
		c.run(l)
		return
	}
	c.agenda.add(turn{l.what.Start, starting, l})
}

// run starts the work of a reservation.
func (c *Cluster) run(l *lock) {
	l.running = true
	c.out.Send(c.site, agents.ClusterStarted{Leg: l.leg})
}

// free gives a leg's nodes back to the queue, what is left of them.
func (c *Cluster) free(now bourse.Time, l *lock) {
	c.queues[l.group].Release(now, l.number)
	delete(c.locks, l.leg)
	c.version++
	c.out.Record(bourse.NodesFreed{Leg: l.leg})
}

// Audit checks that no node is promised twice at any instant from now on and
// that the free profile of each group is what its jobs and reservations leave.
func (c *Cluster) Audit(now bourse.Time) error {
	for i, q := range c.queues {
		if err := q.State().Audit(); err != nil {
			return fmt.Errorf("group %s of %s at %v: %w", c.groups[i].Name, c.site, now, err)
		}
	}
	return nil
}

// Waiting shows the local jobs that wait in each group, in queue order.
func (c *Cluster) Waiting(group int) []backfill.Queued { return c.queues[group].State().Queue }

// watch turns what a queue does into facts.
type watch struct {
	*Cluster
	group string
}

// Started records a start of the local queue.
func (w watch) Started(j *bourse.LocalJob, s *backfill.Start) {
	w.out.Record(bourse.JobStarted{Job: j.ID, Group: w.group, Nodes: j.Nodes, Submit: j.Submit,
		End: s.End, Class: s.Class.String(), User: j.User, Queue: j.Queue})
}

// Ended records an end.
func (w watch) Ended(j *bourse.LocalJob, start, end bourse.Time, killed bool) {
	w.out.Record(bourse.JobEnded{Job: j.ID, Group: w.group, Nodes: j.Nodes, Submit: j.Submit,
		Start: start, Killed: killed})
}

// Refused records that a job never entered the queue.
func (w watch) Refused(j *bourse.LocalJob, why bourse.Reason) {
	w.out.Record(bourse.JobRefused{Job: j.ID, Nodes: j.Nodes, Submit: j.Submit, Reason: why})
}
