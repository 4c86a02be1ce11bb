package cluster

import (
	"fmt"
	"math"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/admission"
	"bourse/policy/backfill"
)

// hold takes a leg's work in, or says why not.
func (c *SharedCluster) hold(now bourse.Time, m agents.ClusterHold) bourse.Reason {
	group := slices.IndexFunc(c.groups, func(g bourse.Group) bool { return g.Name == m.What.Group })
	switch l := c.shares[m.Leg]; {
	case group < 0:
		return bourse.Reason{Code: bourse.Unknown, Detail: fmt.Sprintf("there is no group %q", m.What.Group)}
	case m.What.Work <= 0:
		return bourse.Reason{Code: bourse.NotAllowed, Detail: "its nodes are time-shared, none can be reserved: a job on this site alone, with a deadline, is wanted"}
	case l != nil && l.state < ended:
		return bourse.Reason{} // the answer got lost
	case l != nil || c.past.has(m.Leg) && !m.Again:
		return bourse.Reason{Code: bourse.Withdrawn, Detail: "leg " + m.Leg.String() + " was released before"}
	}
	run := m.What.Work
	if m.Run > 0 {
		run = m.Run
	}
	d := c.servers[group].Arrive(admission.Job{ID: c.number + 1, Nodes: m.What.Nodes, Estimate: m.What.Work, Deadline: m.What.End}, run)
	if d.Reason.Refused() {
		return d.Reason
	}
	c.number++
	l := &sharedLeg{leg: m.Leg, number: c.number, group: group, what: m.What, run: run, began: d.Nodes != nil}
	c.shares[m.Leg] = l
	c.order = append(c.order, l)
	c.placed(now, group, l.number, d.Nodes)
	c.version++
	return bourse.Reason{}
}

// confirm has a leg's work go on: it has begun, or does so when its turn comes.
func (c *SharedCluster) confirm(now bourse.Time, from agents.ID, id bourse.LegID) {
	l := c.shares[id]
	if l == nil && !c.past.has(id) {
		c.out.Send(from, agents.ClusterLost{Leg: id})
		return
	}
	c.out.Send(from, agents.ClusterDone{Leg: id, Step: agents.ClusterConfirm{}.Kind()})
	if l == nil || l.state != locked {
		return
	}
	c.moved(now, id, bourse.LockConfirmed)
	if l.agree(); l.state != reserved {
		c.tell(l)
	}
}

// agree has a leg that is locked be confirmed, wherever its work stands by now.
func (l *sharedLeg) agree() {
	switch {
	case l.ends > 0:
		l.state = ended
	case l.began:
		l.state = running
	default:
		l.state = reserved
	}
}

// release takes a leg's work away, wherever it stands.
func (c *SharedCluster) release(now bourse.Time, id bourse.LegID) {
	if c.past.has(id) && c.shares[id] == nil {
		return
	}
	c.moved(now, id, bourse.LockReleased)
	c.giveUp(now, id)
}

// giveUp takes a leg off its nodes and out of the books.
func (c *SharedCluster) giveUp(now bourse.Time, id bourse.LegID) {
	if l := c.shares[id]; l != nil {
		if l.state < ended && l.ends == 0 {
			c.servers[l.group].End(l.number)
		}
		delete(c.shares, id)
		c.version++
		if len(c.order) > 2*len(c.shares)+16 {
			c.order = slices.DeleteFunc(c.order, func(l *sharedLeg) bool { return c.shares[l.leg] != l })
		}
	}
	c.past.add(now, id)
}

// tell tells the site what has become of a leg, until it has heard it.
func (c *SharedCluster) tell(l *sharedLeg) {
	switch l.state {
	case running:
		if !l.heard {
			c.out.Send(c.site, agents.ClusterStarted{Leg: l.leg})
		}
	case ended:
		c.out.Send(c.site, agents.ClusterEnded{Leg: l.leg, End: l.ends})
	case lost:
		c.out.Send(c.site, agents.ClusterLost{Leg: l.leg})
	}
	if !c.reminds {
		c.reminds = true
		c.out.Alarm(c.now.Add(firstWait), remind{firstWait})
	}
}

// remindAgain repeats what the site has not taken note of.
func (c *SharedCluster) remindAgain(now bourse.Time, m remind) {
	c.reminds = true // its alarm is this one, or the next
	again := false
	for _, l := range c.order {
		if c.shares[l.leg] == l && (l.state >= ended || l.state == running && !l.heard) {
			again = true
			c.tell(l)
		}
	}
	if c.reminds = again; again {
		wait := min(2*m.wait, lastWait)
		c.out.Alarm(now.Add(wait), remind{wait})
	}
}

// inventory shows what is kept for the site's legs.
func (c *SharedCluster) inventory(from agents.ID, m agents.ClusterInventory) {
	a := agents.ClusterLocks{Ref: m.Ref}
	for _, l := range c.order {
		if c.shares[l.leg] == l {
			a.Locks = append(a.Locks, agents.ClusterLock{Leg: l.leg, Confirmed: l.state >= reserved && l.state <= ended,
				Running: l.state == running, Lost: l.state == lost, Ended: l.state == ended, End: l.ends})
		}
	}
	c.out.Send(from, a)
}

// snapshot shows how much room each node has for one more task.
func (c *SharedCluster) snapshot(from agents.ID, m agents.SnapshotRequest) {
	a := agents.Snapshot{Ref: m.Ref, Version: c.version}
	if m.Have != c.version {
		a.States, a.Room = make([]backfill.State, len(c.groups)), make([][]float64, len(c.groups))
		for i, g := range c.groups {
			a.States[i] = backfill.State{Now: c.now, Nodes: g.Nodes, Free: bourse.NewProfile(c.now, 0)}
			a.Room[i] = room(c.servers[i], g.Nodes)
		}
	}
	c.out.Send(from, a)
}

// room is the largest share that one more task may need, node by node. Where
// jobs wait for their turn anybody may.
func room(s admission.Server, nodes int) []float64 {
	list := make([]float64, nodes)
	shares, ok := s.(*admission.Shares)
	for i := range list {
		if list[i] = math.Inf(1); ok {
			list[i] = shares.Room(i)
		}
	}
	return list
}
