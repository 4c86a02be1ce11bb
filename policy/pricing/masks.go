package pricing

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/bourse-grid/bourse/grid"
)

// masks find the first job of the queue that may start at an instant. Jobs of about the
// same size form a group. The least estimate among a group's waiting jobs says at once
// whether any of them is short enough; bit sets then find the first such job. The masks are
// built for a state when its first trial needs them.
type masks struct {
	made   bool
	groups []group // by size
	sets   []uint64
	order  []shortJob // by group, then estimate
	short  ranks
	keys   []uint64 // scratch

	next  []int32 // by group, index in order of its shortest waiting job, or a smaller index
	floor []int32 // the same as of the mark at which the last trial began
	left  int     // number of waiting jobs at that mark
}

// group is the jobs of at least nodes nodes, but fewer than those of the next group.
type group struct {
	nodes    int
	from, to int32 // in order
}

type shortJob struct {
	estimate grid.Duration
	pos      int32
}

const (
	maxGroups  = 64
	maxRows    = 1024
	maxMasked  = 1 << 20 // jobs; a longer queue has no masks
	worthMasks = 32      // jobs; a shorter queue is searched as fast without
)

// makeMasks builds the masks of the queue.
func (b *Book) makeMasks() {
	m, jobs, words := &b.masks, b.jobs, len(b.base.rem)
	m.made = true
	m.short.make(len(jobs), words, maxRows, func(i int) int64 { return int64(jobs[i].estimate) })

	m.order, m.keys = m.order[:0], m.keys[:0]
	for i := range jobs {
		m.keys = append(m.keys, uint64(jobs[i].nodes)<<20|uint64(i))
	}
	slices.Sort(m.keys)
	m.groups, m.sets = m.groups[:0], m.sets[:0]
	least := (len(jobs)-1)/maxGroups + 1 // jobs in a group, if there are more sizes than groups
	sizes := 1
	for i := 1; i < len(m.keys); i++ {
		if m.keys[i]>>20 != m.keys[i-1]>>20 {
			sizes++
		}
	}
	if sizes <= maxGroups {
		least = 1
	}
	for i, key := range m.keys {
		nodes, pos := int(key>>20), int(key&(maxMasked-1))
		if g := len(m.groups) - 1; g < 0 || nodes != int(m.keys[i-1]>>20) && i-int(m.groups[g].from) >= least {
			m.groups = append(m.groups, group{nodes: nodes, from: int32(i)})
			m.sets = append(m.sets, make([]uint64, words)...)
		}
		g := len(m.groups) - 1
		m.groups[g].to = int32(i + 1)
		m.sets[g*words+pos>>6] |= 1 << (pos & 63)
		m.order = append(m.order, shortJob{jobs[pos].estimate, int32(pos)})
	}
	m.floor = m.floor[:0]
	for _, g := range m.groups {
		slices.SortFunc(m.order[g.from:g.to], func(x, y shortJob) int {
			if x.estimate != y.estimate {
				return int(x.estimate - y.estimate)
			}
			return int(x.pos - y.pos)
		})
		m.floor = append(m.floor, g.from)
	}
	m.left = len(jobs)
}

// begin prepares the masks for a trial that begins at a mark. The trials of a list begin at
// ever later marks, with ever fewer waiting jobs.
func (m *masks) begin(b *Book, w *sweep) {
	if !m.made {
		b.makeMasks()
	}
	for i, g := range m.groups {
		if w.left > m.left {
			m.floor[i] = g.from
		}
		for m.floor[i] < g.to && !w.waits(m.order[m.floor[i]].pos) {
			m.floor[i]++
		}
	}
	m.left = w.left
	m.next = append(m.next[:0], m.floor...)
}

// waits reports whether the job at that position has no start yet.
func (w *sweep) waits(pos int32) bool { return w.rem[pos>>6]>>(pos&63)&1 != 0 }

// anyWithin reports whether some waiting job of the group takes no longer than span.
func (m *masks) anyWithin(w *sweep, g int, span grid.Duration) bool {
	i, to := m.next[g], m.groups[g].to
	for i < to && !w.waits(m.order[i].pos) {
		i++
	}
	m.next[g] = i
	return i < to && m.order[i].estimate <= span
}

// firstFit returns the first job, from a position on, that may fit at w.at, or the end of
// the queue. It goes through the groups from the largest that is small enough downward,
// each with the time for which its nodes stay free.
func (m *masks) firstFit(w *sweep, from int) int {
	best := len(w.rem) << 6
	low, g := w.free[w.lo].Free, len(m.groups)
	for g > 0 && m.groups[g-1].nodes > low {
		g--
	}
	longest := grid.Duration(m.short.values[len(m.short.values)-1])
	for i := w.lo + 1; g > 0; i++ {
		span, below := longest, 0
		if i < len(w.free) {
			if w.free[i].Free >= low {
				continue
			}
			if until := w.free[i].At.Sub(w.at); until < longest {
				span, below = until, w.free[i].Free
			}
		}
		for ; g > 0 && m.groups[g-1].nodes > below; g-- {
			if m.anyWithin(w, g-1, span) {
				best = m.firstWithin(w, g-1, span, from, best)
			}
		}
		low = below
	}
	return best
}

// firstWithin returns the first waiting job of the group, with a position in [from,
// before), that may take no longer than span; before if there is none.
func (m *masks) firstWithin(w *sweep, g int, span grid.Duration, from, before int) int {
	words := len(w.rem)
	short := m.short.upTo(int64(span), words)
	if short == nil {
		return before
	}
	group := m.sets[g*words : (g+1)*words]
	mask := ^uint64(0) << (from & 63)
	for i := from >> 6; i<<6 < before; i++ {
		if set := group[i] & short[i] & w.rem[i] & mask; set != 0 {
			return min(before, i<<6+bits.TrailingZeros64(set))
		}
		mask = ^uint64(0)
	}
	return before
}

// fill starts every job that fits from now on.
func (b *Book) fill(w *sweep) {
	switch {
	case len(b.turns) > 0:
		b.fillByTurn(w)
		return
	case !b.masked(w):
		b.fillByLooking(w)
		return
	}
	for pos := 0; ; pos++ {
		if pos = b.firstFit(w, pos); pos >= len(b.jobs) {
			return
		}
		if q := &b.jobs[pos]; b.awaits.ready(pos, w.at) && fits(w.free[w.lo:], w.at.Add(q.estimate), int(q.nodes)) {
			b.commit(w, pos, w.at, w.lo)
		}
	}
}

// masked reports whether a sweep uses the masks.
func (b *Book) masked(w *sweep) bool {
	return w.trial && len(b.turns) == 0 && len(b.jobs) >= worthMasks && len(b.jobs) < maxMasked
}

// fillByLooking is fill without the masks.
func (b *Book) fillByLooking(w *sweep) {
	now := w.free[w.lo].Free
	for i, set := range w.rem {
		for ; set != 0; set &= set - 1 {
			pos := i<<6 + bits.TrailingZeros64(set)
			q := &b.jobs[pos]
			if int(q.nodes) <= now && b.awaits.ready(pos, w.at) && fits(w.free[w.lo:], w.at.Add(q.estimate), int(q.nodes)) {
				b.commit(w, pos, w.at, w.lo)
				if now -= int(q.nodes); now == 0 {
					return
				}
			}
		}
	}
}

// ranks hold, for values in ascending order, the set of jobs up to each value.
type ranks struct {
	values []int64
	sets   []uint64 // a row of words for each value
	coarse bool     // long queue: not every value has a row
	keys   []uint64 // scratch: value and position of each job
}

// make ranks n jobs by a value below 2^44, in at most about rows rows.
func (r *ranks) make(n, words, rows int, value func(int) int64) {
	r.values, r.sets, r.keys = r.values[:0], r.sets[:0], r.keys[:0]
	for i := range n {
		r.keys = append(r.keys, uint64(value(i))<<20|uint64(i))
	}
	slices.Sort(r.keys)
	least := (n-1)/rows + 1 // jobs to a row
	r.coarse = least > 1
	jobs := 0
	for _, key := range r.keys {
		v, pos := int64(key>>20), int(key&(maxMasked-1))
		row := len(r.values) - 1
		if row < 0 || v != r.values[row] && jobs >= least {
			r.values = append(r.values, v)
			if row++; row == 0 {
				r.sets = append(r.sets, make([]uint64, words)...)
			} else {
				r.sets = append(r.sets, r.sets[(row-1)*words:]...)
			}
			jobs = 0
		}
		r.values[row] = v
		r.sets[row*words+pos>>6] |= 1 << (pos & 63)
		jobs++
	}
}

// upTo returns a set that contains every job up to v, and no others if every value has a
// row; nil if there is no such job.
func (r *ranks) upTo(v int64, words int) []uint64 {
	i := sort.Search(len(r.values), func(i int) bool { return r.values[i] > v })
	if r.coarse && i < len(r.values) && (i == 0 || r.values[i-1] < v) {
		i++
	}
	if i == 0 {
		return nil
	}
	return r.sets[(i-1)*words : i*words]
}
