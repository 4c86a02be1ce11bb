package backfill

// Begin starts a waiting job because the group's owner says so, whatever the policy: for owners who
// decide by rules of their own. It reports false, and changes nothing, if no such job waits, or if
// running jobs and reservations leave it too few nodes for its estimate. It costs a walk over the
// queue. Such an owner does not call Pass.
func (g *Group) Begin(id int64, class Class) (Start, bool) {
	g.starts = g.starts[:0]
	for i := g.line.head; i < len(g.line.jobs); i++ {
		q := &g.line.jobs[i]
		if q.ID != id || q.Nodes == gone {
			continue
		}
		if g.free().Min(g.now, g.now.Add(q.Estimate)) < q.Nodes {
			return Start{}, false
		}
		g.start(i, class)
		return g.starts[0], true
	}
	return Start{}, false
}
