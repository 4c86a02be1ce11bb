package sim

import "github.com/bourse-grid/bourse/grid"

// eventHeap is a four-way heap of events by instant, rank, order of scheduling.
// Four children a node halve the depth, which pays at a million events.
type eventHeap []event

func (h eventHeap) less(i, j int) bool {
	a, b := &h[i], &h[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.rank != b.rank {
		return a.rank < b.rank
	}
	return a.seq < b.seq
}

// due reports whether the first event is due by t.
func (h eventHeap) due(t grid.Time) bool { return len(h) > 0 && h[0].at <= t }

// each calls f for every event, which f may give another instant, and sorts them anew.
func (h *eventHeap) each(do func(*event)) {
	all := *h
	*h = all[:0]
	for _, e := range all { // which are read before they are written over
		do(&e)
		h.push(e)
	}
}

func (h *eventHeap) push(e event) {
	*h = append(*h, e)
	q := *h
	for i := len(q) - 1; i > 0; {
		parent := (i - 1) / 4
		if !q.less(i, parent) {
			break
		}
		q[i], q[parent] = q[parent], q[i]
		i = parent
	}
}

func (h *eventHeap) pop() event {
	q := *h
	top := q[0]
	last := len(q) - 1
	q[0] = q[last]
	q[last] = event{}
	q = q[:last]
	for i := 0; ; {
		least := i
		for c := 4*i + 1; c < len(q) && c <= 4*i+4; c++ {
			if q.less(c, least) {
				least = c
			}
		}
		if least == i {
			break
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
	*h = q
	return top
}
