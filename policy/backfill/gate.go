package backfill

// Gate says which waiting jobs may start under their site's limits, such as jobs at once
// per user or nodes per queue. A job that may not start is skipped as if it were not there:
// it holds no nodes and delays no other job, as in the schedulers in common use. Open must
// depend only on what runs.
type Gate interface {
	Open(q *Queued) bool
	Started(q *Queued) // q starts now; Open counts it from here on
}

// Limit puts a gate before the queue. It must be called before anything arrives.
func (g *Group) Limit(gate Gate) { g.gate = gate }

// barred reports whether the gate is closed to a job.
func (g *Group) barred(q *Queued) bool { return g.gate != nil && q.Nodes != gone && !g.gate.Open(q) }

// passLimited is Pass with a gate. It asks about every job, and repeats until none starts,
// because a start may bar a job that holds nodes.
func (g *Group) passLimited() []Start {
	for n := -1; n < len(g.starts); {
		n = len(g.starts)
		if g.policy.Conservative() {
			g.settle()
			g.startGuaranteed()
			continue
		}
		g.rise()
		from := g.line.head
		if !g.policy.turnsAtOnce() {
			from = g.startOpen()
		}
		g.overtake(from)
		g.again = false
		g.seen = len(g.line.jobs)
	}
	return g.starts
}

// startOpen is startHeads for the jobs that may start.
func (g *Group) startOpen() int {
	l := &g.line
	for i := l.head; i < len(l.jobs); i++ {
		q := &l.jobs[i]
		if q.Nodes == gone || g.barred(q) {
			continue
		}
		if g.free().Min(g.now, g.now.Add(q.Estimate)) < q.Nodes || !g.mayRun(q) {
			return i + 1
		}
		g.start(i, g.inTurn(q.Submit))
	}
	return len(l.jobs)
}
