package queue

import "github.com/bourse-grid/bourse/grid"

// end says when a running job is over, or reaches its planned end.
type end struct {
	at  grid.Time
	id  int64
	ref int32
}

func (x end) before(y end) bool { return x.at < y.at || x.at == y.at && x.id < y.id }

// endHeap is a binary heap of ends, by time, then by id.
type endHeap []end

func (h *endHeap) push(x end) {
	a := append(*h, x)
	i := len(a) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !x.before(a[up]) {
			break
		}
		a[i] = a[up]
		i = up
	}
	a[i] = x
	*h = a
}

func (h *endHeap) pop() end {
	a := *h
	first, x := a[0], a[len(a)-1]
	a = a[:len(a)-1]
	*h = a
	if len(a) == 0 {
		return first
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(a) {
			break
		}
		if down+1 < len(a) && a[down+1].before(a[down]) {
			down++
		}
		if !a[down].before(x) {
			break
		}
		a[i] = a[down]
		i = down
	}
	a[i] = x
	return first
}

// remove removes the end at index i. It rebuilds the heap.
func (h *endHeap) remove(i int) {
	a := *h
	*h = a[:0]
	for k, x := range a {
		if k != i {
			h.push(x)
		}
	}
}
