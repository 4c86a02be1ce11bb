package backfill

import "github.com/bourse-grid/bourse"

// window is where a job of more than low nodes and at most high may have room from some
// instant on.
type window struct {
	from, to  bourse.Time
	near      int32 // an instant that has lain at from
	low, high int32
	opener    int32 // who has left it: those behind look first
	again     bool  // then, in the next compression, those up to the opener
	next      int32 // of the same job
}

// lookAgain marks job i, who may move to anywhere.
func (t *timeline) lookAgain(i int32) {
	t.hang(i, window{from: -bourse.Never, to: bourse.Never, near: present, opener: none, again: true})
}

// hang gives a window to job i and marks it.
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

// unhang takes a window from job i, which has one.
func (t *timeline) unhang(i int32) window {
	p := &t.places[i]
	k := p.window
	w := t.windows[k]
	p.window = w.next
	t.windows[k] = window{from: bourse.Never, to: -bourse.Never, next: t.shut}
	t.shut = k
	return w
}

// complete hands on the windows that the instant k completes: for each number of nodes
// above low and up to high, as far around it as so many are free.
func (t *timeline) complete(k, low, high, i int32) {
	a, b := t.list[k].prev, t.list[k].next // what lies around the window
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

// hand gives w to the first job behind job i, in the order in which they are looked at,
// who could use it before its guarantee: whose estimate is no longer than its longest
// part.
func (t *timeline) hand(w window, long bourse.Duration, i int32) {
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

// pass hands the windows of job i, who has looked at them, to who comes next.
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

// shrink cuts w down to what is still free, and returns how long its longest part is.
func (t *timeline) shrink(w *window, i int32) (long bourse.Duration) {
	from, to, high := bourse.Never, bourse.Never, int32(0)
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
		if from == bourse.Never {
			from, w.near = t.list[start].at, start
		}
		to = min(w.to, t.list[k].at)
		long = max(long, to.Sub(t.list[start].at))
	}
	w.from, w.to, w.high = from, to, min(w.high, high)
	return long
}

// within is the first instant in w and before the instant first from which all of job i
// has room before its guarantee, or none.
func (t *timeline) within(i int32, w *window, first int32) int32 {
	p := &t.places[i]
	last := min(w.to, t.list[p.start].at).Add(-p.estimate) // start, at the latest
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

// holding is the instant that holds when w begins: the one noted, or if that has gone
// it is looked for from both sides, the guarantee of job i being one.
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
