package search

import "github.com/bourse-grid/bourse/grid"

// A walk over all slots is long. What groups have for a job of parts at one start can also be
// read from their profiles, the cheapest groups first. So the earliest start is looked at
// without a walk: where it has a choice, amp and alp need none. And best looks first at the
// starts that windows had lately. A window found there need not be the best one, but it
// bounds the walk, which then passes over most slots. It cannot hide a better one: the walk
// still finds whatever scores no worse, and a window at a start that is none, because
// nothing comes free there, would exist as well at an earlier one.

// ranks are the classes that suit a part, the cheapest first: in order as far as somebody
// has asked.
type ranks struct {
	list []int32 // list[:rest] is a heap, and what follows in order, the first at the end
	rest int
}

// ranked returns the k-th cheapest class that suits the part, of equal ones the first in list
// order, or -1. It costs a logarithm, but the first time a look at each class.
func (p *piece) ranked(k int) int32 {
	r := &p.ranks
	if r.list == nil {
		r.list = make([]int32, 0, p.suited)
		for class := range p.fits {
			if p.fits[class].runtime > 0 {
				r.list = append(r.list, int32(class))
			}
		}
		r.rest = len(r.list)
		for i := r.rest/2 - 1; i >= 0; i-- {
			p.sink(i)
		}
	}
	if k >= len(r.list) {
		return -1
	}
	for len(r.list)-r.rest <= k {
		r.rest--
		r.list[0], r.list[r.rest] = r.list[r.rest], r.list[0]
		p.sink(0)
	}
	return r.list[len(r.list)-1-k]
}

// sink restores the heap below i.
func (p *piece) sink(i int) {
	heap := p.ranks.list[:p.ranks.rest]
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if p.cheaper(heap[child], heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

func (p *piece) cheaper(a, b int32) bool {
	x, y := p.fits[a].key, p.fits[b].key
	return x < y || x == y && a < b
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
	for k := 0; ; k++ {
		class := p.ranked(k)
		if class < 0 {
			return nodes
		}
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
}
