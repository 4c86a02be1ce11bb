package cluster

import (
	"slices"

	"bourse"
	"bourse/policy/backfill"
)

// stateOf tells the state of a lock by its name in facts.
var stateOf = map[bourse.LockState]lockState{
	bourse.LockHeld: locked, bourse.LockConfirmed: reserved, bourse.LockRunning: running,
	bourse.LockEnded: ended, bourse.LockLost: lost,
}

// nameOf is the other way round.
var nameOf = [...]bourse.LockState{locked: bourse.LockHeld, reserved: bourse.LockConfirmed, running: bourse.LockRunning,
	ended: bourse.LockEnded, lost: bourse.LockLost}

// restore has a cluster without locks go on with those of an earlier life, and
// with its outages. What there are no nodes for any more is lost.
func (c *Cluster) restore(m *clusterMemory) {
	locks := m.inLockOrder()
	for _, x := range locks {
		c.restoreLock(m.at, x)
	}
	c.number = max(c.number, int64(m.number))
	c.past = m.past
	for _, o := range m.outages {
		c.restoreOutage(m.at, o)
	}
	c.version++
}

func (c *Cluster) restoreLock(at bourse.Time, x *lockMemory) {
	group := slices.IndexFunc(c.groups, func(g bourse.Group) bool { return g.Name == x.What.Group })
	l := &lock{leg: x.Leg, group: max(group, 0), what: x.What, ends: x.Ends, state: stateOf[x.State],
		agreed: int64(x.Agreed), heard: x.Heard, flex: c.window(max(group, 0), x.Flex), turn: x.Turn, fixed: x.Fixed}
	c.number++
	l.number = c.number
	c.locks[l.leg] = l
	c.order = append(c.order, l)
	if l.state >= ended {
		return
	}
	if over := c.locks[x.Beside]; over != nil && over.confirmed() && over.group == l.group {
		l.over = over
	}
	if group < 0 || c.take(at, l).Refused() {
		l.state, l.over = lost, nil
		c.out.Record(bourse.NodesFreed{Leg: l.leg})
		c.out.Record(bourse.LockMoved{Leg: l.leg, State: bourse.LockLost})
		return
	}
	c.agenda.add(turn{l.what.End, ending, l})
	if l.confirmed() && l.ends < l.what.End {
		c.agenda.add(turn{l.ends, ending, l})
	}
	if l.state == reserved {
		c.agenda.add(turn{l.what.Start, starting, l})
	}
}

// restoreOutage has failed nodes stay out of service, as many as there are.
func (c *Cluster) restoreOutage(at bourse.Time, o bourse.NodesDown) {
	g := slices.IndexFunc(c.groups, func(g bourse.Group) bool { return g.Name == o.Group })
	if g < 0 || o.Until <= at {
		return
	}
	q := c.queues[g]
	if o.Nodes = min(o.Nodes, q.State().Free.Min(at, o.Until)); o.Nodes < 1 {
		return
	}
	c.number++
	q.Reserve(at, backfill.Reserved{ID: c.number, Nodes: o.Nodes, Start: at, End: o.Until})
	c.outages = append(c.outages, o)
}

// lockMemories is what an image keeps of the locks.
func (c *Cluster) lockMemories() (list []bourse.LockMemory) {
	for _, l := range c.order {
		if c.locks[l.leg] != l {
			continue
		}
		x := bourse.LockMemory{NodesLocked: bourse.NodesLocked{Leg: l.leg, What: l.what, Ends: l.ends, Flex: l.flex},
			State: nameOf[l.state], Heard: l.heard, Agreed: int(l.agreed), Turn: l.turn, Fixed: l.fixed}
		if l.over != nil {
			x.Beside = l.over.leg
		}
		list = append(list, x)
	}
	rank(list)
	return list
}

// memory is what an image keeps of a queue's jobs.
func (q *Queue) memory() (g bourse.GroupMemory) {
	if q.promises != nil {
		return q.promisesMemory()
	}
	state := q.State()
	g.Waiting = make([]bourse.LocalJob, 0, len(state.Queue))
	for i := range state.Queue {
		g.Waiting = append(g.Waiting, q.jobs[state.Queue[i].Ref].job)
	}
	for _, x := range q.ends {
		e := &q.jobs[x.ref]
		g.Running = append(g.Running, bourse.RunningJob{Job: e.job, Start: e.start, End: e.plan})
	}
	slices.SortFunc(g.Running, func(a, b bourse.RunningJob) int { return int(a.Job.ID - b.Job.ID) })
	return g
}
