package search

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// heaps serve a pool with many slots. One heap holds the N least keys with the greatest on
// top, a second all others with the least on top, and a third all slots by expiry. Expired
// slots are only marked and removed once they reach the top; when the marked outnumber the
// live, all heaps are rebuilt. Every operation is logarithmic, so a whole scan costs O(m
// log m) for any number of nodes.
type heaps struct {
	need  int
	items []item
	in    heap // the N least keys, negated so that the greatest is on top
	out   heap // the others, least on top
	gone  heap // all live, earliest expiry on top
	sum   sum  // of the keys in in
	held  int  // nodes of in
	dead  int
	order []kept // scratch of chosen
}

type item struct {
	kept
	state int8
}

const (
	dead int8 = iota
	inside
	outside
)

// from starts heaps with the slots of an array. It reuses the memory of h, which may be
// nil.
func (h *heaps) from(sorted []kept, need int) *heaps {
	if h == nil {
		h = new(heaps)
	}
	*h = heaps{need: need, items: h.items[:0], in: h.in[:0], out: h.out[:0], gone: h.gone[:0], order: h.order[:0]}
	for _, k := range sorted {
		h.add(k)
	}
	return h
}

func (h *heaps) add(k kept) {
	id := int32(len(h.items))
	h.items = append(h.items, item{kept: k, state: outside})
	h.gone.push(node{int64(k.latest), 0, id})
	if h.held < h.need || len(h.in) > 0 && h.in[0].behind(k.key) {
		h.take(id)
	} else {
		h.out.push(node{k.key, k.pos, id})
	}
	for h.dropDead(); len(h.in) > 0; h.dropDead() {
		id := h.in[0].id
		top := &h.items[id]
		if h.held-int(top.count) < h.need {
			break
		}
		h.held -= int(top.count)
		h.sum = h.sum.minus(top.key, int(top.count))
		top.state = outside
		h.in.pop()
		h.out.push(node{top.key, top.pos, id})
	}
}

// take moves an item inside.
func (h *heaps) take(id int32) {
	it := &h.items[id]
	it.state = inside
	h.held += int(it.count)
	h.sum = h.sum.plus(it.key, int(it.count))
	h.in.push(node{-it.key, -it.pos, id})
}

// dropDead removes marked items from the tops. It runs after every change.
func (h *heaps) dropDead() {
	for len(h.in) > 0 && h.items[h.in[0].id].state == dead {
		h.in.pop()
	}
	for len(h.out) > 0 && h.items[h.out[0].id].state == dead {
		h.out.pop()
	}
}

// expire marks slots whose latest start is before t and returns how many nodes they have.
func (h *heaps) expire(t grid.Time) int {
	nodes := 0
	for len(h.gone) > 0 && h.gone[0].key < int64(t) {
		it := &h.items[h.gone[0].id]
		nodes += int(it.count)
		if it.state == inside {
			h.held -= int(it.count)
			h.sum = h.sum.minus(it.key, int(it.count))
		}
		it.state = dead
		h.dead++
		h.gone.pop()
	}
	for h.dropDead(); h.held < h.need && len(h.out) > 0; h.dropDead() {
		id := h.out[0].id
		h.out.pop()
		h.take(id)
	}
	if h.dead > len(h.gone)+arrayMost {
		h.rebuild()
	}
	return nodes
}

// rebuild removes all marked items.
func (h *heaps) rebuild() {
	items := h.items[:0]
	h.in, h.out, h.gone = h.in[:0], h.out[:0], h.gone[:0]
	for _, it := range h.items {
		if it.state == dead {
			continue
		}
		id := int32(len(items))
		items = append(items, it)
		h.gone = append(h.gone, node{int64(it.latest), 0, id})
		if it.state == inside {
			h.in = append(h.in, node{-it.key, -it.pos, id})
		} else {
			h.out = append(h.out, node{it.key, it.pos, id})
		}
	}
	h.items, h.dead = items, 0
	h.in.order()
	h.out.order()
	h.gone.order()
}

// least returns the sum of the N least keys. Only a part of the top of in may be needed.
func (h *heaps) least() sum {
	return h.sum.minus(-h.in[0].key, h.held-h.need)
}

// dearest returns the greatest of the N least keys.
func (h *heaps) dearest() int64 { return -h.in[0].key }

// chosen returns the items inside by key, then list order.
func (h *heaps) chosen() []kept {
	h.order = h.order[:0]
	for _, n := range h.in {
		if h.items[n.id].state == inside {
			h.order = append(h.order, h.items[n.id].kept)
		}
	}
	slices.SortFunc(h.order, func(a, b kept) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.pos, b.pos))
	})
	return h.order
}

// heap is a binary heap with the least (key, pos) on top.
type heap []node

type node struct {
	key, pos int64
	id       int32
}

// behind reports whether a new item with that key comes before the top of a heap of negated
// keys. The new item is the last in list order, so it does not if the keys are equal.
func (n *node) behind(key int64) bool { return -n.key > key }

func (n *node) before(o *node) bool { return n.key < o.key || n.key == o.key && n.pos < o.pos }

func (h *heap) push(n node) {
	*h = append(*h, n)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !n.before(&s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = n
}

func (h *heap) pop() {
	s := *h
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	if last > 0 {
		s.sift(0)
	}
	*h = s
}

func (h heap) sift(i int) {
	n := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].before(&h[c]) {
			c++
		}
		if !h[c].before(&n) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = n
}

func (h heap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sift(i)
	}
}
