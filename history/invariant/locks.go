package invariant

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I1 by a cluster's journal, which shows its local jobs and what it has locked for legs.

// localJob is a local job that runs.
type localJob struct {
	group string
	id    int64
}

// lock is what a cluster has locked for a leg.
type lock struct {
	group  string
	whole  claim
	claims []claim // of it, at present
	beside grid.LegID
	flex   grid.Flex // the window that it may be moved in
	fixed  bool      // it stays where it is

	parts facts.NodesLocked // if it takes slices of its nodes: what it is
}

func (r *nodes) started(at grid.Time, f facts.JobStarted) {
	if f.Due > 0 {
		return // of a site that takes deadlines: its nodes are shared
	}
	c := claim{f.Nodes, at, max(f.End, at)}
	r.jobs[localJob{f.Group, f.Job}] = c
	if over := r.take(at, f.Group, c, -1); over > 0 {
		r.breaks("I1", "job %d starts on %d nodes of group %s until %v, and %d are promised twice", f.Job, f.Nodes, f.Group, f.End, over)
	}
}

func (r *nodes) ended(at grid.Time, f facts.JobEnded) {
	job := localJob{f.Group, f.Job}
	if c, ok := r.jobs[job]; ok {
		r.take(at, f.Group, c, +1)
		delete(r.jobs, job)
	}
}

// locked takes the nodes of a lock. While it counts on those of a reservation
// beside it, only what goes beyond that one is taken.
func (r *nodes) locked(at grid.Time, f facts.NodesLocked) {
	r.freed(at, facts.NodesFreed{Leg: f.Leg})
	if f.What.Part.Some() {
		r.sharedLock(at, f)
		return
	}
	l := &lock{group: f.What.Group, whole: claim{f.What.Nodes, f.What.Start, f.What.End}, beside: f.Beside, flex: f.Flex}
	l.claims = []claim{l.whole}
	if old := r.locks[f.Beside]; old != nil && old.group == l.group {
		l.claims = l.whole.beyond(old.whole)
	}
	r.locks[f.Leg] = l
	for _, c := range l.claims {
		if over := r.take(at, l.group, c, -1); over > 0 {
			r.breaks("I1", "%d nodes of group %s are locked for leg %v over [%v, %v), and %d are promised twice",
				f.What.Nodes, f.What.Group, f.Leg, f.What.Start, f.What.End, over)
		}
	}
}

// freed gives a lock's nodes back; a lock that counted on them takes them.
func (r *nodes) freed(at grid.Time, f facts.NodesFreed) {
	l := r.locks[f.Leg]
	if l == nil {
		return
	}
	for _, c := range l.claims {
		r.take(at, l.group, c, +1)
	}
	r.unshare(at, f.Leg, l.parts.What, l.parts.On)
	delete(r.locks, f.Leg)
	for _, other := range r.locks {
		if other.beside != f.Leg || other.group != l.group {
			continue
		}
		for _, c := range other.claims {
			r.take(at, other.group, c, +1)
		}
		other.beside, other.claims = grid.LegID{}, []claim{other.whole}
		r.take(at, other.group, other.whole, -1)
	}
}

// opens begins with an image of a cluster: what runs in it and what it has
// locked. Of an image in the midst of a journal all is known already.
func (r *nodes) opens(at grid.Time, f facts.ClusterImage) {
	if len(r.locks) > 0 || len(r.jobs) > 0 || r.whole {
		return
	}
	for _, g := range f.Groups {
		for _, x := range g.Running {
			r.started(at, facts.JobStarted{Job: x.Job.ID, Group: g.Group, Nodes: x.Job.Nodes, End: x.End})
		}
	}
	for _, l := range f.Locks {
		if l.State != facts.LockEnded && l.State != facts.LockLost {
			r.locked(at, l.NodesLocked)
			r.locks[l.Leg].fixed = l.Fixed
		}
	}
}

// moved moves a lock. Whether there is room is checked when all locks that move together
// have moved.
func (r *nodes) moved(at grid.Time, f facts.NodesMoved) {
	l := r.locks[f.Leg]
	if l == nil {
		if r.whole {
			r.breaks("I1", "nodes are moved for leg %v, and none are locked for it", f.Leg)
		}
		return
	}
	to := claim{l.whole.nodes, f.Start, f.End}
	r.promises.nodesMoveWithin(at, l, f)
	for _, c := range l.claims {
		r.take(at, l.group, c, +1)
	}
	l.whole, l.claims, l.fixed = to, []claim{to}, f.Fixed
	r.take(at, l.group, to, -1)
	r.moves = append(r.moves, f.Leg)
}

// settle checks the locks that were moved one after the other, at the first fact after
// them that is about something else. A journal that ends among such moves may be torn,
// and is not checked.
func (r *nodes) settle(f agents.Fact) {
	switch f.(type) {
	case facts.NodesMoved, facts.JobPromised, facts.NodesFreed, facts.LockMoved, facts.JobRefused, facts.JobEnded:
		return
	}
	for _, id := range r.moves {
		l := r.locks[id]
		if l == nil {
			continue
		}
		free := r.free[l.group]
		if free == nil {
			continue
		}
		if s := max(l.whole.start, (*free)[0].At); s < l.whole.end && free.Min(s, l.whole.end) < 0 {
			r.breaks("I1", "leg %v is moved to [%v, %v), and %d nodes of group %s are promised twice",
				id, l.whole.start, l.whole.end, -free.Min(s, l.whole.end), l.group)
		}
	}
	r.moves = r.moves[:0]
}
