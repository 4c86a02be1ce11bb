package search

import (
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Rules on sites bound the choice from below: a part on one site costs what its cheapest
// nodes of the cheapest site do, parts that stay together what all of them do at one site.
// That is quickly summed up, and rules most starts and most sites out. Where the nodes so
// found fit together they are the choice.

// stays is what a part costs at each site, on its cheapest nodes there.
type stays struct {
	left  []int // nodes that it lacks, by site
	cost  []sum
	first []int32 // the index in its offers of the first of them in list order
	may   []bool  // whether a choice within the limit may have it there
	best  int     // the site of least cost, ties by the rule for assignments; -1: none
}

// bySites finds the choice by what each part costs at each site. It reports whether there may
// be one within the limit, and whether it is found.
func (f *Finder) bySites(q *query, longest grid.Duration, t grid.Time) (may, found bool) {
	c := &f.team
	floor := sum{}
	for i := range q.pieces {
		if f.gather(q, i, everything, longest) < q.pieces[i].Nodes {
			return false, false
		}
		x := f.stay(q, i)
		if x.best < 0 {
			return false, false
		}
		floor = floor.with(x.cost[x.best])
	}
	if q.Together {
		return f.oneForAll(q, t)
	}
	if !floor.atMost(c.most) {
		return false, false
	}
	used, clash := make(map[int]bool, len(q.pieces)), false
	for i := range q.pieces {
		x := &c.stays[i]
		if !q.pieces[i].OneSite {
			continue
		}
		rest := floor.except(x.cost[x.best])
		for s := range x.may {
			x.may[s] = x.left[s] == 0 && rest.with(x.cost[s]).atMost(c.most)
		}
		clash = clash || used[x.best]
		used[x.best] = true
	}
	f.settleAt(q, func(part int) int {
		if q.pieces[part].OneSite {
			return c.stays[part].best
		}
		return -1
	})
	return true, f.loses(t) || !(q.Apart && clash) && f.fit(q, t)
}

// oneForAll is bySites for parts that stay together.
func (f *Finder) oneForAll(q *query, t grid.Time) (may, found bool) {
	c := &f.team
	best, least, equal := -1, sum{}, false
	for s := range f.list.sites {
		all, fits := sum{}, true
		for i := range q.pieces {
			fits = fits && c.stays[i].left[s] == 0
			all = all.with(c.stays[i].cost[s])
		}
		fits = fits && all.atMost(c.most)
		for i := range q.pieces {
			c.stays[i].may[s] = fits
		}
		switch {
		case !fits:
		case best < 0 || all.less(least):
			best, least, equal = s, all, false
		case all == least:
			equal = true
		}
	}
	if best < 0 {
		return false, false
	}
	f.settleAt(q, func(int) int { return best })
	return true, f.loses(t) || !equal && f.fit(q, t)
}

// stay sums up what a part costs at each site; of one that may spread, over all of them.
func (f *Finder) stay(q *query, part int) *stays {
	c, l := &f.team, f.list
	n := max(1, l.sites)
	x := &c.stays[part]
	x.left, x.cost = slices.Grow(x.left[:0], n)[:n], slices.Grow(x.cost[:0], n)[:n]
	x.first, x.may = slices.Grow(x.first[:0], n)[:n], slices.Grow(x.may[:0], n)[:n]
	for s := range n {
		x.left[s], x.cost[s], x.first[s], x.may[s] = q.pieces[part].Nodes, sum{}, -1, true
	}
	x.best = -1
	for i, k := range c.offers[part] {
		s := 0
		if q.pieces[part].OneSite {
			s = int(l.classes[k.class].site)
		}
		if x.left[s] == 0 {
			continue
		}
		n := min(x.left[s], int(k.count))
		x.left[s] -= n
		x.cost[s] = x.cost[s].plus(k.key, n)
		if b := x.first[s]; b < 0 || f.byList(k, c.offers[part][b]) < 0 {
			x.first[s] = int32(i)
		}
	}
	for s := range n {
		if x.left[s] > 0 {
			continue
		}
		b := x.best
		if b < 0 || x.cost[s].less(x.cost[b]) || x.cost[s] == x.cost[b] && f.byList(c.offers[part][x.first[s]], c.offers[part][x.first[b]]) < 0 {
			x.best = s
		}
	}
	return x
}

// settleAt makes the cheapest nodes of each part at a site, or anywhere if it is -1, the
// choice.
func (f *Finder) settleAt(q *query, site func(part int) int) {
	c, l := &f.team, f.list
	c.chosen, c.time, c.cost = c.chosen[:0], 0, sum{}
	for i := range q.pieces {
		at, left, first := site(i), q.pieces[i].Nodes, len(c.chosen)
		for _, k := range c.offers[i] {
			if at >= 0 && int(l.classes[k.class].site) != at {
				continue
			}
			n := min(left, int(k.count))
			f.join(q, i, k, n)
			if left -= n; left == 0 {
				break
			}
		}
		slices.SortFunc(c.chosen[first:], func(a, b member) int { return f.byList(a.kept, b.kept) })
	}
}

// mayServe reports whether a choice within the limit may have nodes of a class for a part.
func (f *Finder) mayServe(q *query, part int, class int32) bool {
	if !q.Together && !q.pieces[part].OneSite {
		return true
	}
	return f.team.stays[part].may[f.list.classes[class].site]
}

// except returns s - o, which must not be greater.
func (s sum) except(o sum) sum {
	lo, borrow := bits.Sub64(s.lo, o.lo, 0)
	return sum{s.hi - o.hi - borrow, lo}
}
