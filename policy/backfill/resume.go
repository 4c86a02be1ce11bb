package backfill

// Resume has a job run on that was started before the group was made, as when
// the owner of a group comes back after a crash; it reports whether it could:
// not if its id is there already, its planned end has passed, or its nodes are
// taken. It comes before the first pass, as do the reservations and, after it,
// the arrivals of those that still wait.
func (g *Group) Resume(r Running) bool {
	if _, dup := g.ids[r.ID]; dup || r.Nodes < 1 || r.Nodes > g.nodes || r.End < g.now {
		return false
	}
	if r.End > g.now {
		if g.free.Min(g.now, r.End) < r.Nodes {
			return false
		}
		g.settle()
		g.free.Add(g.now, r.End, -r.Nodes)
		g.displace(g.now, r.End, r.Nodes)
	}
	g.ids[r.ID] = struct{}{}
	g.putRunning(r)
	return true
}
