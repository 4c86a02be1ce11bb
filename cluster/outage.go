package cluster

import (
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/backfill"
)

// nodesLost takes failed nodes out of a group for a time, as a reservation of
// nobody: idle ones first; where there are too few, those of local jobs, the
// latest to start first, which are killed; then held ones, the latest first;
// then those of the reservation confirmed last.
func (c *Cluster) nodesLost(now bourse.Time, m agents.NodesLost) {
	g := slices.IndexFunc(c.groups, func(g bourse.Group) bool { return g.Name == m.Group })
	if g < 0 || m.For <= 0 {
		return
	}
	q := c.queues[g]
	end := now.Add(m.For)
	if q.promises != nil && c.aside(now, q, m, end) {
		return
	}
	count := c.clear(now, g, now, end, m.Count) // the rest has failed already
	if count <= 0 {
		return
	}
	c.number++
	if why := q.Reserve(now, backfill.Reserved{ID: c.number, Nodes: count, Start: now, End: end}); why.Refused() {
		panic("cluster: nodes that are free cannot fail: " + why.String())
	}
	c.down(m.Group, count, end)
}

// aside has the promises make room for failed nodes, if they can: then nobody
// loses anything.
func (c *Cluster) aside(now bourse.Time, q *Queue, m agents.NodesLost, end bourse.Time) bool {
	c.number++
	if m.Count < 1 || q.Reserve(now, backfill.Reserved{ID: c.number, Nodes: m.Count, Start: now, End: end}).Refused() {
		return false
	}
	c.down(m.Group, m.Count, end)
	return true
}

// down records that nodes have failed.
func (c *Cluster) down(group string, count int, end bourse.Time) {
	c.version++
	now := c.now
	f := bourse.NodesDown{Group: group, Nodes: count, Until: end}
	c.outages = append(slices.DeleteFunc(c.outages, func(o bourse.NodesDown) bool { return o.Until <= now }), f)
	c.out.Record(f)
}

// clear makes count nodes of a group free over [from, to), by the order of
// nodesLost, and returns how many are.
func (c *Cluster) clear(now bourse.Time, group int, from, to bourse.Time, count int) int {
	q := c.queues[group]
	q.reach(now)
	for count > 0 {
		at, free := worst(q.State().Free, from, to)
		if free >= count {
			break
		}
		if !c.evict(now, group, at) {
			count = free
		}
	}
	return count
}

// worst is the first instant of [from, to) at which the fewest nodes are free.
func worst(p bourse.Profile, from, to bourse.Time) (at bourse.Time, free int) {
	at, free = from, p.At(from)
	for _, step := range p {
		if step.At > from && step.At < to && step.Free < free {
			at, free = step.At, step.Free
		}
	}
	return at, free
}

// evict frees nodes that are in use at an instant, by the order of nodesLost;
// false if nobody is left.
func (c *Cluster) evict(now bourse.Time, group int, at bourse.Time) bool {
	q := c.queues[group]
	var job *backfill.Running
	for i := range q.State().Running {
		r := &q.State().Running[i]
		if r.End > at && (job == nil || r.Start > job.Start || r.Start == job.Start && r.ID > job.ID) {
			job = r
		}
	}
	if job != nil {
		q.Kill(now, job.ID)
		c.version++
		return true
	}
	if q.promises != nil && q.breakPromise(now, at) {
		c.version++
		return true
	}
	var victim *lock
	for _, l := range c.order {
		if c.locks[l.leg] != l || l.group != group || l.leg.Tx.Broker == "" || l.state >= ended || l.what.Start > at || l.what.End <= at || len(l.pieces) == 0 && l.over == nil {
			continue
		}
		if victim == nil || before(victim, l) {
			victim = l
		}
	}
	if victim == nil {
		return false
	}
	c.vacate(now, victim)
	victim.state, victim.over = lost, nil
	c.moved(now, victim.leg, bourse.LockLost)
	c.tell(victim)
	return true
}

// before reports whether l loses its nodes rather than v.
func before(v, l *lock) bool {
	if v.confirmed() != l.confirmed() {
		return v.confirmed()
	}
	if l.confirmed() {
		return l.agreed > v.agreed
	}
	return l.number > v.number
}

// Kill ends a running job before its time and reports whether it ran. Its nodes
// are free from now on.
func (q *Queue) Kill(now bourse.Time, id int64) bool {
	q.reach(now)
	for i := range q.ends {
		if x := q.ends[i]; x.id == id {
			q.ends.remove(i)
			q.end(now, x)
			q.armed = true
			return true
		}
	}
	return false
}
