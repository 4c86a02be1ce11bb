package backfill

import "github.com/bourse-grid/bourse"

// Estimates may be predictions: a job is planned for less than it may take, so that it
// may run on at its planned end, by Extend, up to what was requested. A prediction that
// is wrong may cost jobs of the queue their turn, guarantees of the conservative policy
// among them, but never a reservation: nodes are reserved only where no running job may
// still need them, and a job starts only if its nodes are not reserved before its limit.

// Predict prepares the group for predictions. It comes before anything else.
func (g *Group) Predict() {
	g.sure, g.kept = bourse.NewProfile(g.now, g.nodes), bourse.NewProfile(g.now, g.nodes)
}

// firm is what can be reserved.
func (g *Group) firm() bourse.Profile {
	if g.sure != nil {
		return g.sure
	}
	return *g.free()
}

// keep takes nodes for a reservation, or gives them back.
func (g *Group) keep(r Reserved, nodes int) {
	if g.sure != nil {
		g.sure.Add(r.Start, r.End, nodes)
		g.kept.Add(r.Start, r.End, nodes)
	}
}

// mayRun reports whether a job that starts now could run to its limit, and the gate is
// open.
func (g *Group) mayRun(q *Queued) bool {
	return (g.sure == nil || g.sure.Min(g.now, g.now.Add(q.Longest())) >= q.Nodes) && !g.barred(q)
}

// room is what is free beside holds or guarantees.
type room interface {
	EarliestFit(from bourse.Time, n int, d bourse.Duration) bourse.Time
}

// earliest is where a job that is blocked fits into the work. By predictions it also
// has all of its limit before the next reservation of its nodes; of jobs that run now
// it is hoped that they have ended, unless it would start at once.
func (g *Group) earliest(q *Queued, work room) bourse.Time {
	at := work.EarliestFit(g.now, q.Nodes, q.Estimate)
	if g.sure == nil {
		return at
	}
	for at < bourse.Never {
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

// outlive moves the limit of a running job on that is to end after it, and reports
// whether it could.
func (g *Group) outlive(r *Running, end bourse.Time) bool {
	if last := r.Last(); g.sure != nil && end > last {
		if g.sure.Min(last, end) < r.Nodes {
			return false
		}
		g.sure.Add(last, end, -r.Nodes)
		r.Limit = end
	}
	return true
}
