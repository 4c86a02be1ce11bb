package backfill

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse"
)

// openings know which guarantees might move up. After a compression has looked at a
// job, it can move only for nodes that come free later: just before its guarantee, so
// that it slides up, or in a window that is long and wide enough for all of it. So
// when nodes come free, those are marked who could slide, and each window is handed to
// the first job behind that could use it, and from there to the next one with what has
// been left of it. A compression looks at who is marked.
type openings struct {
	worth   int      // so many must wait
	marks   []uint64 // by line index
	all     bool     // any might: marks are not kept
	zones   []zone   // came free since the last compression
	windows []window // which a job has, or that are shut
	shut    int32    // first of those, linked by next
	loose   []window // whoever had them has left the queue
	last    [hintSizes][hintSpans]int32

	// The jobs by size class, and how short one of them can be who is guaranteed some
	// time after the origin or later, as they were when they were sorted.
	origin   bourse.Time
	sorted   int // jobs before this index are there; 0: none
	moves    int // since then
	rows     []row
	shortest []bourse.Duration // by class, and by span of the guarantee
}

// zone is n nodes that came free over [s, e).
type zone struct {
	s, e bourse.Time
	n    int32
}

const (
	spans     = 96 // of time
	hintSizes = 8
	hintSpans = 3

	worthMarks = 64 // jobs that wait; with fewer, a look at each costs less
)

// span is that of a guarantee so long after the origin: four to each doubling.
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

// opened notes who could use the n nodes more that have come free from the instant a
// to c, where job i had them.
func (t *timeline) opened(a, c, n, i int32) {
	if t.all {
		return
	}
	low, high := int32(0), int32(0) // windows of these sizes that hold k have been noted
	for k := a; k != c; {
		room := t.list[k].free
		switch least := max(room-n, 0); {
		case k == a || room > high:
			t.complete(k, max(least, high), room, i)
		case least < low:
			t.complete(k, least, min(low, room), i)
		}
		low, high = max(room-n, 0), room
		k = t.list[k].next
		for j := t.list[k].starts; j != none; j = t.places[j].next {
			if t.places[j].nodes <= room {
				t.mark(j)
			}
		}
	}
}

// ready has every guarantee that might move up marked, and the jobs sorted.
func (t *timeline) ready(nodes int) {
	if t.sorted == 0 || t.moves > 2*len(t.places) {
		t.sort(nodes)
	}
	if t.all {
		for i := range t.places {
			if t.places[i].start != none {
				t.lookAgain(int32(i))
			}
		}
	}
	t.all = false
	for _, w := range t.loose {
		t.hand(w, w.to.Sub(w.from), none)
	}
	t.loose = t.loose[:0]
	now := t.list[present].at
	for _, z := range joined(t.zones, int32(nodes)) {
		if z.e > now {
			t.opened(t.list[t.after(max(z.s, now))].prev, t.after(z.e-1), z.n, none)
		}
	}
	t.zones = t.zones[:0]
}

// vacate notes that z came free. Without an early end no compression looks at the zones: once
// they are several times as many as the jobs, it is to look at each of these instead.
func (t *timeline) vacate(z zone) {
	switch {
	case t.all: // it will in any case
	case len(t.zones) >= 4*len(t.places)+64:
		t.forgetOpenings()
	default:
		t.zones = append(t.zones, z)
	}
}

// joined puts zones that overlap together, where as many nodes may have come free as all of
// them have, of so many at most; it writes over the list. A reservation that displaces guarantees leaves a zone
// for each, and each would be walked.
func joined(list []zone, nodes int32) []zone {
	slices.SortFunc(list, func(x, y zone) int { return cmp.Compare(x.s, y.s) })
	out := list[:0]
	for _, z := range list {
		if n := len(out) - 1; n >= 0 && z.s < out[n].e {
			out[n].e, out[n].n = max(out[n].e, z.e), min(out[n].n+z.n, nodes)
			continue
		}
		out = append(out, z)
	}
	return out
}

// forgetOpenings is for when any job might move.
func (t *timeline) forgetOpenings() {
	t.all, t.zones, t.loose = true, t.zones[:0], t.loose[:0]
	t.sorted, t.shut = 0, none
	if len(t.windows) == 0 {
		return
	}
	t.windows = t.windows[:0]
	for i := range t.places {
		t.places[i].window = none
	}
}

// earlier is where job i could start before its guarantee, or where it starts.
func (t *timeline) earlier(i int32) int32 {
	first := int32(none)
	for k := t.places[i].window; k != none; k = t.windows[k].next {
		if at := t.within(i, &t.windows[k], first); at != none {
			first = at
		}
	}
	if first != none {
		return first
	}
	return t.slide(i)
}

// anywhere is earlier for a job that may move to anywhere.
func (t *timeline) anywhere(i int32) int32 {
	if k := t.within(i, &window{from: -bourse.Never, to: bourse.Never, near: present}, none); k != none {
		return k
	}
	return t.slide(i)
}

// slide is how far job i could start earlier in what is free just before its guarantee.
func (t *timeline) slide(i int32) int32 {
	p := &t.places[i]
	k := p.start
	for t.list[t.list[k].prev].free >= p.nodes {
		k = t.list[k].prev
	}
	return k
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
	best, at := int32(none), t.list[present].at
	if !t.all && len(t.zones) == 0 {
		for c := range min(class(int(p.nodes)), hintSizes-1) + 1 {
			for _, i := range t.last[c][:hintSpan(p.estimate)+1] {
				if i == none {
					continue
				}
				q := &t.places[i]
				if q.start == none || q.nodes > p.nodes || q.estimate > p.estimate {
					continue
				}
				if t0 := t.list[q.start].at.Add(-q.estimate); t0 > at {
					best, at = i, t0
				}
			}
		}
	}
	if best == none {
		return present
	}
	for _, list := range [][]window{t.windows, t.loose} {
		for i := range list {
			if w := &list[i]; w.from < at && w.low < p.nodes && w.to.Sub(w.from) >= p.estimate {
				at = w.from
			}
		}
	}
	if at <= t.list[present].at {
		return present
	}
	k := t.places[best].start
	for t.list[k].at > at {
		k = t.list[k].prev
	}
	return k
}
