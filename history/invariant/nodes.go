package invariant

import "bourse"

// size is how many nodes a group of the trail's site has; false if nobody said.
func (t *Trail) size(group string) (int, bool) {
	if n, ok := t.audit.nodes[t.name()+"/"+group]; ok {
		return n, true
	}
	n, ok := t.audit.nodes[group]
	return n, ok
}

// claim gives back the nodes that a leg held and, while it holds any, takes
// those of its present state (I1). Of a leg that replaces another one that is
// still open, only what goes beyond that one counts.
func (t *Trail) claim(at bourse.Time, l *siteLeg, held []claim) {
	if _, ok := t.size(l.What.Group); !ok {
		return
	}
	for _, c := range held {
		t.take(at, l.What.Group, c, +1)
	}
	l.claims = nil
	l.claims = t.needs(l)
	for _, c := range l.claims {
		if over := t.take(at, l.What.Group, c, -1); over > 0 && held == nil {
			t.breaks("I1", "leg %v takes %d nodes of group %s over [%v, %v), and %d are promised twice",
				l.Leg, l.What.Nodes, l.What.Group, l.What.Start, l.What.End, over)
		}
	}
	if !l.State.Blocks() {
		t.widen(at, l.Leg)
	}
}

// take takes (sign -1) or gives back (+1) what of a claim lies after the present
// instant, and returns how many of its nodes are taken more often than there
// are. It costs one insertion into the profile of the group, which grows with
// what is claimed in times to come.
func (t *Trail) take(at bourse.Time, group string, c claim, sign int) (over int) {
	n, ok := t.size(group)
	if !ok {
		return 0
	}
	free := t.free[group]
	if free == nil {
		p := bourse.NewProfile(min(at, c.start), n)
		free = &p
		t.free[group] = free
	}
	if at > (*free)[0].At {
		free.From(at)
	}
	s := max(c.start, (*free)[0].At)
	if s >= c.end {
		return 0
	}
	free.Add(s, c.end, sign*c.nodes)
	return max(0, -free.Min(s, c.end))
}

// needs is what a leg takes at present: nothing if it holds no nodes. Of one that
// its cluster may move the site learns late where it lies: what the site's journal
// is sure of is the time that the leg takes wherever in its window it lies.
func (t *Trail) needs(l *siteLeg) []claim {
	switch {
	case !l.State.Blocks(), l.What.Work > 0: // a share is of no node alone
		return nil
	case l.State != bourse.Confirmed || !l.Flex.Movable(l.What):
		return t.wanted(l)
	}
	length := l.What.Duration()
	if c := (claim{l.What.Nodes, l.Flex.Due.Add(-length), l.Flex.Ready.Add(length)}); c.start < c.end {
		return []claim{c}
	}
	return nil
}

// wanted is what a leg takes beyond the open one that it replaces.
func (t *Trail) wanted(l *siteLeg) []claim {
	whole := claim{l.What.Nodes, l.What.Start, l.What.End}
	old := t.legs[l.Replaces]
	if l.Replaces == (bourse.LegID{}) || old == nil || !old.State.Blocks() || old.What.Group != l.What.Group {
		return []claim{whole}
	}
	t.replaced[old.Leg] = l.Leg
	return whole.beyond(claim{old.What.Nodes, old.What.Start, old.What.End})
}

// widen gives the leg that has replaced another one all its nodes, once that one
// is gone.
func (t *Trail) widen(at bourse.Time, gone bourse.LegID) {
	by, ok := t.replaced[gone]
	if !ok {
		return
	}
	delete(t.replaced, gone)
	l := t.legs[by]
	if l == nil || !l.State.Blocks() {
		return
	}
	for _, c := range l.claims {
		t.take(at, l.What.Group, c, +1)
	}
	l.claims = t.needs(l)
	for _, c := range l.claims {
		t.take(at, l.What.Group, c, -1)
	}
}

// A cluster's journal shows its local jobs and what it has locked for legs.

// localJob is a local job that runs.
type localJob struct {
	group string
	id    int64
}

func (t *Trail) started(at bourse.Time, f bourse.JobStarted) {
	if f.Due > 0 {
		return // of a site that takes deadlines: its nodes are shared
	}
	c := claim{f.Nodes, at, max(f.End, at)}
	t.jobs[localJob{f.Group, f.Job}] = c
	if over := t.take(at, f.Group, c, -1); over > 0 {
		t.breaks("I1", "job %d starts on %d nodes of group %s until %v, and %d are promised twice", f.Job, f.Nodes, f.Group, f.End, over)
	}
}

func (t *Trail) ended(at bourse.Time, f bourse.JobEnded) {
	job := localJob{f.Group, f.Job}
	if c, ok := t.jobs[job]; ok {
		t.take(at, f.Group, c, +1)
		delete(t.jobs, job)
	}
}

// locked takes the nodes of a lock. While it counts on those of a reservation
// beside it, only what goes beyond that one is taken.
func (t *Trail) locked(at bourse.Time, f bourse.NodesLocked) {
	t.freed(at, bourse.NodesFreed{Leg: f.Leg})
	l := &lock{group: f.What.Group, whole: claim{f.What.Nodes, f.What.Start, f.What.End}, beside: f.Beside, flex: f.Flex}
	l.claims = []claim{l.whole}
	if old := t.locks[f.Beside]; old != nil && old.group == l.group {
		l.claims = l.whole.beyond(old.whole)
	}
	t.locks[f.Leg] = l
	for _, c := range l.claims {
		if over := t.take(at, l.group, c, -1); over > 0 {
			t.breaks("I1", "%d nodes of group %s are locked for leg %v over [%v, %v), and %d are promised twice",
				f.What.Nodes, f.What.Group, f.Leg, f.What.Start, f.What.End, over)
		}
	}
}

// freed gives a lock's nodes back; a lock that counted on them takes them.
func (t *Trail) freed(at bourse.Time, f bourse.NodesFreed) {
	l := t.locks[f.Leg]
	if l == nil {
		return
	}
	for _, c := range l.claims {
		t.take(at, l.group, c, +1)
	}
	delete(t.locks, f.Leg)
	for _, other := range t.locks {
		if other.beside != f.Leg || other.group != l.group {
			continue
		}
		for _, c := range other.claims {
			t.take(at, other.group, c, +1)
		}
		other.beside, other.claims = bourse.LegID{}, []claim{other.whole}
		t.take(at, other.group, other.whole, -1)
	}
}

// opens begins with an image of a cluster: what runs in it and what it has
// locked. Of an image in the midst of a journal all is known already.
func (t *Trail) opens(at bourse.Time, f bourse.ClusterImage) {
	if len(t.locks) > 0 || len(t.jobs) > 0 || t.whole {
		return
	}
	for _, g := range f.Groups {
		for _, r := range g.Running {
			t.started(at, bourse.JobStarted{Job: r.Job.ID, Group: g.Group, Nodes: r.Job.Nodes, End: r.End})
		}
	}
	for _, l := range f.Locks {
		if l.State != bourse.LockEnded && l.State != bourse.LockLost {
			t.locked(at, l.NodesLocked)
			t.locks[l.Leg].fixed = l.Fixed
		}
	}
}

// lock is what a cluster has locked for a leg.
type lock struct {
	group  string
	whole  claim
	claims []claim // of it, at present
	beside bourse.LegID
	flex   bourse.Flex // the window that it may be moved in
	fixed  bool        // it stays where it is
}

// beyond is what of a claim goes beyond another one.
func (c claim) beyond(old claim) (list []claim) {
	s, e := max(c.start, old.start), min(c.end, old.end)
	if s >= e {
		return []claim{c}
	}
	for _, x := range []claim{{c.nodes, c.start, s}, {c.nodes - old.nodes, s, e}, {c.nodes, e, c.end}} {
		if x.nodes > 0 && x.start < x.end {
			list = append(list, x)
		}
	}
	return list
}
