package search

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// course is a walk over the slots of a list, in order of start, for the parts of one offset.
type course struct {
	cursors
	offset grid.Duration
	parts  []int
	ends   grid.Time     // a slot that ends earlier serves none of its parts
	length grid.Duration // nor does a shorter one
	serves []bool        // by class: whether its slots may serve one of the parts; nil: look
}

// advance moves on to the next slot that may serve.
func (x *course) advance(deadline grid.Time) {
	x.cursors[0].i++
	if len(x.serves) > 0 {
		x.cursors[0].skip(x.ends, x.serves)
	}
	x.goOn(x.ends, deadline)
}

// suit has the courses pass over classes that suit none of their parts.
func (f *Finder) suit(q *query) {
	c := &f.team
	if q.serves == nil {
		if !q.partly(len(f.list.classes)) {
			return
		}
		f.narrow(q)
		for k := range c.walks {
			q.serves = append(q.serves, slices.Clone(c.walks[k].serves))
		}
		return
	}
	for k := range c.walks {
		c.walks[k].serves = append(c.walks[k].serves, q.serves[k]...)
	}
}

// skip moves to the first slot of the chunk that does not end before ends and is of a class
// that serves, or to its end.
func (c *cursor) skip(ends grid.Time, serves []bool) {
	for c.ci < len(c.lane.chunks) {
		slots := c.lane.chunks[c.ci].slots
		for ; c.i < len(slots); c.i++ {
			if s := &slots[c.i]; s.end >= ends && serves[s.class] {
				return
			}
		}
		c.ci, c.i = c.ci+1, 0
	}
}

// visit calls at for each start that a job of parts may have, in order, with what is free
// then in the pools of the team: the earliest allowed, and s - o_p for each part p wherever
// nodes of a group that suits it come free at s. It stops as soon as at says so.
//
// With offsets a rise too short for any part counts too: parts share nodes, so that more may
// be needed for a moment than ever for the whole of a part.
func (f *Finder) visit(q *query, at func(t grid.Time) bool) {
	floor, any := f.outfit(q)
	if !any || !floor.atMost(q.limit) {
		return
	}
	c := &f.team
	c.walks = c.walks[:0]
	if f.list.curved {
		c.open(f.list, q)
		f.visitCurved(q, at)
		return
	}
	if f.spots(q, at) {
		return
	}
	c.open(f.list, q)
	f.list.renew()
	f.courses(q)
	if f.array && f.best.started {
		f.lower(q, q.from)
		f.narrow(q)
	} else {
		f.suit(q)
	}
	t, risen := q.from, false
	for {
		x, start := c.first(q.from)
		if x == nil {
			break
		}
		if start > t {
			if risen {
				c.start = t
				if !c.spotted(t) && at(t) {
					return
				}
			}
			if f.array && f.best.hopeless(start) {
				return
			}
			t, risen = start, false
			c.fresh = grid.Duration(grid.Never)
			if f.array && f.best.c > 0 {
				f.lower(q, t)
			}
		}
		if f.offer(q, x, t) {
			risen = true
		}
		x.advance(q.Deadline)
	}
	if c.start = t; risen && !c.spotted(t) {
		at(t)
	}
}

// offer adds the first slot of a course to the pools of its parts, and reports whether the
// job may have a new choice.
func (f *Finder) offer(q *query, x *course, t grid.Time) (risen bool) {
	c, s := &f.team, x.cursors[0].at
	pos := int64(x.cursors[0].ci)<<32 | int64(x.cursors[0].i)
	for _, i := range x.parts {
		p := &q.pieces[i]
		fit := p.fit(f.list, s.class)
		if fit.runtime == 0 {
			continue
		}
		last := p.last(fit.runtime)
		if last > c.longest || fit.key > c.dearest[i] || c.hopeless(i, s.class) {
			continue
		}
		risen = risen || !q.level
		latest := min(s.end, q.Deadline) - grid.Time(last)
		if latest < t {
			continue
		}
		risen = true
		c.fresh = min(c.fresh, last)
		c.pools[i].add(kept{fit.key, latest, pos, s.count, s.class}, t)
		if x := &c.picks[i]; fit.key <= x.dearest {
			x.chosen = x.chosen[:0] // what is dearer would not have been picked
		}
	}
	return risen
}

// first is the course whose next slot may be the first to start a job, and that start; nil if
// there is none.
func (c *team) first(from grid.Time) (x *course, start grid.Time) {
	for k := range c.walks {
		w := &c.walks[k]
		if len(w.cursors) == 0 {
			continue
		}
		if t := max(w.cursors[0].at.start.Add(-w.offset), from); x == nil || t < start {
			x, start = w, t
		}
	}
	return x, start
}

// courses begins a course for each offset.
func (f *Finder) courses(q *query) {
	c := &f.team
	c.walks = c.walks[:0]
	f.many = len(f.list.slots) > 1
	for i := range q.pieces {
		p := &q.pieces[i]
		k := slices.IndexFunc(c.walks, func(x course) bool { return x.offset == p.offset })
		if k < 0 {
			if k = len(c.walks); k < cap(c.walks) {
				c.walks = c.walks[:k+1]
			} else {
				c.walks = append(c.walks, course{})
			}
			x := &c.walks[k]
			*x = course{cursors: x.cursors[:0], offset: p.offset, parts: x.parts[:0], length: p.least, serves: x.serves[:0]}
		}
		x := &c.walks[k]
		x.parts, x.length = append(x.parts, i), min(x.length, p.least)
	}
	for k := range c.walks {
		x := &c.walks[k]
		if !q.level {
			x.length = 1
		}
		x.ends = q.from.Add(x.offset + x.length)
		x.enter(f.list.slots, x.length, x.ends, q.Deadline)
	}
}

// visitCurved is visit where prices change over time: the starts are then the instants of
// each part, see curved.go, less its offset.
func (f *Finder) visitCurved(q *query, at func(t grid.Time) bool) {
	c := &f.team
	c.instants = append(c.instants[:0], max(q.from, f.list.from))
	for i := range q.pieces {
		p := &q.pieces[i]
		for _, t := range f.starts(&p.query) {
			if t = t.Add(-p.offset); t > c.instants[0] {
				c.instants = append(c.instants, t)
			}
		}
	}
	slices.Sort(c.instants)
	for _, t := range slices.Compact(c.instants) {
		if f.array && f.best.hopeless(t) {
			return
		}
		c.start, c.fresh = t, 0
		for i := range q.pieces {
			f.refill(q, i, t)
			c.picks[i].chosen = c.picks[i].chosen[:0]
		}
		if at(t) {
			return
		}
	}
}

// refill fills the pool of a part with what it can have if the job starts at t.
func (f *Finder) refill(q *query, part int, t grid.Time) {
	l, p, to := f.list, &q.pieces[part], &f.team.pools[part]
	to.reset(p.Nodes, p.limit)
	to.array, to.far = true, f.team.fars[part].empty()
	for g := range l.classes {
		x := p.at(l, int32(g), t.Add(p.offset))
		if x.runtime == 0 || t.Add(p.last(x.runtime)) > min(p.Deadline, l.to) {
			continue
		}
		s := t.Add(p.offset)
		if n := l.levels[g].free.Min(s, s.Add(x.runtime)); n > 0 {
			to.add(kept{x.key, t, int64(g), int32(n), int32(g)}, t)
		}
	}
}
