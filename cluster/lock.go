package cluster

import (
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/backfill"
)

// lock is the cluster's side of a leg: nodes locked, then a reservation that
// work runs in, then word of what came of it, until the site has heard it.
type lock struct {
	leg    bourse.LegID
	number int64
	group  int
	what   bourse.Leg
	ends   bourse.Time // when its work is over, or was
	state  lockState
	agreed int64 // the order in which it was confirmed
	heard  bool  // the site knows that it runs
	// pieces are its reservations in the queue: one, or, while it counts on the
	// nodes of another lock, those that it needs beside them.
	pieces []int64
	over   *lock // that other lock

	// Where promises are made.
	flex  bourse.Flex // its window; once it is fixed, where it lies; none where no promises are made
	turn  uint32      // how often it was moved or fixed
	told  uint32      // of these the site has heard of
	fixed bool
}

// lockState is where a lock stands.
type lockState uint8

const (
	locked lockState = iota
	reserved
	running
	ended
	lost
)

// confirmed reports whether the site has confirmed the lock.
func (l *lock) confirmed() bool { return l.state == reserved || l.state == running }

// hold locks nodes, or says who is in the way.
func (c *Cluster) hold(now bourse.Time, m agents.ClusterHold) bourse.Reason {
	group := slices.IndexFunc(c.groups, func(g bourse.Group) bool { return g.Name == m.What.Group })
	if group < 0 {
		return bourse.Reason{Code: bourse.Unknown, Detail: fmt.Sprintf("there is no group %q", m.What.Group)}
	}
	if l := c.locks[m.Leg]; l != nil && l.state < ended {
		return bourse.Reason{} // the answer got lost
	} else if l != nil || c.past.has(m.Leg) && !m.Again {
		return bourse.Reason{Code: bourse.Withdrawn, Detail: "leg " + m.Leg.String() + " was released before"}
	}
	l := &lock{leg: m.Leg, group: group, what: m.What, ends: m.What.End}
	if m.Run > 0 {
		l.ends = min(l.ends, m.What.Start.Add(m.Run))
	}
	if over := c.locks[m.Replaces]; over != nil && over.confirmed() && over.group == group {
		l.over = over
		l.flex = c.window(group, m.Flex)
	}
	if l.what.Start < now {
		if !m.Again {
			return bourse.Because(bourse.Past, "start %v lies before the cluster's now, %v", l.what.Start, now)
		}
		l.what.Start = now
	}
	if m.Flex.Movable(l.what) && l.over == nil && c.queues[group].promises != nil {
		return c.promise(now, l, m.Flex)
	}
	c.number++
	l.number = c.number
	if m.Force {
		c.clear(now, group, l.what.Start, l.what.End, l.what.Nodes)
	}
	c.pin(l.over)
	if why := c.take(now, l); why.Refused() {
		c.unpin(l.over)
		return why
	}
	c.keep(l)
	return bourse.Reason{}
}

// keep takes a lock that has its nodes into the books.
func (c *Cluster) keep(l *lock) {
	c.locks[l.leg] = l
	c.order = append(c.order, l)
	c.agenda.add(turn{l.what.End, ending, l})
	c.version++
	f := bourse.NodesLocked{Leg: l.leg, What: l.what}
	if l.over != nil {
		f.Beside = l.over.leg
	}
	if c.durable {
		f.Ends, f.Flex = l.ends, l.flex
	}
	c.out.Record(f)
}

// take reserves what a lock needs, all of it or nothing.
func (c *Cluster) take(now bourse.Time, l *lock) bourse.Reason {
	if l.what.End <= l.what.Start {
		return bourse.Because(bourse.Past, "its end, %v, has passed", l.what.End)
	}
	for _, p := range l.needs() {
		p.Start = max(p.Start, now)
		if p.Start >= p.End || p.Nodes <= 0 {
			continue
		}
		c.number++
		p.ID = c.number
		if why := c.queues[l.group].Reserve(now, p); why.Refused() {
			c.giveBack(now, l)
			return why
		}
		l.pieces = append(l.pieces, p.ID)
	}
	return bourse.Reason{}
}

// needs lists what a lock must reserve: all its nodes or, beside the lock whose
// nodes it counts on, the time before it, the nodes it has too few, the time
// after it.
func (l *lock) needs() []backfill.Reserved {
	n, s, e := l.what.Nodes, l.what.Start, l.what.End
	if l.over == nil {
		return []backfill.Reserved{{Nodes: n, Start: s, End: e}}
	}
	from, to := max(s, l.over.what.Start), min(e, l.over.what.End)
	if from >= to {
		return []backfill.Reserved{{Nodes: n, Start: s, End: e}}
	}
	return []backfill.Reserved{
		{Nodes: n, Start: s, End: from},
		{Nodes: n - l.over.what.Nodes, Start: from, End: to},
		{Nodes: n, Start: to, End: e},
	}
}

// giveBack gives a lock's nodes back to the queue, what is left of them.
func (c *Cluster) giveBack(now bourse.Time, l *lock) {
	for _, id := range l.pieces {
		delete(c.flexible, id)
		c.queues[l.group].Release(now, id)
	}
	l.pieces = l.pieces[:0]
}

// standAlone has every lock that counts on the nodes of l reserve them itself,
// now that l has given them back: they are free in this very instant.
func (c *Cluster) standAlone(now bourse.Time, l *lock) {
	for _, other := range c.order {
		if other.over != l || c.locks[other.leg] != other {
			continue
		}
		other.over = nil
		c.giveBack(now, other)
		if why := c.take(now, other); why.Refused() {
			panic(fmt.Sprintf("cluster: cluster of %s: lock %v cannot stand for itself: %v", c.site, other.leg, why))
		}
	}
}

// confirm makes a lock a reservation that work runs in, from its start on, in
// place of the one that it counts on. The site hears if there is none.
func (c *Cluster) confirm(now bourse.Time, from agents.ID, id bourse.LegID) {
	l := c.locks[id]
	if l == nil && !c.past.has(id) {
		c.out.Send(from, agents.ClusterLost{Leg: id})
		return
	}
	c.out.Send(from, agents.ClusterDone{Leg: id, Step: agents.ClusterConfirm{}.Kind()})
	if l == nil || l.state != locked {
		return
	}
	if over := l.over; over != nil {
		c.release(now, over.leg)
	}
	c.number++
	l.state, l.agreed, l.ends = reserved, c.number, max(l.ends, now)
	c.moved(now, id, bourse.LockConfirmed)
	c.open(l)
	if l.ends < l.what.End {
		c.agenda.add(turn{l.ends, ending, l})
	}
	if l.what.Start <= now {
		c.run(now, l)
		return
	}
	c.agenda.add(turn{l.what.Start, starting, l})
}

// run starts the work of a reservation.
func (c *Cluster) run(now bourse.Time, l *lock) {
	l.state = running
	c.moved(now, l.leg, bourse.LockRunning)
	c.tell(l)
}

// end frees a reservation whose work is over, and tells the site.
func (c *Cluster) end(now bourse.Time, l *lock) {
	c.vacate(now, l)
	l.state, l.ends = ended, now
	c.moved(now, l.leg, bourse.LockEnded)
	c.tell(l)
}

// vacate frees a lock's nodes; word of it stays.
func (c *Cluster) vacate(now bourse.Time, l *lock) {
	c.giveBack(now, l)
	c.standAlone(now, l)
	c.version++
	c.out.Record(bourse.NodesFreed{Leg: l.leg, When: c.when(now)})
}

// release frees what is kept for a leg; nothing is locked for it again.
func (c *Cluster) release(now bourse.Time, id bourse.LegID) {
	l := c.locks[id]
	if l == nil && c.past.has(id) {
		return
	}
	if l != nil {
		c.free(now, l)
	}
	c.past.add(now, id)
	c.moved(now, id, bourse.LockReleased)
}

// heard takes note that the site knows that a leg's work runs, or where it lies.
func (c *Cluster) heard(now bourse.Time, m agents.ClusterHeard) {
	switch l := c.locks[m.Leg]; {
	case l == nil:
	case m.Turn > 0:
		l.told = max(l.told, min(m.Turn, l.turn))
	case !l.heard:
		l.heard = true
		c.moved(now, m.Leg, bourse.LockHeard)
	}
}

// moved records what has become of a lock, for the next life of a durable
// cluster.
func (c *Cluster) moved(now bourse.Time, id bourse.LegID, to bourse.LockState) {
	if c.durable {
		c.out.Record(bourse.LockMoved{Leg: id, State: to, When: c.when(now)})
	}
}

// free frees a lock's nodes and forgets it.
func (c *Cluster) free(now bourse.Time, l *lock) {
	if l.state < ended {
		c.vacate(now, l)
	}
	delete(c.locks, l.leg)
	if l.state == locked {
		c.unpin(l.over)
	}
	if len(c.order) > 2*len(c.locks)+16 {
		gone := func(l *lock) bool { return c.locks[l.leg] != l }
		c.order = slices.DeleteFunc(c.order, gone)
		c.agenda.sweep(gone)
	}
}

// tell tells the site what came of a lock, until it has heard it.
func (c *Cluster) tell(l *lock) {
	c.tellMove(l)
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
func (c *Cluster) remindAgain(now bourse.Time, m remind) {
	again := false
	for _, l := range c.order {
		if c.locks[l.leg] == l && (l.state >= ended || l.state == running && !l.heard || l.told < l.turn) {
			c.reminds, again = true, true
			c.tell(l)
		}
	}
	if c.reminds = again; again {
		wait := min(2*m.wait, lastWait)
		c.out.Alarm(now.Add(wait), remind{wait})
	}
}

// inventory shows what is kept for the site's legs.
func (c *Cluster) inventory(from agents.ID, m agents.ClusterInventory) {
	a := agents.ClusterLocks{Ref: m.Ref}
	for _, l := range c.order {
		if c.locks[l.leg] != l {
			continue
		}
		k := agents.ClusterLock{Leg: l.leg, Confirmed: l.confirmed() || l.state == ended, Running: l.state == running,
			Lost: l.state == lost, Ended: l.state == ended}
		if k.Ended {
			k.End = l.ends
		}
		if l.turn > 0 {
			k.Turn, k.From, k.To, k.FixedThere = l.turn, l.what.Start, l.what.End, l.fixed
		}
		a.Locks = append(a.Locks, k)
	}
	c.out.Send(from, a)
}

// keepReleased is how long a released leg is remembered.
const keepReleased = bourse.Day

// past remembers for a day which legs were released, so that a hold that was
// overtaken by its release locks nothing.
type past struct {
	legs map[bourse.LegID]bool
	line []release
}

type release struct {
	at  bourse.Time
	leg bourse.LegID
}

func (p *past) has(id bourse.LegID) bool { return p.legs[id] }

func (p *past) add(now bourse.Time, id bourse.LegID) {
	if p.legs[id] {
		return
	}
	if p.legs == nil {
		p.legs = map[bourse.LegID]bool{}
	}
	p.legs[id] = true
	p.line = append(p.line, release{now, id})
	old := 0
	for p.line[old].at.Add(keepReleased) < now {
		delete(p.legs, p.line[old].leg)
		old++
	}
	p.line = p.line[old:]
}
