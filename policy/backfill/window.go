package backfill

import "github.com/bourse-grid/bourse/grid"

// window is an interval in which a job of more than low and at most high nodes may have
// room.
type window struct {
	from, to  grid.Time
	near      int32 // instant that was at from when last seen; it may be gone
	low, high int32
	opener    int32 // the job that left this room, or none; jobs behind it look first
	again     bool  // the jobs up to the opener look, in the next compression
	next      int32 // next window of the same job
}

// lookAgain marks job i for a look at all times before its guarantee.
func (t *timeline) lookAgain(i int32) {
	t.hang(i, window{from: -grid.Never, to: grid.Never, near: present, opener: none, again: true})
}

// hang gives a window to job i and marks the job.
func (t *timeline) hang(i int32, w window) {
	p, k := &t.places[i], t.shut
	w.next = p.window
	if k == none {
		k = int32(len(t.windows))
		t.windows = append(t.windows, w)
	} else {
		t.shut = t.windows[k].next
		t.windows[k] = w
	}
	p.window = k
	t.mark(i)
}

// unhang takes the first window from job i, which must have one, and returns it.
func (t *timeline) unhang(i int32) window {
	p := &t.places[i]
	k := p.window
	w := t.windows[k]
	p.window = w.next
	t.windows[k] = window{from: grid.Never, to: -grid.Never, next: t.shut}
	t.shut = k
	return w
}

// complete hands on the windows around instant k: for each number of nodes above low and up
// to high, the longest interval around k in which that many are free. Job i left the room.
func (t *timeline) complete(k, low, high, i int32) {
	a, b := t.list[k].prev, t.list[k].next // the instants on either side of the window
	for high > low {
		for t.list[a].free >= high {
			a = t.list[a].prev
		}
		for t.list[b].free >= high {
			b = t.list[b].next
		}
		floor, near := max(low, t.list[a].free, t.list[b].free), t.list[a].next
		w := window{from: t.list[near].at, to: t.list[b].at, near: near, low: floor, high: high, opener: i}
		t.hand(w, w.to.Sub(w.from), i)
		high = floor
	}
}

// hand gives w to the next job after i that could use it before its guarantee, that is, a
// job with an estimate of at most long, the length of the longest part of w.
func (t *timeline) hand(w window, long grid.Duration, i int32) {
	if !t.anybody(&w, long) {
		return
	}
	last := int32(len(t.places)) - 1
	if w.again {
		last = min(last, w.opener)
	}
	k := t.candidate(&w, long, i+1, last)
	if k == none && !w.again {
		w.again = true
		k = t.candidate(&w, long, 0, min(i, w.opener))
	}
	if k != none {
		t.hang(k, w)
	}
}

// pass hands the windows of job i, which has looked at them, to the next jobs that could
// use what is left of them.
func (t *timeline) pass(i int32) {
	for n := t.places[i].window; n != none; {
		n = t.windows[n].next
		w := t.unhang(i)
		if w.again && w.opener <= i {
			continue
		}
		if long := t.shrink(&w, i); long > 0 {
			t.hand(w, long, i)
		}
	}
}

// shrink cuts w down to what is still free, and returns the length of its longest part; 0
// if nothing is left.
func (t *timeline) shrink(w *window, i int32) (long grid.Duration) {
	from, to, high := grid.Never, grid.Never, int32(0)
	for k := t.holding(w, i); t.list[k].at < w.to; {
		if t.list[k].free <= w.low {
			k = t.list[k].next
			continue
		}
		start := k
		for t.list[k].free > w.low && t.list[k].at < w.to {
			high = max(high, t.list[k].free)
			k = t.list[k].next
		}
		if from == grid.Never {
			from, w.near = t.list[start].at, start
		}
		to = min(w.to, t.list[k].at)
		long = max(long, to.Sub(t.list[start].at))
	}
	w.from, w.to, w.high = from, to, min(w.high, high)
	return long
}

// within returns the earliest instant in w from which job i has room and is over by the
// start of its guarantee. It must lie before the instant first, unless that is none.
// Without one, it returns none.
func (t *timeline) within(i int32, w *window, first int32) int32 {
	p := &t.places[i]
	last := min(w.to, t.list[p.start].at).Add(-p.estimate) // latest start
	if first != none {
		last = min(last, t.list[first].at-1)
	}
	if w.from > last {
		return none
	}
	for k := t.holding(w, i); t.list[k].at <= last; {
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

// holding returns the instant in effect when w begins. If the noted one is gone, it
// searches from both sides: forward from the present and back from the guarantee of job i.
func (t *timeline) holding(w *window, i int32) int32 {
	if t.list[w.near].at == w.from {
		return w.near
	}
	for f, k := present, t.places[i].start; ; {
		next := t.list[f].next
		if t.list[next].at > w.from {
			return f
		}
		if k = t.list[k].prev; t.list[k].at <= w.from {
			return k
		}
		f = next
	}
}
