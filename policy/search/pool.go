package search

import (
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// kept is a slot that is free at the candidate start and long enough.
type kept struct {
	key    int64     // per node: cost, or 0 under ALP
	latest grid.Time // the last start at which it is still long enough
	pos    int64     // position in the list: orders ties and identifies the slot
	count  int32
	class  int32
}

// pool holds the kept slots of a scan and the sum of the N least keys among them.
//
// Expired slots stay until they matter. They can only make the N least keys smaller, so as
// long as even these exceed the limit there is no window, and one walk later drops many
// expired slots at once. The sum is updated with each added slot, so a slot that comes to
// nothing costs little more than its insertion.
//
// A sorted array serves up to arrayMost slots; with more, heaps keep every operation
// logarithmic. In a lazy pool only the cheapest slots are kept in order, see far.go.
type pool struct {
	need   int // N
	limit  grid.Credits
	live   int       // nodes kept, including expired ones
	most   int       // most nodes free at once, for the reason of a refusal
	peak   grid.Time // when that was
	since  grid.Time // first start at which N nodes were free at once at any cost; Never if none yet
	sorted []kept
	room   int       // number of slots at which to drop expired ones
	first  grid.Time // no kept slot expires earlier
	prefix int       // sorted[:prefix] are the N least, or all if there are fewer
	held   int       // nodes of those: N, plus what is not needed of the last
	total  sum       // of their keys
	heaps  *heaps    // nil while the array is in use
	spare  *heaps
	array  bool          // never use heaps, because Best reads the array
	far    *far          // of a lazy pool: the slots that are dearer than the sorted ones; nil: every slot is sorted
	dirty  bool          // slots were added at the candidate start
	fresh  grid.Duration // the shortest runtime among those
}

// arrayMost is about twice the number of slots at which heaps become faster
// (BenchmarkFind_Failing), since half of them may have expired.
const arrayMost = 512

func (p *pool) reset(need int, limit grid.Credits) {
	if p.heaps != nil {
		p.spare, p.heaps = p.heaps, nil
	}
	*p = pool{need: need, limit: limit, sorted: p.sorted[:0], room: 16, first: grid.Never, since: grid.Never, spare: p.spare}
}

// add keeps a slot that is free at the candidate start t. Positions grow from
// one call to the next, so equal keys stay in list order.
func (p *pool) add(k kept, t grid.Time) {
	if p.heaps == nil && len(p.sorted)+p.far.len() >= p.room {
		p.clear(t)
	}
	p.live += int(k.count)
	if p.heaps != nil {
		p.heaps.add(k)
		return
	}
	p.first = min(p.first, k.latest)
	if p.far != nil && p.defers(k) {
		return
	}
	p.sorted = append(p.sorted, k)
	i := len(p.sorted) - 1
	if i > 0 && p.sorted[i-1].key > k.key {
		i = p.place(k.key, i)
		copy(p.sorted[i+1:], p.sorted[i:])
		p.sorted[i] = k
	}
	if i < p.prefix || p.held < p.need {
		p.prefix++
		p.held += int(k.count)
		p.total = p.total.plus(k.key, int(k.count))
		p.trim()
	}
}

// clear drops expired slots from the array, and replaces it by heaps if too many remain.
func (p *pool) clear(t grid.Time) {
	p.expire(t)
	if n := len(p.sorted) + p.far.len(); n <= arrayMost/2 || p.array {
		p.room = 2*n + 16
		return
	}
	p.heaps, p.spare = p.spare.from(p.sorted, p.need), nil
}

// trim drops slots from the end of the N least that are not needed.
func (p *pool) trim() {
	for {
		last := &p.sorted[p.prefix-1]
		if p.held-int(last.count) < p.need {
			return
		}
		p.prefix--
		p.held -= int(last.count)
		p.total = p.total.minus(last.key, int(last.count))
	}
}

// sumUp recomputes the N least.
func (p *pool) sumUp() {
	p.prefix, p.held, p.total = 0, 0, sum{}
	for ; p.held < p.need && p.prefix < len(p.sorted); p.prefix++ {
		k := &p.sorted[p.prefix]
		p.held += int(k.count)
		p.total = p.total.plus(k.key, int(k.count))
	}
	if p.held < p.need && p.far != nil && p.nearer() {
		p.sumUp()
	}
}

// place returns the index after all of sorted[:n] whose key is not greater.
func (p *pool) place(key int64, n int) int {
	low := 0
	for low < n {
		mid := int(uint(low+n) >> 1)
		if p.sorted[mid].key <= key {
			low = mid + 1
		} else {
			n = mid
		}
	}
	return low
}

// expire drops slots whose latest start is before t.
func (p *pool) expire(t grid.Time) {
	if p.heaps != nil {
		p.live -= p.heaps.expire(t)
		return
	}
	if p.first >= t {
		return
	}
	first, w, lost := grid.Never, 0, false
	for i := range p.sorted {
		k := &p.sorted[i]
		if k.latest < t {
			p.live -= int(k.count)
			lost = lost || i < p.prefix
			continue
		}
		first = min(first, k.latest)
		if w != i {
			p.sorted[w] = *k
		}
		w++
	}
	p.sorted, p.first = p.sorted[:w], first
	if p.far != nil {
		p.expireFar(t)
	}
	if lost {
		p.sumUp()
	}
}

// weed drops the slots of an array that no longer serve.
func (p *pool) weed(serves func(k *kept) bool) {
	w := 0
	for i := range p.sorted {
		if k := &p.sorted[i]; serves(k) {
			p.sorted[w] = *k
			w++
		} else {
			p.live -= int(k.count)
		}
	}
	p.sorted = p.sorted[:w]
	if p.far != nil {
		p.weedFar(serves)
	}
	if p.sumUp(); p.prefix > 0 {
		p.trim()
	}
}

// enough reports whether the pool has N nodes whose least keys sum to no more than the
// limit. Expired slots count; see expire.
func (p *pool) enough() bool { return p.live >= p.need && p.least().atMost(p.limit) }

// enoughAt reports whether N nodes are free at t whose least keys sum to no more
// than the limit.
func (p *pool) enoughAt(t grid.Time) bool {
	if p.live < p.need {
		return false
	}
	if p.since == grid.Never {
		if p.expire(t); p.live < p.need {
			return false
		}
		p.since = t
	}
	if p.heaps == nil && !p.enough() {
		return false
	}
	p.expire(t)
	return p.enough()
}

// least returns the sum of the N least keys; the pool must have N nodes. Expired slots
// count, so the sum without them may be greater.
func (p *pool) least() sum {
	if p.heaps != nil {
		return p.heaps.least()
	}
	return p.total.minus(p.sorted[p.prefix-1].key, p.held-p.need)
}

// dearest returns the greatest of the N least keys; the pool must have N nodes.
func (p *pool) dearest() int64 {
	if p.heaps != nil {
		return p.heaps.dearest()
	}
	return p.sorted[p.prefix-1].key
}

// choose appends the slots of the N least keys, each with the count that is taken of it.
func (p *pool) choose(chosen []kept) []kept {
	sorted := p.sorted
	if p.heaps != nil {
		sorted = p.heaps.chosen()
	}
	left := p.need
	for i := 0; left > 0; i++ {
		k := sorted[i]
		k.count = int32(min(left, int(k.count)))
		left -= int(k.count)
		chosen = append(chosen, k)
	}
	return chosen
}

// sum is a total of keys in 128 bits, so that a million nodes at the largest budget do not
// overflow.
type sum struct{ hi, lo uint64 }

func (s sum) plus(key int64, n int) sum {
	hi, lo := bits.Mul64(uint64(key), uint64(n))
	lo, carry := bits.Add64(s.lo, lo, 0)
	return sum{s.hi + hi + carry, lo}
}

func (s sum) with(o sum) sum {
	lo, carry := bits.Add64(s.lo, o.lo, 0)
	return sum{s.hi + o.hi + carry, lo}
}

func (s sum) minus(key int64, n int) sum {
	hi, lo := bits.Mul64(uint64(key), uint64(n))
	lo, borrow := bits.Sub64(s.lo, lo, 0)
	return sum{s.hi - hi - borrow, lo}
}

func (s sum) less(o sum) bool { return s.hi < o.hi || s.hi == o.hi && s.lo < o.lo }

func (s sum) atMost(c grid.Credits) bool { return s.hi == 0 && s.lo <= uint64(c) }

// without returns s - a x b, or 0 if that is negative.
func (s sum) without(a, b uint64) sum {
	hi, lo := bits.Mul64(a, b)
	if s.less(sum{hi, lo}) {
		return sum{}
	}
	return s.minus(int64(a), int(b))
}

// over returns s / d rounded down, or the largest int64 if that is less.
func (s sum) over(d uint64) int64 {
	if s.hi >= d {
		return math.MaxInt64
	}
	q, _ := bits.Div64(s.hi, s.lo, d)
	return int64(min(q, math.MaxInt64))
}

// credits returns the total, at most MaxCredits.
func (s sum) credits() grid.Credits {
	if s.atMost(grid.MaxCredits) {
		return grid.Credits(s.lo)
	}
	return grid.MaxCredits
}
