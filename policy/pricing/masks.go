package pricing

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// masks tell by bit sets which jobs of the queue may start at an instant: those
// of at most so many nodes, and of at most such an estimate. They are made when
// a state's first trial wants them.
type masks struct {
	made         bool
	small, short ranks
	stairs       []stair
}

// ranks hold, for values in ascending order, the set of jobs up to each.
type ranks struct {
	values []int64
	sets   []uint64 // a row of words for each value
	coarse bool     // a long queue has not a row for every value
	keys   []uint64 // scratch: value and position of each job
}

// stair says that at least so many nodes stay free for that long: the jobs that
// fit under it are those in both rows.
type stair struct{ small, short []uint64 }

const (
	maxRows    = 1024
	maxMasked  = 1 << 20 // jobs; a longer queue does without
	worthMasks = 32      // jobs; a shorter queue is looked through as fast
)

// makeMasks ranks the queue.
func (b *Book) makeMasks() {
	b.masks.made = true
	queue, words := b.state.Queue, len(b.base.rem)
	if len(queue) >= maxMasked {
		return
	}
	b.small.make(len(queue), words, maxRows, func(i int) int64 { return int64(queue[i].Nodes) })
	b.short.make(len(queue), words, maxRows, func(i int) int64 { return int64(queue[i].Estimate) })
}

// make ranks n jobs by a value below 2^44, in about so many rows at most.
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

// upTo returns a set that holds every job up to v, and where there is a row for
// every value no other; nil if there is no such job.
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

// climb notes how many nodes stay free for how long from w.at on.
func (b *Book) climb(w *sweep) {
	b.stairs = b.stairs[:0]
	words := len(w.rem)
	least, longest := b.small.values[0], b.short.values[len(b.short.values)-1]
	if b.small.coarse {
		least = 1
	}
	low := w.free[w.lo].Free
	add := func(span int64) {
		if low <= 0 {
			return
		}
		small, short := b.small.upTo(int64(low), words), b.short.upTo(span, words)
		if small != nil && short != nil {
			b.stairs = append(b.stairs, stair{small, short})
		}
	}
	for i := w.lo + 1; i < len(w.free) && int64(low) >= least; i++ {
		if w.free[i].Free >= low {
			continue
		}
		span := int64(w.free[i].At - w.at)
		if span >= longest {
			break
		}
		add(span)
		low = w.free[i].Free
	}
	if int64(low) >= least {
		add(math.MaxInt64)
	}
}

// fill starts, in queue order, every job that fits from now on.
func (b *Book) fill(w *sweep) {
	if jobs := len(b.state.Queue); !w.trial || jobs < worthMasks || jobs >= maxMasked {
		b.fillByLooking(w)
		return
	}
	if !b.masks.made {
		b.makeMasks()
	}
	b.climb(w)
	fresh := true // the stairs stand as the profile does
	for i := 0; i < len(w.rem) && len(b.stairs) > 0; i++ {
		for set := b.mayFit(w, i); set != 0; set &= set - 1 {
			pos := i<<6 + bits.TrailingZeros64(set)
			q := &b.state.Queue[pos]
			if fits(w.free[w.lo:], w.at.Add(q.Estimate), q.Nodes) {
				b.commit(w, pos, w.at, w.lo)
				fresh = false
			} else if !fresh {
				// Where one has come to be too large, more have.
				b.climb(w)
				set &= b.mayFit(w, i) | 1<<(pos&63)
				fresh = true
			}
		}
	}
}

// mayFit returns those of the jobs in word i that fit under the stairs.
func (b *Book) mayFit(w *sweep, i int) (set uint64) {
	for k := range b.stairs {
		set |= b.stairs[k].small[i] & b.stairs[k].short[i]
	}
	return set & w.rem[i]
}

// fillByLooking is fill without the bit sets.
func (b *Book) fillByLooking(w *sweep) {
	now := w.free[w.lo].Free
	for i, set := range w.rem {
		for ; set != 0; set &= set - 1 {
			pos := i<<6 + bits.TrailingZeros64(set)
			q := &b.state.Queue[pos]
			if q.Nodes <= now && fits(w.free[w.lo:], w.at.Add(q.Estimate), q.Nodes) {
				b.commit(w, pos, w.at, w.lo)
				if now -= q.Nodes; now == 0 {
					return
				}
			}
		}
	}
}
