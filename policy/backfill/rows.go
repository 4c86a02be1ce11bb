package backfill

import (
	"math/bits"
	"sort"

	"github.com/bourse-grid/bourse/grid"
)

// row lists the jobs of one size class in queue order. For each few and each many
// neighbours it keeps a bound on how late the jobs up to a given length could start and
// still end by their guarantees' starts. With these, the first job that could use a window
// is found in steps that skip most others. Since a job was filed its guarantee can only
// have moved up, and a job that has left the queue stays in its row. So the bounds remain
// valid, though less tight.
type row struct {
	jobs      []filed
	few, many []bound
}

// filed is a job in its row. latest is how late it could start and still be over by the
// start of its guarantee, as last computed.
type filed struct {
	estimate   grid.Duration
	latest     grid.Time
	nodes, job int32
}

// bound summarises a group of neighbours. Entry e is the latest of their latest starts
// among jobs whose estimate is of class e or below. A single latest start for all would say
// little: short jobs are guaranteed to start early, and the jobs that may start late are
// long.
type bound [lengths]grid.Time

var nobody = func() (b bound) {
	for e := range b {
		b[e] = -grid.Never
	}
	return b
}()

const (
	fewBits  = 4
	manyBits = 9
)

// There are two classes of estimates to each doubling, from 8 s to 99 days.
const (
	lengths = 40
	lowest  = 13 // estimates in ms of up to this many bits are in the lowest class
)

// length returns the class of an estimate.
func length(d grid.Duration) int {
	n := bits.Len64(uint64(d))
	if n <= lowest {
		return 0
	}
	return min(2*(n-lowest)-1+int(uint64(d)>>(n-2)&1), lengths-1)
}

func (b *bound) add(f *filed) {
	for e := length(f.estimate); e < lengths && b[e] < f.latest; e++ {
		b[e] = f.latest
	}
}

// tighten recomputes the bound from jobs.
func (b *bound) tighten(jobs []filed) {
	*b = nobody
	for k := range jobs {
		b.add(&jobs[k])
	}
}

// excludes reports whether no job up to that length class could start as late as from.
func (b *bound) excludes(from grid.Time, length int) bool { return b[length] < from }

func (r *row) clear() { r.jobs, r.few, r.many = r.jobs[:0], r.few[:0], r.many[:0] }

// add appends a job, which must be behind all others in the queue.
func (r *row) add(f filed) {
	n := len(r.jobs)
	r.jobs = append(r.jobs, f)
	if n&(1<<fewBits-1) == 0 {
		r.few = append(r.few, nobody)
	}
	if n&(1<<manyBits-1) == 0 {
		r.many = append(r.many, nobody)
	}
	r.few[n>>fewBits].add(&f)
	r.many[n>>manyBits].add(&f)
}

// anybody reports whether some job may be able to use w, the longest part of which is long.
// False is certain, and is the answer for nearly all windows.
func (t *timeline) anybody(w *window, long grid.Duration) bool {
	s, last := span(w.from.Sub(t.origin)), class(int(w.high))
	for c := class(int(w.low) + 1); c <= last; c++ {
		if t.shortest[c*spans+s] <= long {
			return true
		}
	}
	return false
}

// candidate returns the first job with an index in [a, b] that could use w, or none.
func (t *timeline) candidate(w *window, long grid.Duration, a, b int32) int32 {
	found := int32(none)
	s, last := span(w.from.Sub(t.origin)), class(int(w.high))
	for c := class(int(w.low) + 1); c <= last; c++ {
		if t.shortest[c*spans+s] > long {
			continue
		}
		if i := t.firstOf(&t.rows[c], w, long, a, b); i != none {
			found, b = i, i-1
		}
	}
	return found
}

// firstOf is candidate for the jobs of one row.
func (t *timeline) firstOf(r *row, w *window, long grid.Duration, a, b int32) int32 {
	k := sort.Search(len(r.jobs), func(k int) bool { return r.jobs[k].job >= a })
	e := length(long)
	for k < len(r.jobs) && r.jobs[k].job <= b {
		if k&(1<<manyBits-1) == 0 && r.many[k>>manyBits].excludes(w.from, e) {
			k += 1 << manyBits
			continue
		}
		group := &r.few[k>>fewBits]
		end := min((k>>fewBits+1)<<fewBits, len(r.jobs))
		if group.excludes(w.from, e) {
			k = end
			continue
		}
		changed := false
		for ; k < end; k++ {
			f := &r.jobs[k]
			if f.estimate > long || f.latest < w.from || f.nodes <= w.low || f.nodes > w.high {
				continue
			}
			if f.job > b {
				return none
			}
			if f.latest = t.latest(f.job); f.latest >= w.from {
				return f.job
			}
			changed = true
		}
		if changed {
			group.tighten(r.jobs[(end-1)>>fewBits<<fewBits : end])
		}
	}
	return none
}

// latest returns how late job i could start and still be over by the start of its
// guarantee.
func (t *timeline) latest(i int32) grid.Time {
	p := &t.places[i]
	if p.start == none {
		return -grid.Never
	}
	return t.list[p.start].at.Add(-p.estimate)
}

// sort files all jobs again from scratch.
func (t *timeline) sort(nodes int) {
	t.origin = t.list[present].at
	n := class(nodes) + 1
	for len(t.rows) < n {
		t.rows = append(t.rows, row{})
	}
	t.shortest = t.shortest[:0]
	for c := range n {
		t.rows[c].clear()
		for range spans {
			t.shortest = append(t.shortest, forever)
		}
	}
	for i := range t.places {
		if t.places[i].start != none {
			x := t.fileAt(int32(i))
			t.shortest[x] = min(t.shortest[x], t.places[i].estimate)
		}
	}
	for x := len(t.shortest) - 2; x >= 0; x-- {
		if (x+1)%spans > 0 {
			t.shortest[x] = min(t.shortest[x], t.shortest[x+1])
		}
	}
	t.sorted, t.moves = len(t.places), 0
}

// file adds job i, which has just been given its place, to its row. It can do so only if
// the jobs are sorted and i is behind all of them; otherwise they have to be sorted again.
func (t *timeline) file(i int32) {
	if t.sorted == 0 || int(i) < t.sorted {
		t.sorted = 0
		return
	}
	t.sorted = int(i) + 1
	estimate := t.places[i].estimate
	for x := t.fileAt(i); ; x-- {
		t.shortest[x] = min(t.shortest[x], estimate)
		if x%spans == 0 {
			return
		}
	}
}

// fileAt adds job i to its row and returns the index of its guarantee in shortest.
func (t *timeline) fileAt(i int32) int {
	p := &t.places[i]
	c, at := class(int(p.nodes)), t.list[p.start].at
	t.rows[c].add(filed{p.estimate, at.Add(-p.estimate), p.nodes, i})
	return c*spans + span(at.Sub(t.origin))
}
