package search

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// A walk over all slots is long. What groups have for a job of parts at one start can also be
// read from their profiles, the cheapest groups first. So the earliest start is looked at
// without a walk: where it has a choice, amp and alp need none. And best looks first at the
// starts that windows had lately. A window found there need not be the best one, but it
// bounds the walk, which then passes over most slots. It cannot hide a better one: the walk
// still finds whatever scores no worse, and a window at a start that is none, because
// nothing comes free there, would exist as well at an earlier one.

// ranked returns the classes that suit the part, the cheapest first, of equal ones the first in
// list order. By what a node costs for the same work they are nearly in order: a runtime is
// rounded, and a part may take other shares of other nodes.
func (p *piece) ranked(l *List) []int32 {
	if p.ranks == nil {
		p.ranks = make([]int32, 0, p.suited)
		for _, class := range l.byRate() {
			if p.fits[class].runtime > 0 {
				p.ranks = append(p.ranks, class)
			}
		}
		slices.SortFunc(p.ranks, func(a, b int32) int {
			return cmp.Or(cmp.Compare(p.fits[a].key, p.fits[b].key), cmp.Compare(a, b))
		})
	}
	return p.ranks
}

// byRate returns the classes by price over performance, the cheapest first, in list order if
// they are equal.
func (l *List) byRate() []int32 {
	if len(l.rates) == len(l.classes) {
		return l.rates
	}
	l.rates = l.rates[:0]
	for class := range l.classes {
		l.rates = append(l.rates, int32(class))
	}
	slices.SortFunc(l.rates, func(a, b int32) int {
		x, y := &l.classes[a], &l.classes[b]
		dear, cheap := sum{}.plus(int64(x.price), int(y.performance)), sum{}.plus(int64(y.price), int(x.performance))
		switch {
		case dear.less(cheap):
			return -1
		case cheap.less(dear):
			return 1
		}
		return cmp.Compare(a, b)
	})
	return l.rates
}

// spots looks at the starts that need no walk, and reports whether the search is over.
func (f *Finder) spots(q *query, at func(t grid.Time) bool) bool {
	c := &f.team
	c.spots = c.spots[:0]
	if !f.list.fungible || len(f.list.classes) > maxTable || c.walk {
		return false
	}
	earliest := max(q.from, f.list.from)
	if !f.array {
		return !q.level && f.spot(q, earliest, at)
	}
	if f.list.padding {
		return false // what the padding between parts allows may begin where nothing comes free
	}
	for _, t := range [...]grid.Time{q.lately, c.lately} {
		if t >= earliest && t < f.list.to && f.spot(q, t, at) {
			return true
		}
	}
	return false
}

// spot looks at one start, and reports whether the search is over.
func (f *Finder) spot(q *query, t grid.Time, at func(t grid.Time) bool) bool {
	c := &f.team
	if c.spotted(t) {
		return false
	}
	c.spots = append(c.spots, t)
	c.open(f.list, q)
	if c.start, c.fresh = t, 0; f.array {
		f.lower(q, t)
	}
	need := everything
	if !f.array && !f.list.padding && !q.ruled && !q.Together && !q.Apart {
		need = q.Nodes // see gatherAll
	}
	for i := range q.pieces {
		if f.read(q, i, t, need) < q.pieces[i].Nodes {
			return false
		}
	}
	return at(t)
}

// spotted reports whether a start has been looked at.
func (c *team) spotted(t grid.Time) bool {
	for _, x := range c.spots {
		if x == t {
			return true
		}
	}
	return false
}

// read fills the pool of a part with what its classes have at t, the cheapest first, until
// they have enough nodes; what is as dear as the last belongs to it. It returns how many
// there are.
func (f *Finder) read(q *query, part int, t grid.Time, need int) (nodes int) {
	c, l, p := &f.team, f.list, &q.pieces[part]
	start, until := t.Add(p.offset), min(p.Deadline, l.to)
	last := int64(-1)
	for _, class := range p.ranked(l) {
		x := p.fits[class]
		if x.key > c.dearest[part] || nodes >= need && x.key != last {
			return nodes
		}
		last = x.key
		end := start.Add(x.runtime)
		if end > until || p.last(x.runtime) > c.longest || c.hopeless(part, class) {
			continue
		}
		if n := l.levels[class].free.Min(start, end); n > 0 {
			nodes += n
			c.pools[part].add(kept{x.key, t, int64(class), int32(n), class}, t)
		}
	}
	return nodes
}
