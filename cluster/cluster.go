// Package cluster is the cluster behind a site: a peer agent that knows nodes,
// queues and work, but no money and no broker. It locks nodes for legs, runs
// their work, and tells its site what came of them. The clusters here are
// simulated; a real resource manager answers the same messages.
package cluster

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
// once they are through. What was due while nobody called, for the clock was
// late or the process down, happens at its own instant, before anything else.
//
// Every message may come twice, late or never: what is asked again gets the same
// answer, and what its site must know is repeated until the site lets go.
type Cluster struct {
	site     agents.ID
	groups   []bourse.Group
	queues   []*Queue
	locks    map[bourse.LegID]*lock
	flexible map[int64]*lock // by the identity of their promise
	order    []*lock         // in order of their numbers; one that is no more stays until half are
	past     past
	agenda   agenda
	number   int64  // of the last lock or outage, the id of its reservation
	version  uint64 // raised by every change
	states   []backfill.State
	shown    uint64      // the version that states show
	armed    bourse.Time // the next alarm on its way
	reminds  bool        // an alarm is on its way that repeats notices
	outages  []bourse.NodesDown
	now      bourse.Time // of the message in hand
	out      *agents.Outbox
	// durable has it record what a restart needs beside what reports need; see
	// DurableCluster.
	durable bool
}

// tick is the alarm for the cluster's next turn, remind the one that repeats
// what the site has not taken note of.
type (
	tick   struct{}
	remind struct{ wait bourse.Duration }
)

// Waits before a notice is repeated: the first, and the longest that it doubles to.
const (
	firstWait = 500 * bourse.Millisecond
	lastWait  = 5 * bourse.Second
)

// Kind names the alarm.
func (tick) Kind() string   { return "Tick" }
func (remind) Kind() string { return "Remind" }

// NewCluster returns the cluster of a site. The queues stand in the order of
// the groups and have their local jobs.
func NewCluster(site agents.ID, groups []bourse.Group, queues []*Queue) *Cluster {
	c := &Cluster{site: site, groups: groups, queues: queues,
		locks: map[bourse.LegID]*lock{}, flexible: map[int64]*lock{}, version: 1, armed: bourse.Never}
	for i, q := range queues {
		q.Watch(watch{c, groups[i].Name})
		if q.promises != nil {
			q.promises.moved = c.shifted
		}
	}
	return c
}

// Step hands the cluster one message.
func (c *Cluster) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	c.out, c.now = out, now
	if c.armed < now {
		c.live(now - 1)
	}
	switch m := m.(type) {
	case agents.Started:
	case tick:
		if now >= c.armed {
			c.armed = bourse.Never
		}
		c.live(now)
	case remind:
		c.remindAgain(now, m)
	case agents.SnapshotRequest:
		c.snapshot(from, m)
		return
	case agents.ClusterInventory:
		c.inventory(from, m)
		return
	case agents.ClusterHold:
		c.answerHold(now, from, m)
	case agents.ClusterConfirm:
		c.confirm(now, from, m.Leg)
	case agents.ClusterRelease:
		c.release(now, m.Leg)
		out.Send(from, agents.ClusterDone{Leg: m.Leg, Step: m.Kind()})
	case agents.ClusterHeard:
		c.heard(now, m)
	case agents.NodesLost:
		c.nodesLost(now, m)
	default:
		panic(fmt.Sprintf("cluster: cluster of %s got %s from %s", c.site, m.Kind(), from))
	}
	c.arm(now)
}

// live lives through every instant up to now at which something is due by
// itself.
func (c *Cluster) live(now bourse.Time) {
	for t := c.next(); t <= now; t = c.next() {
		c.instant(t)
	}
}

// next is the next instant at which something is due, or Never.
func (c *Cluster) next() bourse.Time {
	next := c.agenda.next()
	for _, q := range c.queues {
		next = min(next, q.Next())
	}
	return next
}

// instant does what is due at an instant.
func (c *Cluster) instant(now bourse.Time) {
	for {
		l := c.agenda.pop(now, ending)
		if l == nil {
			break
		}
		if c.locks[l.leg] == l && l.state == running && l.ends <= now {
			c.end(now, l)
		} else if c.locks[l.leg] == l && l.state == locked && l.what.End <= now {
			c.free(now, l) // nobody has confirmed it, and its time is over
			c.moved(now, l.leg, bourse.LockExpired)
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
		if c.locks[l.leg] == l && l.state == reserved && l.what.Start <= now {
			c.run(now, l)
		}
	}
}

// arm sets the alarm for the next turn, unless one as early is on its way.
func (c *Cluster) arm(now bourse.Time) {
	if next := max(c.next(), now); next < c.armed {
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
		a.Plans = c.plans()
	}
	c.out.Send(from, a)
}

// Audit checks that no node is promised twice at any instant from now on and
// that the free profile of each group is what its jobs and reservations leave.
func (c *Cluster) Audit(now bourse.Time) error {
	for i, q := range c.queues {
		if err := q.State().Audit(); err != nil {
			return fmt.Errorf("group %s of %s at %v: %w", c.groups[i].Name, c.site, now, err)
		}
		if err := q.auditPromises(); err != nil {
			return fmt.Errorf("promises of group %s of %s at %v: %w", c.groups[i].Name, c.site, now, err)
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
		End: s.End, Class: s.Class.String(), User: j.User, Queue: j.Queue, Begun: w.when(s.End.Add(-s.Estimate))})
}

// Ended records an end.
func (w watch) Ended(j *bourse.LocalJob, start, end bourse.Time, killed bool) {
	w.out.Record(bourse.JobEnded{Job: j.ID, Group: w.group, Nodes: j.Nodes, Submit: j.Submit,
		Start: start, Killed: killed, Ended: w.when(end)})
}

// Refused records that a job never entered the queue.
func (w watch) Refused(j *bourse.LocalJob, why bourse.Reason) {
	f := bourse.JobRefused{Job: j.ID, Nodes: j.Nodes, Submit: j.Submit, Reason: why}
	if w.durable {
		f.Group = w.group
	}
	w.out.Record(f)
}

// when is what a fact says of its own instant: nothing, 0, if that is now.
func (c *Cluster) when(at bourse.Time) bourse.Time {
	if at == c.now {
		return 0
	}
	return at
}
