package backfill

import (
	"github.com/bourse-grid/bourse"
)

// settle brings the guarantees of the conservative policy up to date: if
// something ended early they are compressed, then newcomers get theirs.
func (g *Group) settle() {
	if !g.policy.Conservative() {
		return
	}
	if g.again {
		g.again = false
		g.compress(g.line.len() >= g.time.worth)
	}
	if g.gate != nil {
		g.seen = g.line.head // somebody may have a turn again
	}
	for i := max(g.seen, g.line.head); i < len(g.line.jobs); i++ {
		if q := &g.line.jobs[i]; q.Guarantee == bourse.Never && q.Nodes != gone && !g.barred(q) {
			g.place(i)
		}
	}
	g.seen = len(g.line.jobs)
}

// place guarantees job i its earliest fit beside all other guarantees.
func (g *Group) place(i int) {
	from := g.now
	if g.sure != nil {
		from = g.earliest(&g.line.jobs[i], &g.time)
	}
	g.guarantee(i, g.time.place(int32(i), from))
}

// guarantee writes when job i has its place.
func (g *Group) guarantee(i int, at bourse.Time) {
	g.line.guarantee(i, at)
	g.due = min(g.due, at)
}

// compress moves the guarantees forward in queue order, each to its earliest fit
// beside the others as they then stand: never later than it was. Who moves leaves
// room that a job before it, which the walk has passed, might take: a second walk
// would find more, and is not walked (decision 34). With marks it looks at those
// only who might move.
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

// forward moves job i to the instant k, unless its guarantee lies there.
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
				l.guarantee(i, bourse.Never) // another one once it may start
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

// displace takes n nodes out of the work over [s, e), where they have just been
// taken out of the free ones. If they were not free of guarantees, one walk in
// queue order makes these good: a guarantee that still fits stays, a job whose
// guarantee does not is placed at its earliest fit there and then, before later
// jobs are looked at. So what lies behind gives way to what lies before, and
// none is put behind the whole queue for having been in the way.
func (g *Group) displace(s, e bourse.Time, n int) {
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
		if q.Nodes == gone || q.Guarantee == bourse.Never && g.barred(q) {
			continue
		}
		at := q.Guarantee
		if at == bourse.Never || w.Min(at, at.Add(q.Estimate)) < q.Nodes {
			at = g.earliest(q, w)
			g.moved = append(g.moved, moved{int32(i), at})
		}
		if at < bourse.Never {
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
			t.lookAgain(m.job) // limits may have put it behind room that it has
		}
	}
}

// undo has the work be what is free beside the guarantees before a job of the line, the
// last one for which n nodes are free over [s, e): what is before it can stay as it is.
func (g *Group) undo(s, e bourse.Time, n int) int {
	w, l := &g.work, &g.line
	*w = g.time.profile((*w)[:0])
	for i := len(l.jobs) - 1; i >= l.head; i-- {
		q := &l.jobs[i]
		if q.Nodes == gone || q.Guarantee == bourse.Never {
			continue
		}
		end := q.Guarantee.Add(q.Estimate)
		if w.Add(q.Guarantee, end, q.Nodes); q.Guarantee < e && end > s && w.Min(s, e) >= n {
			return i
		}
	}
	return l.head
}
