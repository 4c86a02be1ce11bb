package backfill

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// next is the first of the jobs from a to b, by their indices, that could use w, or none.
func (t *timeline) next(w *window, long bourse.Duration, a, b int32) int32 {
	found := int32(none)
	s := span(w.from.Sub(t.origin))
	for c := class(int(w.low) + 1); c <= class(int(w.high)); c++ {
		for x := c*spans + s; x < (c+1)*spans && t.beyond[x] <= long; x++ {
			if t.least[x] > long {
				continue
			}
			cell := t.order[t.first[x]:t.first[x+1]]
			low, high := 0, len(cell)
			for low < high {
				if mid := int(uint(low+high) >> 1); cell[mid].job < a {
					low = mid + 1
				} else {
					high = mid
				}
			}
			for _, f := range cell[low:] {
				if f.job > b {
					break
				}
				if f.estimate > long || f.nodes <= w.low || f.nodes > w.high {
					continue
				}
				if k := t.places[f.job].start; k != none && w.from.Add(f.estimate) <= t.list[k].at {
					found, b = f.job, f.job-1
					break
				}
			}
		}
	}
	return found
}

// sort finds the cells of the jobs anew.
func (t *timeline) sort(nodes int) {
	t.origin, t.classes = t.list[opening].at, class(nodes)+1
	n := t.classes * spans
	t.first = append(t.first[:0], make([]int32, n+1)...)
	t.cells = slices.Grow(t.cells[:0], len(t.places))[:len(t.places)]
	t.least, t.beyond = t.least[:0], t.beyond[:0]
	for range n {
		t.least = append(t.least, forever)
	}
	count := int32(0)
	for i := range t.places {
		p := &t.places[i]
		if p.start == none {
			continue
		}
		x := class(int(p.nodes))*spans + span(t.list[p.start].at.Sub(t.origin))
		t.cells[i] = int32(x)
		t.first[x+1]++
		t.least[x] = min(t.least[x], p.estimate)
		count++
	}
	t.beyond = append(t.beyond, t.least...)
	for x := range n {
		t.first[x+1] += t.first[x]
		if y := n - 1 - x; (y+1)%spans > 0 {
			t.beyond[y] = min(t.beyond[y], t.beyond[y+1])
		}
	}
	t.order = slices.Grow(t.order[:0], int(count))[:count]
	for i := range t.places {
		if p := &t.places[i]; p.start != none {
			x := t.cells[i]
			t.order[t.first[x]] = filed{p.estimate, p.nodes, int32(i)}
			t.first[x]++
		}
	}
	copy(t.first[1:], t.first[:n])
	t.first[0] = 0
	t.sorted, t.moves = len(t.places), 0
}

// file puts job i, which has just been given its place, into its cell if the jobs are
// sorted and it is behind all that are there.
func (t *timeline) file(i int32) {
	if t.sorted == 0 || int(i) < t.sorted {
		t.sorted = 0
		return
	}
	t.sorted = int(i) + 1
	p := &t.places[i]
	c := class(int(p.nodes)) * spans
	x := c + span(t.list[p.start].at.Sub(t.origin))
	t.order = slices.Insert(t.order, int(t.first[x+1]), filed{p.estimate, p.nodes, i})
	for y := x + 1; y < len(t.first); y++ {
		t.first[y]++
	}
	t.least[x] = min(t.least[x], p.estimate)
	for y := c; y <= x; y++ {
		t.beyond[y] = min(t.beyond[y], p.estimate)
	}
}
