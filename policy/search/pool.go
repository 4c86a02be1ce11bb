package search

import (
	"math"
	"math/bits"

	"bourse"
)

// kept is a slot that is free at the candidate start, for long enough.
type kept struct {
	key    int64       // of each node: cost, or 0 under ALP
	latest bourse.Time // the last start at which it is still long enough
	pos    int64       // place in the list: orders ties, finds the slot again
	count  int32
	class  int32
}

// pool is the kept slots of a scan: the live ones, and whether the N least keys
// among them are within the limit. A sorted array serves up to arrayMost slots;
// beyond, heaps with lazy expiry keep every operation logarithmic.
type pool struct {
	need   int // N
	limit  bourse.Credits
	live   int // nodes kept
	most   int // most nodes kept at once, for the reason of a refusal
	sorted []kept
	first  bourse.Time // no kept slot expires before
	stale  bool        // the N least may have changed since the last look
	prefix int         // sorted[:prefix] are the N least, if not stale
	total  sum         // of them
	heaps  *heaps      // nil while the array serves
	spare  *heaps
	array  bool            // always the array: Best reads it
	dirty  bool            // slots were added at the candidate start
	fresh  bourse.Duration // the shortest runtime among those
}

// arrayMost is about where the heaps overtake the array (BenchmarkFind_Failing).
const arrayMost = 256

func (p *pool) reset(need int, limit bourse.Credits) {
	if p.heaps != nil {
		p.spare, p.heaps = p.heaps, nil
	}
	*p = pool{need: need, limit: limit, sorted: p.sorted[:0], first: bourse.Never, stale: true, spare: p.spare}
}

// add keeps a slot. Positions grow from one call to the next, so equal keys
// stay in list order.
func (p *pool) add(k kept) {
	p.live += int(k.count)
	if p.heaps != nil {
		p.heaps.add(k)
		return
	}
	if len(p.sorted) >= arrayMost && !p.array {
		p.heaps, p.spare = p.spare.from(p.sorted, p.need), nil
		p.heaps.add(k)
		return
	}
	p.first = min(p.first, k.latest)
	p.sorted = append(p.sorted, k)
	i := len(p.sorted) - 1
	if i > 0 && p.sorted[i-1].key > k.key {
		i = p.place(k.key, i)
		copy(p.sorted[i+1:], p.sorted[i:])
		p.sorted[i] = k
	}
	if i < p.prefix {
		p.stale = true
	}
}

// place returns the index behind all of sorted[:n] whose key is not greater.
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

// expire drops what cannot start at t any more; equality survives.
func (p *pool) expire(t bourse.Time) {
	if p.heaps != nil {
		p.live -= p.heaps.expire(t)
		return
	}
	if p.first >= t {
		return
	}
	first, w := bourse.Never, 0
	for i := range p.sorted {
		k := &p.sorted[i]
		if k.latest < t {
			p.live -= int(k.count)
			p.stale = p.stale || i < p.prefix
			continue
		}
		first = min(first, k.latest)
		if w != i {
			p.sorted[w] = *k
		}
		w++
	}
	p.sorted, p.first = p.sorted[:w], first
}

// enough reports whether N nodes are kept whose least keys sum to no more than
// the limit.
func (p *pool) enough() bool {
	p.most = max(p.most, p.live)
	if p.live < p.need {
		return false
	}
	if p.heaps != nil {
		return p.heaps.least().atMost(p.limit)
	}
	if !p.stale {
		return false // the same N as at the last look, when they were too dear
	}
	return p.least().atMost(p.limit)
}

// least is the sum of the N least keys; N nodes are kept.
func (p *pool) least() sum {
	if p.heaps != nil {
		return p.heaps.least()
	}
	if !p.stale {
		return p.total
	}
	var s sum
	left, i := p.need, 0
	for ; left > 0; i++ {
		k := &p.sorted[i]
		n := min(left, int(k.count))
		s = s.plus(k.key, n)
		left -= n
	}
	p.prefix, p.total, p.stale = i, s, false
	return s
}

// dearest is the greatest of the N least keys; N nodes are kept.
func (p *pool) dearest() int64 {
	if p.heaps != nil {
		return p.heaps.dearest()
	}
	p.least()
	return p.sorted[p.prefix-1].key
}

// choose appends the N of least key, with the count taken of each.
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

// sum is a total of keys in 128 bits: a million nodes at the largest budget
// must not wrap.
type sum struct{ hi, lo uint64 }

func (s sum) plus(key int64, n int) sum {
	hi, lo := bits.Mul64(uint64(key), uint64(n))
	lo, carry := bits.Add64(s.lo, lo, 0)
	return sum{s.hi + hi + carry, lo}
}

func (s sum) minus(key int64, n int) sum {
	hi, lo := bits.Mul64(uint64(key), uint64(n))
	lo, borrow := bits.Sub64(s.lo, lo, 0)
	return sum{s.hi - hi - borrow, lo}
}

func (s sum) less(o sum) bool { return s.hi < o.hi || s.hi == o.hi && s.lo < o.lo }

func (s sum) atMost(c bourse.Credits) bool { return s.hi == 0 && s.lo <= uint64(c) }

// without is s less a x b, 0 if that is more.
func (s sum) without(a, b uint64) sum {
	hi, lo := bits.Mul64(a, b)
	if s.less(sum{hi, lo}) {
		return sum{}
	}
	return s.minus(int64(a), int(b))
}

// over is s / d rounded down, the largest int64 if it does not fit.
func (s sum) over(d uint64) int64 {
	if s.hi >= d {
		return math.MaxInt64
	}
	q, _ := bits.Div64(s.hi, s.lo, d)
	return int64(min(q, math.MaxInt64))
}

// credits is the total, MaxCredits if it does not fit.
func (s sum) credits() bourse.Credits {
	if s.atMost(bourse.MaxCredits) {
		return bourse.Credits(s.lo)
	}
	return bourse.MaxCredits
}
