package search

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Query is a request prepared for any number of searches on lists of the same groups.
type Query struct {
	query
	front []fit // fits not dominated in runtime and cost, the quickest first
	list  *List // of the Finder that prepared it
}

// Prepare makes a request ready for Least. No window starts before notice. barred, by
// group, says which groups must not be used; nil means none. It costs a look at each group
// and panics on the requests that Find panics on.
func (f *Finder) Prepare(r grid.Request, notice grid.Time, barred []bool) *Query {
	q := &Query{query: f.list.prepare(r, Best, notice), list: f.list}
	q.bar(barred)
	if q.pieces != nil {
		for i := range q.pieces {
			if p := &q.pieces[i].query; len(f.list.classes) <= maxTable {
				p.tabulate(f.list, make([]fit, 0, len(f.list.classes)))
				p.lasts = true
			}
		}
		return q
	}
	if len(f.list.classes) <= maxTable {
		q.tabulate(f.list, make([]fit, 0, len(f.list.classes)))
	}
	front := f.front[:0]
	for g := range f.list.classes {
		if x := q.fit(f.list, int32(g)); x.runtime > 0 {
			front = append(front, x)
		}
	}
	slices.SortFunc(front, func(x, y fit) int { return cmp.Or(cmp.Compare(x.runtime, y.runtime), cmp.Compare(x.key, y.key)) })
	n := 0
	for _, x := range front {
		if n == 0 || x.key < front[n-1].key {
			front[n] = x
			n++
		}
	}
	q.front, f.front = slices.Clone(front[:n]), front
	return q
}

// Cap applies the price cap of the request to each node at every instant, also where prices
// change over time. Groups with a constant price are not affected; use barred for those.
// In a job of parts each part has its own cap, which then holds for constant prices too.
func (q *Query) Cap() {
	q.capped = true
	for i := range q.pieces {
		p := &q.pieces[i].query
		if p.capped = true; p.fits != nil {
			p.tabulate(q.list, p.fits[:0])
			q.pieces[i].ranks, q.serves = nil, nil
		}
	}
}

// Fit returns how long the request takes on a node of a group of a fungible list, and what
// one node costs for that time from an instant on; 0 if the group does not suit it.
func (f *Finder) Fit(q *Query, group int, at grid.Time) (grid.Duration, grid.Credits) {
	x := q.at(f.list, int32(group), at)
	return x.runtime, grid.Credits(x.key)
}

// Least finds the best window by Weights with Value on a fungible list, within a limit of
// at most the request's budget. It is Find under Best without the reason for a refusal,
// which can cost more than the search. Among windows with the same score it may return one
// of a single group though another one starts earlier.
//
// For most requests a single group is best, and for one group a walk over its profile is
// enough. A scan is needed only if a window of several groups might be better, and it then
// begins with that bound.
func (f *Finder) Least(p *Query, w Weights, limit grid.Credits) (grid.Window, bool) {
	return f.seek(p, w, limit, true)
}

// LeastOfOne is Least among windows of single groups; only if there is none, among those of
// several. It is quicker than Least.
func (f *Finder) LeastOfOne(p *Query, w Weights, limit grid.Credits) (grid.Window, bool) {
	return f.seek(p, w, limit, false)
}

func (f *Finder) seek(p *Query, w Weights, limit grid.Credits, several bool) (grid.Window, bool) {
	q := &p.query
	q.limit = limit
	if q.pieces != nil {
		q.bounded = false
		defer f.forget(q)
		if !f.bestComposed(q, w) {
			return grid.Window{}, false
		}
		return f.found, true
	}
	if len(p.front) == 0 {
		return grid.Window{}, false
	}
	f.best.open(q, w)
	f.best.found(p.front)
	if f.list.curved {
		return f.seekCurved(q, several)
	}
	group := f.single(q)
	if f.portions = q.portions; q.portions != nil {
		f.best.bound() // a scan says on which nodes, of whole ones and opened ones
		group = -1
	}
	if group < 0 || several && f.best.beatable() {
		f.hook, f.array = f.weigh, true
		f.scan(q, true)
		if len(f.best.chosen) > 0 {
			f.found.Start = f.best.start
			f.chosen = append(f.chosen[:0], f.best.chosen...)
			f.build(q)
			return f.found, true
		}
	}
	if group < 0 {
		return grid.Window{}, false
	}
	fit := q.fit(f.list, int32(group))
	cost := grid.Credits(fit.key).Times(q.Nodes)
	at := f.best.start
	return grid.Window{Start: at, Time: fit.runtime, Cost: cost, Parts: []grid.Part{{
		Group: int32(group), Count: int32(q.Nodes), Start: at, End: at.Add(fit.runtime), Cost: cost}}}, true
}

// single rates, for each group, the best window of that group alone. It returns the group
// of the best one, or -1 if there is none.
func (f *Finder) single(q *query) int {
	l, j, group := f.list, &f.best, -1
	for g := range l.levels {
		fit := q.fit(l, int32(g))
		cost := sum{}.plus(fit.key, q.Nodes)
		if fit.runtime == 0 || l.groups[g].Nodes < q.Nodes || !cost.atMost(q.limit) {
			continue
		}
		if j.started && j.score.less(j.rate(q.from, fit.runtime, cost.lo)) {
			continue
		}
		free := l.levels[g].free
		t := free.EarliestFit(max(q.from, free[0].At), q.Nodes, fit.runtime)
		if t == grid.Never || t.Add(fit.runtime) > min(q.Deadline, l.to) {
			continue
		}
		score := j.rate(t, fit.runtime, cost.lo)
		if j.better(score, fit.runtime, cost, t) {
			j.started, j.score, j.time, j.cost, j.start = true, score, fit.runtime, cost, t
			group = g
		}
	}
	return group
}

// found sets the floor: the least score of a window that starts at once. Among windows with
// no part longer than some runtime, at best all nodes are the cheapest of those that take
// no longer.
func (j *judge) found(front []fit) {
	for i, x := range front {
		cost := sum{}.plus(x.key, j.q.Nodes)
		if cost.hi > 0 {
			continue
		}
		if s := j.rate(j.q.from, x.runtime, cost.lo); i == 0 || s.less(j.floor) {
			j.floor, j.quick = s, x.runtime
		}
	}
}

// bound makes a search look for windows that score no worse than the known one, which it then
// finds again.
func (j *judge) bound() {
	if j.started {
		j.lower()
		j.time, j.cost, j.start = grid.Duration(grid.Never), beyond, grid.Never
	}
}

// beatable reports whether a window of several groups might beat the known one, and sets
// the bounds on its parts.
func (j *judge) beatable() bool {
	if !j.floor.less(j.score) {
		return false
	}
	j.lower()
	return true
}
