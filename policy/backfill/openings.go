package backfill

import (
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse"
)

// openings know which guarantees might move up. After a compression has looked at a
// job, it can move only for nodes that come free later: just before its guarantee, so
// that it slides up, or in a window that is long and wide enough for all of it. So
// when nodes come free, those who could use them are marked, and a compression looks
// at who is marked. Of 10,000 jobs that wait that is a third, and a search for room
// begins where it has appeared.
type openings struct {
	worth int      // so many must wait
	marks []uint64 // by line index
	all   bool     // any might: marks are not kept
	zones []zone   // came free since the last compression
	last  [hintSizes][hintSpans]int32

	// The jobs by size class and, within one, by when they are guaranteed, as it was
	// when the compression began: guarantees have only moved up since.
	origin  bourse.Time
	classes int
	order   []int32           // line indices
	cells   []int32           // of each job, on the way to order
	first   []int32           // of each cell, in order
	least   []bourse.Duration // least estimate of each cell
	beyond  []bourse.Duration // the same of the cell and of the later ones of its class
}

// zone is n nodes that came free over [s, e).
type zone struct {
	s, e bourse.Time
	n    int32
}

const (
	spans     = 96 // of time; cells of a size class
	hintSizes = 8
	hintSpans = 3

	worthMarks = 64 // jobs that wait; with fewer, a look at each costs less
)

// span is the cell of its class for a guarantee that long after the origin: four to
// each doubling.
func span(d bourse.Duration) int {
	if d < 0 {
		return 0
	}
	x := uint64(d) >> 15
	if x < 4 {
		return int(x)
	}
	e := bits.Len64(x) - 3
	return min(e<<2+int(x>>e), spans-1)
}

func (o *openings) mark(i int32)   { o.marks[i>>6] |= 1 << (i & 63) }
func (o *openings) unmark(i int32) { o.marks[i>>6] &^= 1 << (i & 63) }

// marked is the first job from index i on that is marked, or none.
func (o *openings) marked(i int32) int32 {
	w := int(i >> 6)
	if w >= len(o.marks) {
		return none
	}
	x := o.marks[w] >> (i & 63) << (i & 63)
	for x == 0 {
		if w++; w == len(o.marks) {
			return none
		}
		x = o.marks[w]
	}
	return int32(w<<6 + bits.TrailingZeros64(x))
}

func (o *openings) copyMark(to, from int32) {
	x := o.marks[from>>6] >> (from & 63) & 1
	o.unmark(to)
	o.marks[to>>6] |= x << (to & 63)
}

// reach has a mark for every job.
func (t *timeline) reach() {
	for len(t.marks)<<6 < len(t.places) {
		t.marks = append(t.marks, 0)
	}
}

// lookAgain marks job i, who may move to anywhere.
func (t *timeline) lookAgain(i int32) {
	p := &t.places[i]
	p.from, p.to, p.near = -bourse.Never, bourse.Never, opening
	t.mark(i)
}

// opened notes who could use the n nodes more that have come free from the instant a
// to c.
func (t *timeline) opened(a, c, n int32) {
	if t.all {
		return
	}
	for k := a; k != c; {
		t.windows(k, n)
		room := t.list[k].free
		k = t.list[k].next
		for i := t.list[k].starts; i != none; i = t.places[i].next {
			if t.places[i].nodes <= room {
				t.mark(i)
			}
		}
	}
}

// windows marks those for whom the instant k, where n nodes more are free, completes a
// window: for each number of nodes that was not free there before, as far around it as
// so many are.
func (t *timeline) windows(k, n int32) {
	high, low := t.list[k].free, max(t.list[k].free-n, 0)
	a, b := t.list[k].prev, t.list[k].next // what lies around the window
	for high > low {
		for t.list[a].free >= high {
			a = t.list[a].prev
		}
		for t.list[b].free >= high {
			b = t.list[b].next
		}
		next := max(low, t.list[a].free, t.list[b].free)
		t.offer(next, high, t.list[a].next, b)
		high = next
	}
}

// offer marks those of more than low nodes and at most high for whom there is room from
// instant k to end, before their guarantees.
func (t *timeline) offer(low, high, k, end int32) {
	s, e := t.list[k].at, t.list[end].at
	long, b := e.Sub(s), span(s.Sub(t.origin))
	for c := class(int(low) + 1); c <= class(int(high)); c++ {
		for x := c*spans + b; x < (c+1)*spans && t.beyond[x] <= long; x++ {
			if t.least[x] > long {
				continue
			}
			for _, i := range t.order[t.first[x]:t.first[x+1]] {
				p := &t.places[i]
				if p.nodes > low && p.nodes <= high && p.estimate <= long && s.Add(p.estimate) <= t.list[p.start].at {
					if p.to = max(p.to, e); s < p.from {
						p.from, p.near = s, k
					}
					t.mark(i)
				}
			}
		}
	}
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
	for i := len(t.places) - 1; i >= 0; i-- {
		if t.places[i].start != none {
			x := t.cells[i]
			t.order[t.first[x]] = int32(i)
			t.first[x]++
		}
	}
	copy(t.first[1:], t.first[:n])
	t.first[0] = 0
}

// ready has every guarantee that might move up marked, and the jobs sorted.
func (t *timeline) ready(nodes int) {
	t.sort(nodes)
	if t.all {
		for i := range t.places {
			if t.places[i].start != none {
				t.lookAgain(int32(i))
			}
		}
	}
	t.all = false
	n := int32(0)
	for _, z := range t.zones {
		n += z.n // where two overlap, as many may have come free
	}
	for _, z := range t.zones {
		if z.e > t.origin {
			t.opened(t.list[t.after(max(z.s, t.origin))].prev, t.after(z.e-1), n)
		}
	}
	t.zones = t.zones[:0]
}

// earlier is where job i could start before its guarantee, or where it starts.
func (t *timeline) earlier(i int32) int32 {
	p := &t.places[i]
	if p.from < p.to {
		k := t.window(p)
		if p.from, p.to = bourse.Never, -bourse.Never; k != none {
			return k
		}
	}
	k := p.start
	for t.list[t.list[k].prev].free >= p.nodes {
		k = t.list[k].prev
	}
	return k
}

// window is the first instant from p.from on, but not behind p.to, from which all of p
// has room before its guarantee, or none.
func (t *timeline) window(p *place) int32 {
	last := min(p.to, t.list[p.start].at).Add(-p.estimate) // start, at the latest
	for k := t.holding(p); t.list[k].at <= last; {
		if t.list[k].free < p.nodes {
			k = t.list[k].next
			continue
		}
		start, full := k, t.list[k].at.Add(p.estimate)
		for t.list[k].at < full && t.list[k].free >= p.nodes {
			k = t.list[k].next
		}
		if t.list[k].at >= full {
			return start
		}
	}
	return none
}

// holding is the instant that holds when a window for p may begin: the one noted, or
// if that has gone it is looked for from both sides.
func (t *timeline) holding(p *place) int32 {
	if t.list[p.near].at == p.from {
		return p.near
	}
	for f, k := opening, p.start; ; {
		next := t.list[f].next
		if t.list[next].at > p.from {
			return f
		}
		if k = t.list[k].prev; t.list[k].at <= p.from {
			return k
		}
		f = next
	}
}

// clean notes that job i has been placed anew: nothing before its guarantee will do
// for a job no smaller and no shorter either.
func (t *timeline) clean(i int32) {
	if p := &t.places[i]; !t.all {
		t.last[min(class(int(p.nodes)), hintSizes-1)][hintSpan(p.estimate)] = i
	}
}

func hintSpan(d bourse.Duration) int {
	switch {
	case d > 6*bourse.Hour:
		return 2
	case d > bourse.Hour:
		return 1
	}
	return 0
}

func (t *timeline) forgetHints() {
	for c := range t.last {
		for k := range t.last[c] {
			t.last[c][k] = none
		}
	}
}

// hint is an instant that holds before the first at which p can have room. Of what has
// come free since the last compression the others do not know.
func (t *timeline) hint(p *place) int32 {
	best, at := int32(none), t.list[opening].at
	if !t.all && len(t.zones) == 0 {
		for c := range min(class(int(p.nodes)), hintSizes-1) + 1 {
			for _, i := range t.last[c][:hintSpan(p.estimate)+1] {
				if i == none {
					continue
				}
				q := &t.places[i]
				if q.start == none || q.from < q.to || q.nodes > p.nodes || q.estimate > p.estimate {
					continue
				}
				if t0 := t.list[q.start].at.Add(-q.estimate); t0 > at {
					best, at = i, t0
				}
			}
		}
	}
	if best == none {
		return opening
	}
	k := t.places[best].start
	for t.list[k].at > at {
		k = t.list[k].prev
	}
	return k
}
