package search

import (
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search/assign"
)

// A job of unlike parts starts at T if each part p has its nodes from T + o_p on. A part may
// use what the job's other parts do not use at the same time. At each start there is one
// choice: the assignment of least cost, see package assign. amp and alp take the first start
// with one, best looks at all starts.

// piece is one part of a job, as a query of its own.
type piece struct {
	query
	offset grid.Duration
	ranks  []int32 // the classes that suit it, the cheapest first; nil: not known
}

// last is when the part ends on nodes that take a runtime, after the job's start.
func (p *piece) last(runtime grid.Duration) grid.Duration { return p.offset + runtime }

// maxFlows bounds the flows that are solved at one start.
const maxFlows = 4000

// compose gives a query of a job of parts a query for each part.
func (q *query) compose(l *List, a Algorithm, notice grid.Time) {
	if len(q.Parts) > assign.MaxParts {
		panic("search: too many parts")
	}
	q.pieces = make([]piece, len(q.Parts))
	q.level = true
	for i := range q.Parts {
		p := &q.pieces[i]
		p.query, p.offset = l.prepare(q.Parts[i].Request(&q.Request), a, notice.Add(q.Parts[i].Offset)), q.Parts[i].Offset
		p.limit, p.own = q.limit, true
		q.level = q.level && p.offset == 0 // one has the offset 0
		q.ruled = q.ruled || p.OneSite
	}
}

// partly reports whether some of so many classes do not suit some part.
func (q *query) partly(classes int) bool {
	return slices.ContainsFunc(q.pieces, func(p piece) bool { return p.fits != nil && p.suited < classes })
}

// bar adds groups that the job must not use.
func (q *query) bar(barred []bool) {
	q.barred = either(q.barred, barred)
	for i := range q.pieces {
		q.pieces[i].barred = either(q.pieces[i].barred, barred)
	}
}

// either is what one of two lists bars.
func either(a, b []bool) []bool {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	both := make([]bool, len(a))
	for i := range both {
		both[i] = a[i] || b[i]
	}
	return both
}

// outfit gives the pieces of a query their tables, and the query its bounds: no window is
// shorter than least, nor cheaper than floor.
func (f *Finder) outfit(q *query) (floor sum, any bool) {
	n := len(f.list.classes)
	q.least = 0
	for i := range q.pieces {
		p := &q.pieces[i]
		if p.fits == nil && n <= maxTable {
			room := f.tables.room(n)
			if p.lasts = room != nil; !p.lasts {
				room = make([]fit, 0, n)
			}
			p.tabulate(f.list, room)
			p.ranks, q.serves = nil, nil
		} else if p.fits == nil {
			p.least, p.cheapest = 1, 0
		}
		if p.least > grid.Duration(grid.Never) {
			return floor, false // no class suits the part
		}
		q.least = max(q.least, p.last(p.least))
		floor = floor.plus(p.cheapest, p.Nodes)
	}
	return floor, true
}

// yield gives back the tables of a query.
func (f *Finder) yield(q *query) {
	for i := range q.pieces {
		f.giveBack(&q.pieces[i].query)
	}
}

// forget drops the tables that are not kept from one search to the next.
func (f *Finder) forget(q *query) {
	for i := range q.pieces {
		if p := &q.pieces[i]; !p.lasts {
			p.fits = nil
		}
	}
}

// findComposed looks for a window for a job of parts under algorithm a.
func (f *Finder) findComposed(q *query, a Algorithm, w Weights) bool {
	compose := algorithms.Is(a).compose
	if compose == nil {
		return false
	}
	q.bounded = false
	defer f.forget(q)
	return compose(f, q, w)
}

// earliestComposed finds the earliest start at which all parts can have their nodes, and
// there the cheapest.
func (f *Finder) earliestComposed(q *query, _ Weights) bool {
	f.array, f.team.floors = false, nil
	found := false
	f.visit(q, func(t grid.Time) bool {
		found = f.team.mayFit(q, t) && f.settleTeam(q, t, grid.Duration(grid.Never))
		return found
	})
	if found {
		f.buildTeam(q)
	}
	return found
}

// bestComposed looks at every start, as findBest does.
func (f *Finder) bestComposed(q *query, w Weights) bool {
	j := &f.best
	j.open(q, w)
	f.array = true
	floor, any := f.outfit(q)
	if !any {
		return false
	}
	if f.team.floor = floor; floor.hi == 0 {
		j.floor = j.rate(q.from, q.least, floor.lo)
	}
	if f.team.floors = f.floorsOf(q); f.team.floors != nil {
		if j.floor = f.team.floors.least; j.floor == beyond {
			return false
		}
	}
	f.team.best = f.team.best[:0]
	f.visit(q, func(t grid.Time) bool {
		f.weighTeam(q, t)
		return false
	})
	if !j.started {
		return false
	}
	q.lately, f.team.lately = j.start, j.start
	f.team.start = j.start
	f.team.chosen = append(f.team.chosen[:0], f.team.best...)
	f.buildTeam(q)
	return true
}

// weighTeam looks at the windows that a job has at t: the cheapest, then again without nodes
// that take as long as its last, until none can win.
func (f *Finder) weighTeam(q *query, t grid.Time) {
	j, c := &f.best, &f.team
	shortest := q.least
	if j.started && j.c == 0 && q.level {
		shortest = max(shortest, c.fresh) // without new nodes the window existed before
	}
	if !f.mayWin(q, t, shortest) {
		return
	}
	longest := c.longest
	if j.started && j.b == 0 && j.c == 0 {
		longest = min(longest, j.time) // only time counts
	}
	better := false
	for longest >= shortest && f.settleTeam(q, t, longest) {
		time, cost := c.time, c.cost
		score := j.rate(t, time, cost.lo)
		if j.better(score, time, cost, t) {
			j.started, j.score, j.time, j.cost, j.start = true, score, time, cost, t
			c.best = append(c.best[:0], c.chosen...)
			better = true
		}
		if j.score.less(j.rate(t, shortest, cost.lo)) {
			break
		}
		longest = time - 1
	}
	if better {
		f.lower(q, t)
		f.narrow(q)
	}
}

// lower tightens the bounds on nodes once a window is known, for starts from t on. It assumes
// that the rest of a window takes and costs as little as possible; with nodes beyond the
// bounds it would still score worse.
func (f *Finder) lower(q *query, t grid.Time) {
	j, c := &f.best, &f.team
	if !j.started || c.floor.hi > 0 {
		return
	}
	left := j.score
	if t > q.from {
		left = left.without(j.c, uint64(t-q.from))
	}
	c.left = left
	c.longest = grid.Duration(min(left.without(j.b, c.floor.lo).over(j.a+j.c), int64(grid.Never)))
	most := left.without(j.a+j.c, uint64(q.least)).over(j.b)
	c.most = min(c.most, grid.Credits(most))
	for i := range q.pieces {
		if c.dearest[i] = most; most < math.MaxInt64 {
			c.dearest[i] -= int64(c.floor.lo) - q.pieces[i].cheapest
		}
	}
}

// narrow drops what is beyond the bounds, and notes for each course which classes are still
// within them.
func (f *Finder) narrow(q *query) {
	c, l := &f.team, f.list
	for i := range c.pools {
		p := &q.pieces[i]
		c.pools[i].weed(func(k *kept) bool {
			return k.key <= c.dearest[i] && p.last(p.fit(l, k.class).runtime) <= c.longest && !c.hopeless(i, k.class)
		})
	}
	if l.curved || len(l.classes) > maxNarrow {
		return
	}
	for k := range c.walks {
		x := &c.walks[k]
		x.serves = append(x.serves[:0], make([]bool, len(l.classes))...)
		for _, i := range x.parts {
			p := &q.pieces[i]
			for class := range l.classes {
				fit := p.fit(l, int32(class))
				if fit.runtime > 0 && fit.key <= c.dearest[i] && p.last(fit.runtime) <= c.longest && !c.hopeless(i, int32(class)) {
					x.serves[class] = true
				}
			}
		}
	}
}

// maxNarrow bounds the classes that are looked at whenever a better window is found.
const maxNarrow = 1 << 11

// mayWin reports whether the least keys of all parts at t are within the limit, and could
// beat the best so far if the window took only shortest. What has expired is dropped only if
// even with it the window might win.
func (f *Finder) mayWin(q *query, t grid.Time, shortest grid.Duration) bool {
	c := &f.team
	if !c.enough(q) || !f.beats(t, shortest) {
		return false
	}
	c.expire(t)
	return c.enough(q) && f.beats(t, shortest)
}

// loses reports whether a window as good as the choice at t could not win. The choice costs no
// more than any other that ends in time, so none that takes as long as it can win either, and
// whether its nodes fit together does not matter.
func (f *Finder) loses(t grid.Time) bool {
	j, c := &f.best, &f.team
	return f.array && j.started && j.score.less(j.rate(t, c.time, c.cost.lo))
}

// beats reports whether a window at t could beat the best so far if it cost no more than the
// least keys and took only shortest.
func (f *Finder) beats(t grid.Time, shortest grid.Duration) bool {
	j, c := &f.best, &f.team
	if !j.started {
		return true
	}
	bound := j.rate(t, shortest, c.sum.lo)
	return bound.less(j.score) || bound == j.score && (shortest < j.time || c.sum.less(j.cost) || t < j.start)
}
