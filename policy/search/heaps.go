package search

import (
	"cmp"
	"slices"

	"bourse"
)

// heaps serve a pool of many slots: the N of least key in one heap with the
// greatest on top, all others in a second with the least on top, and a third by
// expiry. What expires is only marked, and falls out when it comes to the top;
// when the marked outnumber the live, all are built anew. Every operation is
// logarithmic, a whole scan O(m log m) however many nodes there are.
type heaps struct {
	need  int
	items []item
	in    []int32 // of least key, greatest on top
	out   []int32 // the others, least on top
	gone  []int32 // all live, earliest expiry on top
	sum   sum     // of in
	held  int     // nodes of in
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

// from starts heaps with the slots of an array, reusing h's memory if there is any.
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

func (h *heaps) less(a, b int32) bool {
	x, y := &h.items[a], &h.items[b]
	return x.key < y.key || x.key == y.key && x.pos < y.pos
}

func (h *heaps) greater(a, b int32) bool { return h.less(b, a) }

func (h *heaps) sooner(a, b int32) bool { return h.items[a].latest < h.items[b].latest }

func (h *heaps) add(k kept) {
	id := int32(len(h.items))
	h.items = append(h.items, item{kept: k, state: outside})
	h.gone = push(h.gone, id, h.sooner)
	h.bury()
	if h.held < h.need || len(h.in) > 0 && h.less(id, h.in[0]) {
		h.take(id)
	} else {
		h.out = push(h.out, id, h.less)
	}
	for h.bury(); len(h.in) > 0; h.bury() {
		top := &h.items[h.in[0]]
		if h.held-int(top.count) < h.need {
			break
		}
		h.held -= int(top.count)
		h.sum = h.sum.minus(top.key, int(top.count))
		top.state = outside
		h.out = push(h.out, h.in[0], h.less)
		h.in = pop(h.in, h.greater)
	}
}

// take moves an item inside.
func (h *heaps) take(id int32) {
	it := &h.items[id]
	it.state = inside
	h.held += int(it.count)
	h.sum = h.sum.plus(it.key, int(it.count))
	h.in = push(h.in, id, h.greater)
}

// bury drops the marked from the tops.
func (h *heaps) bury() {
	for len(h.in) > 0 && h.items[h.in[0]].state == dead {
		h.in = pop(h.in, h.greater)
	}
	for len(h.out) > 0 && h.items[h.out[0]].state == dead {
		h.out = pop(h.out, h.less)
	}
}

// expire marks what cannot start at t any more and returns how many nodes that is.
func (h *heaps) expire(t bourse.Time) int {
	nodes := 0
	for len(h.gone) > 0 && h.items[h.gone[0]].latest < t {
		it := &h.items[h.gone[0]]
		nodes += int(it.count)
		if it.state == inside {
			h.held -= int(it.count)
			h.sum = h.sum.minus(it.key, int(it.count))
		}
		it.state = dead
		h.dead++
		h.gone = pop(h.gone, h.sooner)
	}
	for h.bury(); h.held < h.need && len(h.out) > 0; h.bury() {
		id := h.out[0]
		h.out = pop(h.out, h.less)
		h.take(id)
	}
	if h.dead > len(h.gone)+arrayMost {
		h.rebuild()
	}
	return nodes
}

// rebuild forgets the marked.
func (h *heaps) rebuild() {
	items := h.items[:0]
	h.in, h.out, h.gone = h.in[:0], h.out[:0], h.gone[:0]
	for _, it := range h.items {
		if it.state == dead {
			continue
		}
		id := int32(len(items))
		items = append(items, it)
		h.gone = append(h.gone, id)
		if it.state == inside {
			h.in = append(h.in, id)
		} else {
			h.out = append(h.out, id)
		}
	}
	h.items, h.dead = items, 0
	heapify(h.in, h.greater)
	heapify(h.out, h.less)
	heapify(h.gone, h.sooner)
}

// least is the sum of the N least keys. The top of in may be needed in part
// only.
func (h *heaps) least() sum {
	h.bury()
	return h.sum.minus(h.items[h.in[0]].key, h.held-h.need)
}

// chosen returns the items inside by key, then list order.
func (h *heaps) chosen() []kept {
	h.order = h.order[:0]
	for _, id := range h.in {
		if h.items[id].state == inside {
			h.order = append(h.order, h.items[id].kept)
		}
	}
	slices.SortFunc(h.order, func(a, b kept) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.pos, b.pos))
	})
	return h.order
}

func push(h []int32, id int32, less func(a, b int32) bool) []int32 {
	h = append(h, id)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !less(id, h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = id
	return h
}

func pop(h []int32, less func(a, b int32) bool) []int32 {
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	if n > 0 {
		sift(h, 0, less)
	}
	return h
}

func sift(h []int32, i int, less func(a, b int32) bool) {
	id := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && less(h[c+1], h[c]) {
			c++
		}
		if !less(h[c], id) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = id
}

func heapify(h []int32, less func(a, b int32) bool) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		sift(h, i, less)
	}
}
