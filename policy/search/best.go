package search

import (
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse"
)

// Weights say what Best looks for, in thousandths: among the windows within the
// budget S it takes the one that minimises
//
//	Time x time/(L/P) + Cost x cost/S + Finish x (end - earliest start)/(L/P)
//
// Ties: the shorter, then the cheaper, then the earlier window. Only the ratio
// of the weights matters; Cost alone is the paper's lambda = infinity. Weights
// lie in 0..1,000,000 and are not all zero.
//
// With Value they are not looked at: it takes the window of least
// cost + Urgency x (end - earliest start) + Haste x time, where Urgency and Haste
// are what an hour is worth, 0..MaxBudget. Ties as above.
type Weights struct {
	Time, Cost, Finish int64
	Value              bool
	Urgency, Haste     bourse.Credits
}

// rotation is the weights of a batch's passes: lambda 0, infinity, .3, 1.3, .13,
// 6.6 against time 1, so that the alternatives of a job differ in what they are
// good for.
var rotation = []Weights{{Time: 1000}, {Cost: 1000}, {Time: 1000, Cost: 300}, {Time: 1000, Cost: 1300},
	{Time: 1000, Cost: 130}, {Time: 1000, Cost: 6600}}

// bestPasses bounds the passes of Best over a batch: twice around.
const bestPasses = 12

// judge weighs windows and remembers the best.
type judge struct {
	q       *query
	a, b, c uint64 // weights of time, cost and finish, brought to one denominator
	started bool   // a window was found
	score   sum
	time    bourse.Duration
	cost    sum
	start   bourse.Time
	chosen  []kept
	floor   sum // no window that starts at once scores less

	// No window with a part beyond these can win.
	longest bourse.Duration
	dearest int64
}

// lift lifts the bounds on parts.
func (j *judge) lift() { j.longest, j.dearest = bourse.Duration(bourse.Never), math.MaxInt64 }

// lower sets the bounds on parts after a better window was found: with the least
// that the rest of a window can add, a part beyond them passes the score.
func (j *judge) lower() {
	q := j.q
	all := sum{}.plus(q.cheapest, q.Nodes) // the window's cost, at least
	if !all.atMost(q.limit) {
		return
	}
	j.longest = bourse.Duration(min(j.score.without(j.b, all.lo).over(j.a), int64(bourse.Never)))
	j.dearest = j.score.without(j.a, uint64(q.least)).over(j.b)
	if others := int64(all.lo) - q.cheapest; j.dearest < math.MaxInt64 {
		j.dearest -= others
	}
}

// open sets the weights: with R = L/P the score times R x S is
// Time x S x time + Cost x R x cost + Finish x S x (end - from).
func (j *judge) open(q *query, w Weights) {
	if w.Value {
		*j = judge{q: q, a: uint64(w.Haste), b: uint64(bourse.Hour), c: uint64(w.Urgency), chosen: j.chosen[:0]}
		j.lift()
		return
	}
	budget := uint64(max(q.Budget, 1))
	runtime := uint64(q.MinPerformance.Runtime(q.Length))
	factors := [3][2]uint64{{uint64(w.Time), budget}, {uint64(w.Cost), runtime}, {uint64(w.Finish), budget}}
	shift := 0
	for _, f := range factors {
		hi, lo := bits.Mul64(f[0], f[1])
		if hi > 0 {
			shift = max(shift, bits.Len64(hi)+2)
		} else {
			shift = max(shift, bits.Len64(lo)-62)
		}
	}
	var v [3]uint64
	for i, f := range factors {
		hi, lo := bits.Mul64(f[0], f[1])
		v[i] = lo>>shift | hi<<(64-shift)
	}
	*j = judge{q: q, a: v[0], b: v[1], c: v[2], chosen: j.chosen[:0]}
	j.lift()
}

// rate is the score of a window. Costs within the budget fit in 60 bits.
func (j *judge) rate(start bourse.Time, time bourse.Duration, cost uint64) sum {
	s := sum{}.plus(int64(j.a), int(time)).plus(int64(j.b), int(cost))
	if j.c > 0 {
		s = s.plus(int64(j.c), int(start.Add(time)-j.q.from))
	}
	return s
}

// findBest looks at every start, not only the earliest.
func (f *Finder) findBest(q *query, w Weights) bool {
	f.best.open(q, w)
	f.hook, f.array = f.weigh, true
	f.scan(q, true)
	if !f.best.started {
		return false
	}
	f.found.Start = f.best.start
	f.chosen = append(f.chosen[:0], f.best.chosen...)
	f.build(q)
	return true
}

// weigh looks at the windows that a pool has at t. Of all windows no longer
// than some runtime only the N cheapest parts can be the best, so it starts with
// the N cheapest of all and goes down from the longest runtime among them,
// dearer from step to step, until nothing can win any more.
//
// A window without a slot that starts at t was there before, with the same time
// and cost. So unless the finish counts, nothing shorter than the shortest of
// the new slots needs a look.
func (f *Finder) weigh(p *pool, t bourse.Time) {
	j := &f.best
	shortest := bourse.Duration(1)
	if j.started {
		shortest = j.q.least
		if j.c == 0 {
			shortest = p.fresh
		}
	}
	if !j.mayWin(p, t, shortest) {
		return
	}
	if p.first < t {
		if p.expire(t); !j.mayWin(p, t, shortest) {
			return
		}
	}
	longest := bourse.Duration(bourse.Never)
	if j.started && j.b == 0 && j.c == 0 {
		longest = j.time // only time counts: a longer one cannot win, one as long may be cheaper
	}
	for longest >= shortest {
		var cost sum
		time, left, i := bourse.Duration(0), p.need, 0
		for ; left > 0 && i < len(p.sorted); i++ {
			k := &p.sorted[i]
			rt := j.q.fit(f.list, k.class).runtime
			if rt > longest {
				continue
			}
			n := min(left, int(k.count))
			cost = cost.plus(k.key, n)
			left -= n
			time = max(time, rt)
		}
		if left > 0 || !cost.atMost(p.limit) {
			return
		}
		score := j.rate(t, time, cost.lo)
		if j.better(score, time, cost, t) {
			j.started, j.score, j.time, j.cost, j.start = true, score, time, cost, t
			j.keep(p, f.list, longest)
			j.lower()
		}
		if j.score.less(j.rate(t, shortest, cost.lo)) {
			return
		}
		longest = time - 1
	}
}

// hopeless reports whether no window that starts at t or later can be better than
// the best so far, which is true of all later starts then.
func (j *judge) hopeless(t bourse.Time) bool {
	if !j.started || j.c == 0 {
		return false
	}
	if j.floor != (sum{}) {
		return j.score.less(j.floor.plus(int64(j.c), int(t-j.q.from)))
	}
	all := sum{}.plus(j.q.cheapest, j.q.Nodes)
	return all.hi == 0 && j.score.less(j.rate(t, j.q.least, all.lo))
}

// better reports whether a window comes before the best so far, by the rule for ties
// where they score alike.
func (j *judge) better(score sum, time bourse.Duration, cost sum, start bourse.Time) bool {
	switch {
	case !j.started || score.less(j.score):
		return true
	case score != j.score || time > j.time:
		return false
	}
	return time < j.time || cost.less(j.cost) || cost == j.cost && start < j.start
}

// mayWin reports whether the N least of the pool are within the limit and, were
// they no longer than shortest, could come before the best so far.
func (j *judge) mayWin(p *pool, t bourse.Time, shortest bourse.Duration) bool {
	if !p.enough() {
		return false
	}
	if !j.started {
		return true
	}
	least := p.least()
	bound := j.rate(t, shortest, least.lo)
	return bound.less(j.score) || bound == j.score && (shortest < j.time || least.less(j.cost) || t < j.start)
}

// keep remembers the N cheapest parts no longer than longest.
func (j *judge) keep(p *pool, l *List, longest bourse.Duration) {
	j.chosen = j.chosen[:0]
	left := p.need
	for i := 0; left > 0; i++ {
		k := p.sorted[i]
		if j.q.fit(l, k.class).runtime > longest {
			continue
		}
		k.count = int32(min(left, int(k.count)))
		left -= int(k.count)
		j.chosen = append(j.chosen, k)
	}
}
