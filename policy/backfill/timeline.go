package backfill

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// timeline holds the nodes that a group under the conservative policy has free beside all
// guarantees. It is a linked list of the instants at which something starts or ends, and
// each guarantee knows its start and end in it. After an early end most guarantees that
// move do so by only a few instants. The list costs just those steps; a slice of some
// thousand steps would have to be searched and shifted four times. A job is looked at again
// only if an early end may have made room for it; see openings.
type timeline struct {
	list   []instant
	spare  int32   // first unused entry; they are linked by next
	places []place // by line index
	openings
	edges []edge // scratch space
}

// edge is a start or an end that reset has yet to put into the list.
type edge struct {
	at    grid.Time
	by    int32 // nodes that come free
	ends  int32
	job   int32
	start bool
}

// reset rebuilds the list from the free profile and the guarantees in jobs, none of which
// is a dead entry. free lacks only the guarantees. running and reserved, as far as they are
// known, say how many jobs and reservations start or end at each of its steps.
func (t *timeline) reset(free grid.Profile, running []Running, reserved []Reserved, jobs []Queued) {
	now := free[0].At
	t.edges = t.edges[:0]
	put := func(e edge) {
		if e.at > now {
			t.edges = append(t.edges, e)
		}
	}
	for k := 1; k < len(free); k++ {
		put(edge{at: free[k].At, by: int32(free[k].Free - free[k-1].Free), job: none})
	}
	for i := range running {
		put(edge{at: running[i].End, ends: 1, job: none})
	}
	for i := range reserved {
		put(edge{at: reserved[i].Start, ends: 1, job: none})
		put(edge{at: reserved[i].End, ends: 1, job: none})
	}
	t.places = slices.Grow(t.places[:0], len(jobs))[:len(jobs)]
	level := int32(free[0].Free)
	t.list = append(t.list[:0],
		instant{at: -grid.Never, free: -1, prev: none, next: present, starts: none},
		instant{at: grid.Never, free: -1, prev: present, next: none, starts: none},
		instant{at: now, free: level, prev: wall, next: tail, starts: none})
	t.list[wall].next = present
	t.spare = none
	for i := range jobs {
		q, p := &jobs[i], &t.places[i]
		*p = unplaced(q)
		if q.Guarantee == grid.Never {
			continue
		}
		if q.Guarantee <= now {
			level -= p.nodes
			t.enter(int32(i), present)
		} else {
			put(edge{q.Guarantee, -p.nodes, 1, int32(i), true})
		}
		p.end = tail
		put(edge{q.Guarantee.Add(q.Estimate), p.nodes, 1, int32(i), false})
	}
	t.list[present].free = level
	slices.SortFunc(t.edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	k := present
	for _, e := range t.edges {
		if e.at >= grid.Never {
			break
		}
		if t.list[k].at < e.at {
			k = t.insert(e.at, tail)
		}
		x := &t.list[k]
		x.free += e.by
		x.ends += e.ends
		switch {
		case e.start:
			t.enter(e.job, k)
		case e.job != none:
			t.places[e.job].end = k
		}
	}
	t.marks = t.marks[:0]
	t.reach()
	t.forgetHints()
	t.forgetOpenings()
}

// enter makes the guarantee of job i start at k.
func (t *timeline) enter(i, k int32) {
	p, x := &t.places[i], &t.list[k]
	p.start, p.prev, p.next = k, none, x.starts
	if x.starts != none {
		t.places[x.starts].prev = i
	}
	x.starts = i
}

// withdraw unlinks job i from the guarantees that start at the same instant.
func (t *timeline) withdraw(i int32) {
	p := &t.places[i]
	if p.prev == none {
		t.list[p.start].starts = p.next
	} else {
		t.places[p.prev].next = p.next
	}
	if p.next != none {
		t.places[p.next].prev = p.prev
	}
}

// advance makes the list begin at now.
func (t *timeline) advance(now grid.Time) {
	first := &t.list[present]
	for k := first.next; t.list[k].at <= now; k = first.next {
		x := &t.list[k]
		first.free = x.free
		for i := x.starts; i != none; i = x.starts {
			t.withdraw(i)
			t.enter(i, present)
		}
		t.drop(k)
	}
	first.at = now
}

// take takes n nodes over [s, e), which must be free.
func (t *timeline) take(s, e grid.Time, n int) {
	a := t.find(s, t.after(s))
	b := t.find(e, t.after(e))
	t.list[a].ends++
	t.list[b].ends++
	t.raise(a, b, int32(-n))
}

// fit returns the earliest time, not before at, from which nodes are free for all of d, and
// the first instant not before the end of that span. The time at lies in instant k. Without
// a fit, it returns Never and tail.
func (t *timeline) fit(k int32, at grid.Time, nodes int32, d grid.Duration) (grid.Time, int32) {
	for {
		for t.list[k].free < nodes {
			if k = t.list[k].next; k == tail {
				return grid.Never, tail
			}
			at = t.list[k].at
		}
		full := at.Add(d)
		for t.list[k].free >= nodes && t.list[k].at < full {
			k = t.list[k].next
		}
		if t.list[k].at >= full {
			return at, k
		}
	}
}

// EarliestFit answers as grid.Profile.EarliestFit does.
func (t *timeline) EarliestFit(from grid.Time, n int, d grid.Duration) grid.Time {
	at, _ := t.fit(t.list[t.after(from)].prev, from, int32(n), d)
	return at
}

// place guarantees job i its earliest fit not before from, and returns the start, or Never
// if the job never fits. If the job would have fit before from, it is marked to be looked
// at again: it may move up later.
func (t *timeline) place(i int32, from grid.Time) grid.Time {
	p := &t.places[i]
	k := t.hint(p)
	at, k := t.fit(k, t.list[k].at, p.nodes, p.estimate)
	early := at < from
	if early {
		at, k = t.fit(t.list[t.after(from)].prev, from, p.nodes, p.estimate)
	}
	if at == grid.Never {
		return at
	}
	p.end = t.find(at.Add(p.estimate), k)
	start := t.find(at, p.end)
	t.list[start].ends++
	t.list[p.end].ends++
	t.enter(i, start)
	t.raise(start, p.end, -p.nodes)
	t.file(i)
	if early {
		t.lookAgain(i)
	} else {
		t.clean(i)
	}
	return at
}

// start removes the guarantee of job i, which starts now. Its nodes stay taken until its
// end.
func (t *timeline) start(i int32) {
	t.withdraw(i)
	t.leave(t.places[i].start)
	t.forget(i)
}

// cancel removes the guarantee of job i and frees its nodes.
func (t *timeline) cancel(i int32) {
	p := &t.places[i]
	a, b := p.start, p.end
	if a == none {
		return
	}
	t.vacate(zone{t.list[a].at, t.list[b].at, p.nodes})
	t.withdraw(i)
	t.forget(i)
	t.raise(a, b, p.nodes)
	t.leave(a)
	t.leave(b)
}

// moved is a new guarantee of a job of the line.
type moved struct {
	job int32
	at  grid.Time
}

// enterAll enters the guarantees of list in one walk. The jobs must have none yet, and
// their nodes must be free.
func (t *timeline) enterAll(list []moved) {
	t.sorted = 0
	slices.SortFunc(list, func(x, y moved) int { return cmp.Compare(x.at, y.at) })
	k := present
	for _, m := range list {
		if m.at == grid.Never {
			return
		}
		for t.list[k].at < m.at {
			k = t.list[k].next
		}
		k = t.find(m.at, k)
		p, end := &t.places[m.job], k
		for full := m.at.Add(p.estimate); t.list[end].at < full; {
			end = t.list[end].next
		}
		end = t.find(m.at.Add(p.estimate), end)
		t.list[k].ends++
		t.list[end].ends++
		t.enter(m.job, k)
		p.end = end
		t.raise(k, end, -p.nodes)
	}
}

func (t *timeline) forget(i int32) {
	p := &t.places[i]
	p.start, p.end = none, none
	for p.window != none {
		if w := t.unhang(i); w.opener != none {
			t.loose = append(t.loose, w)
		}
	}
	t.unmark(i)
}

// giveBack frees n nodes over [s, e), which take or reset had taken.
func (t *timeline) giveBack(s, e grid.Time, n int) {
	a := t.find(s, t.after(s))
	b := t.find(e, t.after(e))
	t.raise(a, b, int32(n))
	t.leave(a)
	t.leave(b)
	t.vacate(zone{s, e, int32(n)})
}

// move brings the guarantee of job i forward to instant b, and records the room that this
// opens behind it.
func (t *timeline) move(i, b int32) {
	t.moves++
	p := &t.places[i]
	a, c := p.start, p.end
	full := t.list[b].at.Add(p.estimate)
	k := c
	if full < t.list[a].at {
		for k = b; t.list[k].at < full; {
			k = t.list[k].next
		}
	}
	end := t.find(full, k)
	t.list[b].ends++
	t.list[end].ends++
	t.withdraw(i)
	t.enter(i, b)
	p.end = end
	if full < t.list[a].at {
		t.raise(b, end, -p.nodes)
		end = a
	} else {
		t.raise(b, a, -p.nodes)
	}
	t.raise(end, c, p.nodes)
	t.opened(end, c, p.nodes, i)
	t.leave(a)
	t.leave(c)
}
