package backfill

import "github.com/bourse-grid/bourse/grid"

// Estimates may be predictions. A job is then planned for less time than it may take, and
// may run on at its planned end, by Extend, up to what was requested. A wrong prediction
// may delay waiting jobs, even past their guarantees under the conservative policy, but
// never a reservation. Nodes are reserved only where no running job may still need them,
// and a job starts only if its nodes are not reserved before its limit.

// Predict prepares the group for predictions. It must be called first.
func (g *Group) Predict() {
	g.sure, g.kept = grid.NewProfile(g.now, g.nodes), grid.NewProfile(g.now, g.nodes)
}

// firm returns the nodes that can be reserved.
func (g *Group) firm() grid.Profile {
	if g.sure != nil {
		return g.sure
	}
	return *g.free()
}

// keep adds nodes, below 0 for a new reservation, to the profiles of what can be reserved.
func (g *Group) keep(r Reserved, nodes int) {
	if g.sure != nil {
		g.sure.Add(r.Start, r.End, nodes)
		g.kept.Add(r.Start, r.End, nodes)
	}
}

// mayRun reports whether a job that starts now could run to its limit, and the gate lets
// it.
func (g *Group) mayRun(q *Queued) bool {
	return (g.sure == nil || g.sure.Min(g.now, g.now.Add(q.Longest())) >= q.Nodes) && !g.barred(q)
}

// room is what is free beside holds or guarantees.
type room interface {
	EarliestFit(from grid.Time, n int, d grid.Duration) grid.Time
}

// earliest returns where a blocked job fits into work. With predictions, the job must also
// fit for all of its limit beside the reservations. Jobs that run now are then assumed to
// have ended by their estimates, unless the job would start at once.
func (g *Group) earliest(q *Queued, work room) grid.Time {
	at := work.EarliestFit(g.now, q.Nodes, q.Estimate)
	if g.sure == nil {
		return at
	}
	for at < grid.Never {
		whole := g.kept
		if at == g.now {
			whole = g.sure
		}
		if whole.Min(at, at.Add(q.Longest())) >= q.Nodes {
			break
		}
		at = work.EarliestFit(whole.EarliestFit(at, q.Nodes, q.Longest()), q.Nodes, q.Estimate)
	}
	return at
}

// outlive moves the limit of a running job to end if that is later, and reports false if
// the nodes are not free until then.
func (g *Group) outlive(r *Running, end grid.Time) bool {
	if last := r.Last(); g.sure != nil && end > last {
		if g.sure.Min(last, end) < r.Nodes {
			return false
		}
		g.sure.Add(last, end, -r.Nodes)
		r.Limit = end
	}
	return true
}
