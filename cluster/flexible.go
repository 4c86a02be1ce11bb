package cluster

import (
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/sla"
)

// The cluster's side of flexible legs. Nodes are promised somewhere within the
// leg's window; until the leg is confirmed they stay where the site has heard that
// they are, and from then on they may move until they are fixed or the work
// starts. What moves is told to the site until it has heard it.

// answerHold locks nodes and says where, or says who is in the way.
func (c *Cluster) answerHold(now bourse.Time, from agents.ID, m agents.ClusterHold) {
	a := agents.ClusterHeld{Leg: m.Leg, Refusal: c.hold(now, m)}
	switch l := c.locks[m.Leg]; {
	case a.Refusal.Refused():
		a.Instead, a.Shifts = c.instead(now, m), c.shifts(now, m)
	case l != nil && l.promise() > 0:
		a.What = l.what
	}
	c.out.Send(from, a)
}

// window is what the window of a leg means to a group: nothing where nodes are
// not promised, for there a lock lies where it was asked for.
func (c *Cluster) window(group int, w bourse.Flex) bourse.Flex {
	if c.queues[group].promises == nil {
		return bourse.Flex{}
	}
	return w
}

// promise locks nodes somewhere within a window.
func (c *Cluster) promise(now bourse.Time, l *lock, w bourse.Flex) bourse.Reason {
	q := c.queues[l.group]
	q.reach(now)
	c.number++
	l.number = c.number
	got, why := q.promise(sla.ForLeg(c.number, now, l.what, w))
	if why.Refused() {
		return why
	}
	length := l.ends.Sub(l.what.Start)
	l.what.Start, l.what.End = got.Start, got.End()
	l.ends = got.Start.Add(length)
	l.pieces, l.flex = append(l.pieces, c.number), w
	q.promises.Pin(c.number)
	c.flexible[c.number] = l
	c.keep(l)
	return bourse.Reason{}
}

// instead lists where nodes could be had in place of what was refused.
func (c *Cluster) instead(now bourse.Time, m agents.ClusterHold) []bourse.Time {
	for i, q := range c.queues {
		if c.groups[i].Name != m.What.Group || q.promises == nil || m.Flex.Phi == 0 {
			continue
		}
		q.reach(now)
		var list []bourse.Time
		for _, o := range q.promises.Alternatives(sla.ForLeg(c.number+1, now, m.What, m.Flex), agents.MaxInstead) {
			list = append(list, o.Start)
		}
		return list
	}
	return nil
}

// shifts lists the confirmed legs of which one, shifted, would let in what was
// refused, as far as the cluster can see.
func (c *Cluster) shifts(now bourse.Time, m agents.ClusterHold) []agents.LegShift {
	i := slices.IndexFunc(c.groups, func(g bourse.Group) bool { return g.Name == m.What.Group })
	if m.Shift <= 0 || i < 0 || c.queues[i].promises == nil {
		return nil
	}
	q := c.queues[i]
	q.reach(now)
	var list []agents.LegShift
	for _, sh := range q.promises.ShiftsOf(sla.ForLeg(c.number+1, now, m.What, m.Flex), m.Shift, c.mayShift) {
		l := c.flexible[sh.ID]
		x := agents.LegShift{Leg: l.leg, Ready: sh.Ready, Due: sh.Due, Start: sh.Ready}
		if at, _ := q.promises.Promise(sh.ID); sh.Ready > at.Ready { // it goes no further than it must
			x.Start = sh.Due.Add(-l.what.Duration())
		}
		x.End = x.Start.Add(l.what.Duration())
		if list = append(list, x); len(list) == agents.MaxShifts {
			break
		}
	}
	return list
}

// mayShift reports whether a promise is a confirmed leg's that nobody is about to
// replace.
func (c *Cluster) mayShift(id int64) bool {
	l := c.flexible[id]
	return l != nil && l.state == reserved && l.promise() == id &&
		!slices.ContainsFunc(c.order, func(o *lock) bool { return o.over == l && c.locks[o.leg] == o })
}

// promise is the identity of a lock's promise, 0 if it has none: a lock that
// leaves no choice, or that counts on the nodes of another one.
func (l *lock) promise() int64 {
	if l.flex.Due == 0 || l.over != nil || len(l.pieces) != 1 {
		return 0
	}
	return l.pieces[0]
}

// open lets a lock move that has just been confirmed. One that has taken the place
// of another stands for itself by now, where it lies.
func (c *Cluster) open(l *lock) {
	if c.queues[l.group].promises != nil && l.promise() > 0 {
		c.queues[l.group].reach(c.now)
		c.loosen(l)
	}
}

// loosen has the promise of a lock follow its window from now on.
func (c *Cluster) loosen(l *lock) {
	q := c.queues[l.group]
	if q.promises == nil || l.promise() == 0 || l.fixed || !l.flex.Movable(l.what) {
		return
	}
	fix := l.flex.Fix
	if fix == 0 {
		fix = sla.NeverFix
	}
	if q.promises.Open(l.promise(), l.flex.Ready, l.flex.Due, fix) {
		c.flexible[l.promise()] = l
	}
}

// pin keeps a flexible lock where it lies, as long as another one counts on its
// nodes; unpin lets it move again, once it is confirmed.
func (c *Cluster) pin(l *lock) {
	if l != nil && l.promise() > 0 {
		c.queues[l.group].reach(c.now)
		c.queues[l.group].promises.Pin(l.promise())
	}
}

func (c *Cluster) unpin(l *lock) {
	if l != nil && l.state == reserved && l.promise() > 0 {
		c.queues[l.group].reach(c.now)
		c.queues[l.group].promises.Unpin(l.promise())
	}
}

// shifted takes note that a promise lies elsewhere, or is fixed where it lies.
func (c *Cluster) shifted(id int64, start, end bourse.Time, fixed bool) {
	l := c.flexible[id]
	if l == nil {
		return
	}
	c.version++
	if start != l.what.Start {
		l.ends = l.ends.Add(start.Sub(l.what.Start))
		l.what.Start, l.what.End = start, end
		c.agenda.add(turn{l.what.End, ending, l})
		if l.ends < l.what.End {
			c.agenda.add(turn{l.ends, ending, l})
		}
		c.agenda.add(turn{l.what.Start, starting, l})
	}
	l.turn++
	l.fixed = fixed
	c.out.Record(bourse.NodesMoved{Leg: l.leg, Start: start, End: end, Turn: l.turn, Fixed: fixed, When: c.when(c.queues[l.group].group.Now())})
	c.tell(l)
}

// tellMove tells the site where a lock lies, if it has not heard of it.
func (c *Cluster) tellMove(l *lock) {
	if l.told < l.turn {
		c.out.Send(c.site, agents.ClusterMoved{Leg: l.leg, Start: l.what.Start, End: l.what.End, Turn: l.turn, Fixed: l.fixed})
	}
}

// plans shows the promises of the groups that make any, nil if none does.
func (c *Cluster) plans() []*sla.Image {
	var list []*sla.Image
	for i, q := range c.queues {
		if q.promises == nil {
			continue
		}
		if list == nil {
			list = make([]*sla.Image, len(c.queues))
		}
		m := q.promises.Image()
		list[i] = &m
	}
	return list
}
