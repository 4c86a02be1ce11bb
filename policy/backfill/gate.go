package backfill

// Gate says which of the jobs that wait may start as far as their site's limits go: so
// many jobs of a user at once, so many nodes of a queue. Who may not is passed over as if
// it were not there: it holds nothing and keeps nobody back, as the schedulers in use
// have it. What may start depends on what runs alone.
type Gate interface {
	Open(q *Queued) bool
	Started(q *Queued) // it starts now; Open knows it from here on
}

// Limit puts a gate before the queue. It comes before anything else.
func (g *Group) Limit(gate Gate) { g.gate = gate }

// barred reports whether the gate is closed for a job.
func (g *Group) barred(q *Queued) bool { return g.gate != nil && q.Nodes != gone && !g.gate.Open(q) }

// passLimited is Pass with a gate: everybody is asked, and again as long as somebody
// starts, for a start may bar a job that holds nodes.
func (g *Group) passLimited() []Start {
	for n := -1; n < len(g.starts); {
		n = len(g.starts)
		if g.policy.Conservative() {
			g.settle()
			g.startGuaranteed()
			continue
		}
		g.rise()
		switch i := g.startOpen(); {
		case g.policy.Shortest:
			g.fillShortest(i)
		case g.policy.Backfill:
			g.fill(i)
		}
		g.again = false
		g.seen = len(g.line.jobs)
	}
	return g.starts
}

// startOpen is startHeads among those that may start.
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
		kind := Waited
		if q.Submit == g.now {
			kind = Immediate
		}
		g.start(i, kind)
	}
	return len(l.jobs)
}
