package backfill

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// openings tracks which guarantees might move up. Once a compression has looked at a job,
// only nodes that come free later can let it move: either just before its guarantee, so
// that it slides forward, or in a window long and wide enough for the whole job. So when
// nodes come free, the jobs that could slide are marked, and each window is handed to the
// first job behind that could use it. That job passes on what it leaves. A compression
// looks only at marked jobs.
type openings struct {
	worth   int      // number of waiting jobs from which marks pay
	marks   []uint64 // by line index
	all     bool     // any job might move: marks are not kept
	zones   []zone   // room that came free since the last compression
	windows []window // windows of jobs, and unused ones
	shut    int32    // first unused one; they are linked by next
	loose   []window // windows of jobs that have left the queue
	last    [hintSizes][hintSpans]int32

	// The jobs by size class, and a lower bound on the estimates of those guaranteed at a
	// given time after origin or later. Both are as of the last sort.
	origin   grid.Time
	sorted   int // jobs before this index are filed; 0: none
	moves    int // moves since the last sort
	rows     []row
	shortest []grid.Duration // by class, and by span of the guarantee
}

// zone stands for n nodes that came free over [s, e).
type zone struct {
	s, e grid.Time
	n    int32
}

const (
	spans     = 96 // spans of time since origin
	hintSizes = 8
	hintSpans = 3

	worthMarks = 64 // waiting jobs; with fewer, looking at each costs less
)

// span returns the span of a guarantee d after the origin. There are four to each doubling.
func span(d grid.Duration) int {
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

// marked returns the first marked job with an index of i or more, or none.
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

// reach extends the marks to cover every job.
func (t *timeline) reach() {
	for len(t.marks)<<6 < len(t.places) {
		t.marks = append(t.marks, 0)
	}
}

// opened notifies the jobs that could use the n nodes that came free from instant a up to
// instant c. Job i, or none, had them.
func (t *timeline) opened(a, c, n, i int32) {
	if t.all {
		return
	}
	low, high := int32(0), int32(0) // windows of these sizes around k have been handed on
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

// ready prepares a compression: it files the jobs if that is due, and marks every job that
// might move up.
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

// vacate records that z came free. Zones are looked at only by a compression, and without
// early ends there is none. Once there are several times as many zones as jobs, it drops
// them and has the next compression look at every job instead.
func (t *timeline) vacate(z zone) {
	switch {
	case t.all: // the next compression looks at every job anyway
	case len(t.zones) >= 4*len(t.places)+64:
		t.forgetOpenings()
	default:
		t.zones = append(t.zones, z)
	}
}

// joined merges zones that overlap. A merged zone has the sum of their nodes, at most
// nodes; that may be too many, never too few. A reservation that displaces guarantees
// leaves a zone for each of them, and each would cost a walk. It overwrites list.
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

// forgetOpenings drops marks, windows and zones: from now on any job might move.
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

// earlier returns the earliest instant at which job i could start, according to its windows
// and the room just before its guarantee. It is the present start if nothing is better.
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

// anywhere is earlier without the windows: it searches all times from now to the guarantee.
func (t *timeline) anywhere(i int32) int32 {
	if k := t.within(i, &window{from: -grid.Never, to: grid.Never, near: present}, none); k != none {
		return k
	}
	return t.slide(i)
}

// slide returns the earliest instant to which job i could slide through nodes that are free
// without a gap up to its guarantee.
func (t *timeline) slide(i int32) int32 {
	p := &t.places[i]
	k := p.start
	for t.list[t.list[k].prev].free >= p.nodes {
		k = t.list[k].prev
	}
	return k
}

// clean records that job i has just been placed at its earliest fit. Before its start there
// is no room for any job that is at least as large and as long.
func (t *timeline) clean(i int32) {
	if p := &t.places[i]; !t.all {
		t.last[min(class(int(p.nodes)), hintSizes-1)][hintSpan(p.estimate)] = i
	}
}

func hintSpan(d grid.Duration) int {
	switch {
	case d > 6*grid.Hour:
		return 2
	case d > grid.Hour:
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

// hint returns an instant not later than the first at which p can have room. It relies on
// jobs placed earlier (see clean), which know nothing of the zones that have come free
// since the last compression; if there are any, the hint is the present.
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
