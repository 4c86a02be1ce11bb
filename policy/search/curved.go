package search

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// A fungible list is searched here if the prices of some of its groups change over time, so
// that the cost of a node depends on its start. Between the instants at which anything
// changes, the cost of a window is linear in its start. So the cheapest window starts at
// one of them: where nodes come free, where a price changes, or so that a part ends exactly
// at such an instant. The first start within the budget may lie between two of them, where
// the cost has fallen far enough. There the cost of the cheapest nodes is concave, so
// bisection finds it. It misses only windows that do not consist of the cheapest nodes and
// are best exactly where their own cost crosses the budget.
//
// AMPLiteral is the same as AMP here: a group of equal starts is looked at as a whole. A
// scan looks at every group at each of these instants, with a binary search each.

// starts lists, in order, the instants at which a window of q may begin.
func (f *Finder) starts(q *query) []grid.Time {
	l := f.list
	last := min(q.Deadline, l.to)
	list := append(f.instants[:0], max(q.from, l.from))
	for g := range l.classes {
		rt := q.fit(l, int32(g)).runtime
		if rt == 0 {
			continue
		}
		add := func(t grid.Time) {
			for _, t := range [...]grid.Time{t, t.Add(-rt)} {
				if t > q.from && t > l.from && t.Add(rt) <= last {
					list = append(list, t)
				}
			}
		}
		for _, step := range l.levels[g].free {
			add(step.At)
		}
		add(last)
		if c := l.classes[g].curve; c != nil {
			for t := c.Next(list[0]); t < last; t = c.Next(t) {
				add(t)
			}
		}
	}
	slices.Sort(list)
	f.instants = slices.Compact(list)
	return f.instants
}

// scanCurved is scan for a list with changing prices.
func (f *Finder) scanCurved(q *query) int {
	if q.least > grid.Duration(grid.Never) {
		return -1 // no class suits the request
	}
	f.open(q)
	before, had := grid.Time(0), true // the previous start, and whether it had enough
	for _, t := range f.starts(q) {
		if f.array && f.best.hopeless(t) {
			return -1
		}
		enough := f.fill(q, t)
		if enough && !had {
			if f.fill(q, t-1) { // there is an earlier start
				if at := f.settle(f.earliest(q, before, t-1)); at >= 0 {
					return at
				}
			}
			f.fill(q, t)
		}
		if at := f.settle(t); at >= 0 {
			return at
		}
		before, had = t, enough
	}
	return -1
}

// earliest returns the first instant in (after, by] at which a pool has enough, or by. The
// pools are left as they are at that instant.
func (f *Finder) earliest(q *query, after, by grid.Time) grid.Time {
	for by-after > 1 {
		if mid := after + (by-after)/2; f.fill(q, mid) {
			by = mid
		} else {
			after = mid
		}
	}
	f.fill(q, by)
	return by
}

// fill refills the pools with what is free at t for long enough, and reports whether one
// has enough. The position of a slot is its class.
func (f *Finder) fill(q *query, t grid.Time) bool {
	l := f.list
	for i := range f.pools {
		p := &f.pools[i]
		most := p.most
		p.reset(q.Nodes, q.limit)
		p.array, p.most = f.array, most
	}
	f.dirty = f.dirty[:0]
	for g := range l.classes {
		c := &l.classes[g]
		x := q.at(l, int32(g), t)
		if x.runtime == 0 || x.runtime > f.best.longest || x.key > f.best.dearest {
			continue
		}
		end := t.Add(x.runtime)
		if end > min(q.Deadline, l.to) {
			continue
		}
		n := l.levels[g].free.Min(t, end)
		if n <= 0 {
			continue
		}
		site := 0
		if q.OneSite {
			site = int(c.site)
		}
		p := &f.pools[site]
		if !p.dirty {
			p.dirty, p.fresh = true, x.runtime
			f.dirty = append(f.dirty, int32(site))
		}
		p.fresh = min(p.fresh, x.runtime)
		p.add(kept{x.key, t, int64(g), int32(n), int32(g)}, t)
	}
	return slices.ContainsFunc(f.dirty, func(i int32) bool { return f.pools[i].enough() })
}

// at is fit for a part that starts at t: it uses the cost at that start, not the least
// possible.
func (q *query) at(l *List, class int32, t grid.Time) fit {
	x, c := q.fit(l, class), &l.classes[class]
	if x.runtime == 0 || c.curve == nil {
		return x
	}
	switch end := t.Add(x.runtime); q.sums {
	case byCount:
		if q.price(l, c, c.dearest(t, end)) > q.MaxPrice {
			return fit{}
		}
	case byPrice:
		x.key = int64(q.price(l, c, c.dearest(t, end)))
	case byCost:
		if q.capped && q.price(l, c, c.dearest(t, end)) > q.MaxPrice {
			return fit{}
		}
		x.key = int64(q.costOver(l, c, t, end))
	}
	return x
}

// dearest returns the highest price of a node in [from, to).
func (c *class) dearest(from, to grid.Time) grid.Price {
	g := grid.Group{Price: c.price, Curve: c.curve}
	return g.Dearest(from, to)
}

// cheapest returns the lowest price of a class between the first start of q and its last
// end.
func (c *class) cheapest(l *List, q *query) grid.Price {
	if c.curve == nil {
		return c.price
	}
	from := max(q.from, l.from)
	least, _ := c.curve.Bounds(from, max(min(q.Deadline, l.to), from+1))
	return grid.Price(int64(c.price) * int64(least) / 1000)
}

// buildCurved makes f.found from the chosen nodes, with one part for each group.
func (f *Finder) buildCurved(q *query) {
	slices.SortFunc(f.chosen, byPlace)
	w := grid.Window{Start: f.found.Start}
	parts := f.room(len(f.chosen))
	for _, k := range f.chosen {
		c := &f.list.classes[k.class]
		rt := c.performance.Runtime(q.Length)
		p := grid.Part{Group: c.group, Count: k.count, Start: w.Start, End: w.Start.Add(rt)}
		p.Slices = int32(q.slices(c))
		p.Cost = q.costOver(f.list, c, p.Start, p.End).Times(int(k.count))
		w.Time, w.Cost = max(w.Time, rt), w.Cost.Plus(p.Cost)
		parts = append(parts, p)
	}
	w.Parts = parts[:len(parts):len(parts)]
	f.arena = f.arena[:len(f.arena)+len(parts)]
	f.found = w
}

// seekCurved is seek for a list with changing prices.
func (f *Finder) seekCurved(q *query, several bool) (grid.Window, bool) {
	f.singleCurved(q)
	if !f.best.started || several && f.best.beatable() {
		f.hook, f.array = f.weigh, true
		f.scan(q, true)
	}
	if !f.best.started {
		return grid.Window{}, false
	}
	f.found.Start = f.best.start
	f.chosen = append(f.chosen[:0], f.best.chosen...)
	f.build(q)
	return f.found, true
}

// singleCurved is single for a list with changing prices.
func (f *Finder) singleCurved(q *query) {
	l, j := f.list, &f.best
	last := min(q.Deadline, l.to)
	for g := range l.levels {
		free := l.levels[g].free
		x := q.fit(l, int32(g))
		if x.runtime == 0 || l.groups[g].Nodes < q.Nodes {
			continue
		}
		try := func(t grid.Time) {
			if t = max(t, q.from, l.from); t.Add(x.runtime) > last {
				return
			}
			at := q.at(l, int32(g), t)
			cost := sum{}.plus(at.key, q.Nodes)
			if at.runtime == 0 || !cost.atMost(q.limit) {
				return
			}
			score := j.rate(t, at.runtime, cost.lo)
			if j.better(score, at.runtime, cost, t) && free.Min(t, t.Add(at.runtime)) >= q.Nodes {
				j.started, j.score, j.time, j.cost, j.start = true, score, at.runtime, cost, t
				j.chosen = append(j.chosen[:0], kept{at.key, t, int64(g), int32(q.Nodes), int32(g)})
			}
		}
		try(q.from)
		for _, step := range free {
			try(step.At)
			try(step.At.Add(-x.runtime))
		}
		try(last.Add(-x.runtime))
		if c := l.classes[g].curve; c != nil {
			for t := c.Next(max(q.from, l.from)); t < last; t = c.Next(t) {
				try(t)
				try(t.Add(-x.runtime))
			}
		}
	}
}
