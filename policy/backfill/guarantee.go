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
		g.compress(len(g.work) > worthBounds)
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
	q := &g.line.jobs[i]
	at := g.earliest(q)
	g.work.Add(at, at.Add(q.Estimate), -q.Nodes)
	g.line.guarantee(i, at)
	g.due = min(g.due, at)
}

// compress moves the guarantees forward in queue order, each to its earliest fit
// beside the others as they then stand: never later than it was. Who moves leaves
// room that a job before it, which the walk has passed, might take: a second walk
// would find more, and is not walked (decision 34). Bounded, it remembers what was
// found impossible.
func (g *Group) compress(bounded bool) {
	l, from := &g.line, g.now
	g.bounds.forget()
	for i := l.head; i < len(l.jobs); i++ {
		q := &l.jobs[i]
		if q.Nodes == gone || q.Guarantee == bourse.Never {
			continue
		}
		if bounded {
			from = g.bounds.before(q)
		}
		v := q.Guarantee
		at := earlier(g.work, from, q.Nodes, q.Estimate, v)
		if bounded {
			g.bounds.note(q, at)
		}
		if at == v {
			continue
		}
		// Where the new place overlaps the old one nothing changes.
		full := at.Add(q.Estimate)
		g.work.Add(at, min(v, full), -q.Nodes)
		g.work.Add(max(v, full), v.Add(q.Estimate), q.Nodes)
		if bounded {
			g.bounds.rise(max(v, full))
		}
		l.guarantee(i, at)
		g.due = min(g.due, at)
	}
}

// earlier is the earliest fit, from the opening of p on, of n nodes for d that
// stand in p over [v, v+d) already, or v; there must be none before from. Where
// they stand they do not hinder themselves, so a start before v need only find
// room up to v.
func earlier(p bourse.Profile, from bourse.Time, n int, d bourse.Duration, v bourse.Time) bourse.Time {
	for i := p.Index(from); i < len(p) && p[i].At < v; {
		if p[i].Free < n {
			i++
			continue
		}
		start := p[i].At
		for full := min(start.Add(d), v); p[i].Free >= n; {
			if i++; i == len(p) || p[i].At >= full {
				return start
			}
		}
	}
	return v
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
			g.work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
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
	if g.work.Min(s, e) >= n {
		g.work.Add(s, e, -n)
		return
	}
	l := &g.line
	g.work = append(g.work[:0], g.free...)
	for i := l.head; i < len(l.jobs); i++ {
		q := &l.jobs[i]
		if q.Nodes == gone || q.Guarantee == bourse.Never && g.barred(q) {
			continue
		}
		end := q.Guarantee.Add(q.Estimate)
		if q.Guarantee == bourse.Never || g.work.Min(q.Guarantee, end) < q.Nodes {
			g.place(i)
			continue
		}
		g.work.Add(q.Guarantee, end, -q.Nodes)
	}
}
