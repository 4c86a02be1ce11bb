package backfill

import "slices"

// Resume adds a job that was started before the group was made, as when a group's owner
// comes back after a crash. It reports false, and changes nothing, if the id is already
// there, the planned end has passed, or the nodes are taken. The owner calls it before the
// first pass, as it does for reservations, and then has the waiting jobs arrive.
func (g *Group) Resume(r Running) bool {
	if _, dup := g.ids[r.ID]; dup || r.Nodes < 1 || r.Nodes > g.nodes || r.End < g.now {
		return false
	}
	g.free() // the idle count cannot express a job whose planned end is now
	last := r.Last()
	g.changed.more()
	if last > g.now && g.firm().Min(g.now, last) < r.Nodes {
		return false
	}
	if r.End > g.now {
		g.settle()
		g.free().Add(g.now, r.End, -r.Nodes)
	}
	if g.sure != nil && last > g.now { // also if it runs on at its planned end
		g.sure.Add(g.now, last, -r.Nodes)
	}
	if r.End > g.now {
		g.displace(g.now, r.End, r.Nodes)
	}
	g.takes(r.ID)
	g.running.put(r)
	return true
}

// Restore returns a group that goes on from s as the group behind that view would. Running
// jobs are known by their ids and planned ends. Guarantees stand, and jobs without one get
// theirs in queue order. The queue stays in the order of s, whatever the priorities. The
// group shares nothing with s. It costs a walk over s.
func Restore(s *State) *Group {
	c := *s
	c.Queue = slices.Clone(s.Queue)
	g := Rehearse(&c)
	g.ids = make(map[int64]struct{}, len(s.Running)+len(s.Queue))
	for i := range s.Running {
		g.ids[s.Running[i].ID] = struct{}{}
	}
	for i := range s.Queue {
		g.ids[s.Queue[i].ID] = struct{}{}
	}
	return g
}

// Rehearse is Restore for a run that is thrown away, as of a forecast: the group takes s.Queue
// over, and its owner's word that no two jobs have the same id. It changes nothing else of s.
func Rehearse(s *State) *Group {
	g := New(s.Nodes, s.Policy, s.Now)
	g.ids = nil
	g.supply.steps, g.reserved = s.Free.Clone(), slices.Clone(s.Reserved)
	g.running.load(s.Running)
	if s.Sure != nil {
		g.Predict()
		g.sure = s.Sure.Clone()
		for _, r := range g.reserved {
			g.kept.Add(max(r.Start, g.now), r.End, -r.Nodes)
		}
	}
	g.line.jobs = s.Queue
	g.line.resum(0)
	g.findReservationEnd()
	if !g.policy.Conservative() {
		g.again = true
		return g
	}
	for i := range g.line.jobs {
		g.due = min(g.due, g.line.jobs[i].Guarantee)
	}
	g.time.reset(*g.free(), s.Running, g.reserved, g.line.jobs)
	return g
}

// takes notes the id of a job that arrives, and reports whether no other has it. A rehearsal
// does not look.
func (g *Group) takes(id int64) bool {
	if g.ids == nil {
		return true
	}
	n := len(g.ids)
	g.ids[id] = struct{}{}
	return len(g.ids) > n
}
