package backfill

import (
	"github.com/bourse-grid/bourse/grid"
)

// settle brings the guarantees of the conservative policy up to date. If something ended
// early they are compressed; then jobs without a guarantee get theirs.
func (g *Group) settle() {
	if !g.policy.Conservative() {
		return
	}
	if g.again {
		g.again = false
		g.compress(g.line.len() >= g.time.worth)
	}
	if g.gate != nil {
		g.seen = g.line.head // a job that was barred may be allowed again
	}
	for i := max(g.seen, g.line.head); i < len(g.line.jobs); i++ {
		if q := &g.line.jobs[i]; q.Guarantee == grid.Never && q.Nodes != gone && !g.barred(q) {
			g.place(i)
		}
	}
	g.seen = len(g.line.jobs)
}

// place gives job i its earliest fit beside all other guarantees.
func (g *Group) place(i int) {
	from := g.now
	if g.sure != nil {
		from = g.earliest(&g.line.jobs[i], &g.time)
	}
	g.guarantee(i, g.time.place(int32(i), from))
}

// guarantee sets the guarantee of job i.
func (g *Group) guarantee(i int, at grid.Time) {
	g.line.guarantee(i, at)
	g.due = min(g.due, at)
}

// compress moves guarantees forward in queue order, each to its earliest fit beside the
// others as they then stand, never later than before. A job that moves may leave room for a
// job that the walk has already passed. A second walk would find such room, but is not
// worth its cost (decision 34). With marks, only jobs that might move are looked at.
func (g *Group) compress(marks bool) {
	t := &g.time
	if !marks {
		t.forgetOpenings()
		for i := int32(g.line.head); int(i) < len(t.places); i++ {
			if t.places[i].start != none {
				g.forward(i, t.anywhere(i))
			}
		}
		return
	}
	t.ready(g.nodes)
	for i := t.marked(0); i != none; i = t.marked(i + 1) {
		t.unmark(i)
		g.forward(i, t.earlier(i))
		t.pass(i)
	}
}

// forward moves the guarantee of job i to instant k, if it is not there already.
func (g *Group) forward(i, k int32) {
	if t := &g.time; k != t.places[i].start {
		at := t.list[k].at
		t.move(i, k)
		g.guarantee(int(i), at)
	}
}

// startGuaranteed starts, in queue order, the jobs whose guarantee has come.
func (g *Group) startGuaranteed() {
	if g.due > g.now {
		return
	}
	l := &g.line
	for i := l.due(l.head, g.now); i >= 0; i = l.due(i+1, g.now) {
		q := &l.jobs[i]
		if !g.mayRun(q) {
			g.time.cancel(int32(i))
			if g.barred(q) {
				l.guarantee(i, grid.Never) // it gets a new one once the gate opens
			} else {
				g.place(i)
			}
			continue
		}
		kind := Waited
		switch {
		case i > l.head:
			kind = Backfilled
		case q.Submit == g.now:
			kind = Immediate
		}
		g.start(i, kind)
	}
	g.due = l.nextGuarantee()
}

// displace takes n nodes over [s, e) out of what is free beside guarantees; they have just
// been taken out of the free profile. If guarantees hold some of them, one walk in queue
// order repairs these: a guarantee that still fits stays, and a job that no longer fits
// gets its earliest fit at once, before later jobs are looked at. So later jobs give way to
// earlier ones, and no job drops to the end of the queue for having been in the way.
func (g *Group) displace(s, e grid.Time, n int) {
	if !g.policy.Conservative() {
		g.rise()
		return
	}
	t := &g.time
	if t.fewest(s, e) >= n {
		t.take(s, e, n)
		return
	}
	w, l := &g.work, &g.line
	g.moved = g.moved[:0]
	i := g.undo(s, e, n)
	w.Add(s, e, -n)
	for ; i < len(l.jobs); i++ {
		q := &l.jobs[i]
		if q.Nodes == gone || q.Guarantee == grid.Never && g.barred(q) {
			continue
		}
		at := q.Guarantee
		if at == grid.Never || w.Min(at, at.Add(q.Estimate)) < q.Nodes {
			at = g.earliest(q, w)
			g.moved = append(g.moved, moved{int32(i), at})
		}
		if at < grid.Never {
			w.Add(at, at.Add(q.Estimate), -q.Nodes)
		}
	}
	for _, m := range g.moved {
		t.cancel(m.job)
		g.guarantee(int(m.job), m.at)
	}
	t.take(s, e, n)
	t.enterAll(g.moved)
	if g.sure != nil {
		for _, m := range g.moved {
			t.lookAgain(m.job) // because of its limit it may have been placed later than room that suits it
		}
	}
}

// undo sets g.work to what is free beside the guarantees of the jobs before the index that
// it returns. That is the largest index for which n nodes are then free over [s, e). The
// jobs before it can stay as they are.
func (g *Group) undo(s, e grid.Time, n int) int {
	w, l := &g.work, &g.line
	*w = g.time.profile((*w)[:0])
	for i := len(l.jobs) - 1; i >= l.head; i-- {
		q := &l.jobs[i]
		if q.Nodes == gone || q.Guarantee == grid.Never {
			continue
		}
		end := q.Guarantee.Add(q.Estimate)
		if w.Add(q.Guarantee, end, q.Nodes); q.Guarantee < e && end > s && w.Min(s, e) >= n {
			return i
		}
	}
	return l.head
}
