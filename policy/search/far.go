package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// A job of parts mostly takes the few cheapest slots of each pool, and most others expire
// before anybody looks at them. So a lazy pool puts aside, in no order, what is no cheaper
// than its sorted slots, once these have enough nodes, and sorts it only when they have not.

// far are the slots of a lazy pool that are put aside.
type far struct {
	slots []kept
	least int64 // the least key among them, or less
	ready bool  // they are in order
}

// Of the sorted slots of a lazy pool at most nearMost are not among the N least; beyond that
// only nearLeast stay. With some more than needed the far ones are not sorted each time that
// one expires.
const (
	nearMost  = 24
	nearLeast = 8
)

// empty drops all slots, and keeps their memory.
func (f *far) empty() *far {
	*f = far{slots: f.slots[:0], least: math.MaxInt64}
	return f
}

// len is the number of slots put aside.
func (f *far) len() int {
	if f == nil {
		return 0
	}
	return len(f.slots)
}

// defers puts a slot aside if the sorted ones are enough without it.
func (p *pool) defers(k kept) bool {
	n := len(p.sorted)
	if n == 0 || p.held < p.need || k.key < p.sorted[n-1].key {
		return false
	}
	if n > p.prefix+nearMost {
		for _, x := range p.sorted[p.prefix+nearLeast:] {
			p.far.put(x)
		}
		p.sorted = p.sorted[:p.prefix+nearLeast]
	}
	p.far.put(k)
	return true
}

// above reports whether all slots put aside are dearer than a key.
func (f *far) above(key int64) bool { return f == nil || f.least > key }

func (f *far) put(k kept) {
	f.slots = append(f.slots, k)
	f.least, f.ready = min(f.least, k.key), false
}

// nearer appends the cheapest half of the far slots to the sorted ones. It reports false if
// there are none.
func (p *pool) nearer() bool {
	f := p.far
	if f.len() == 0 {
		return false
	}
	if !f.ready {
		slices.SortFunc(f.slots, func(a, b kept) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.pos, b.pos)) })
		f.ready = true
	}
	n := min(len(f.slots), max(nearLeast, len(f.slots)/2))
	p.sorted = append(p.sorted, f.slots[:n]...)
	f.slots = append(f.slots[:0], f.slots[n:]...)
	if f.least = math.MaxInt64; len(f.slots) > 0 {
		f.least = f.slots[0].key
	}
	return true
}

// expireFar drops far slots whose latest start is before t.
func (p *pool) expireFar(t grid.Time) {
	w := 0
	for i := range p.far.slots {
		k := &p.far.slots[i]
		if k.latest < t {
			p.live -= int(k.count)
			continue
		}
		p.first = min(p.first, k.latest)
		if w != i {
			p.far.slots[w] = *k
		}
		w++
	}
	p.far.slots = p.far.slots[:w]
}

// weedFar drops far slots that no longer serve.
func (p *pool) weedFar(serves func(k *kept) bool) {
	w := 0
	for i := range p.far.slots {
		if k := &p.far.slots[i]; serves(k) {
			p.far.slots[w] = *k
			w++
		} else {
			p.live -= int(k.count)
		}
	}
	p.far.slots = p.far.slots[:w]
}
