package backfill

import (
	"math/bits"
	"sort"

	"github.com/bourse-grid/bourse"
)

// row is the jobs of a size class in the order of the queue. Of every few and of every
// many neighbours it has how late those that take no longer than so long could start to
// be over by their guarantees; so the first who could use a window is found by steps over
// all others. Guarantees have only moved up since a job was filed, and who has left the
// queue stays in its row: bounds hold, if not as tight.
type row struct {
	jobs      []filed
	few, many []bound
}

// filed is a job in its row, and how late it could start to be over by its guarantee, as
// it was when that was looked at.
type filed struct {
	estimate   bourse.Duration
	latest     bourse.Time
	nodes, job int32
}

// bound is what holds for some neighbours: by the class of an estimate, how late one of
// those could start, to be over by its guarantee, whose estimates are of that class or
// below. One latest start for all would say little: those who are short are promised to
// start early, and those who may start late are long.
type bound [lengths]bourse.Time

var nobody = func() (b bound) {
	for e := range b {
		b[e] = -bourse.Never
	}
	return b
}()

const (
	fewBits  = 4
	manyBits = 9
)

// There are two classes of estimates for each doubling, of 8 s to 99 days.
const (
	lengths = 40
	lowest  = 13 // bits of a millisecond count that is of the lowest class
)

// length is the class of an estimate.
func length(d bourse.Duration) int {
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

// tighten has it be what is known of the jobs.
func (b *bound) tighten(jobs []filed) {
	*b = nobody
	for k := range jobs {
		b.add(&jobs[k])
	}
}

// excludes reports that none of them could start at from and take no longer than a job
// of that class of lengths.
func (b *bound) excludes(from bourse.Time, length int) bool { return b[length] < from }

func (r *row) clear() { r.jobs, r.few, r.many = r.jobs[:0], r.few[:0], r.many[:0] }

// add puts a job behind all others.
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

// anybody is false only if no job could use w, whose longest part is that long. Of nearly
// all windows it says so.
func (t *timeline) anybody(w *window, long bourse.Duration) bool {
	s, last := span(w.from.Sub(t.origin)), class(int(w.high))
	for c := class(int(w.low) + 1); c <= last; c++ {
		if t.shortest[c*spans+s] <= long {
			return true
		}
	}
	return false
}

// candidate is the first of the jobs from a to b, by their indices, that could use w, or
// none.
func (t *timeline) candidate(w *window, long bourse.Duration, a, b int32) int32 {
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

// firstOf is candidate among the jobs of a row.
func (t *timeline) firstOf(r *row, w *window, long bourse.Duration, a, b int32) int32 {
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

// latest is when job i could start to be over by its guarantee.
func (t *timeline) latest(i int32) bourse.Time {
	p := &t.places[i]
	if p.start == none {
		return -bourse.Never
	}
	return t.list[p.start].at.Add(-p.estimate)
}

// sort files all jobs anew.
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

// file puts job i, which has just been given its place, into its row if the jobs are
// sorted and it is behind all that are there.
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

// fileAt puts job i into its row, and returns where its guarantee is among the shortest.
func (t *timeline) fileAt(i int32) int {
	p := &t.places[i]
	c, at := class(int(p.nodes)), t.list[p.start].at
	t.rows[c].add(filed{p.estimate, at.Add(-p.estimate), p.nodes, i})
	return c*spans + span(at.Sub(t.origin))
}
