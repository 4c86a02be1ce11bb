package search

import (
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// Weights say what Best looks for, in thousandths. Among the windows within the budget S it
// takes the one that minimises
//
//	Time x time/(L/P) + Cost x cost/S + Finish x (end - earliest start)/(L/P)
//
// Ties: the shorter, then the cheaper, then the earlier window. Only the ratio of the
// weights matters; Cost alone is the paper's lambda = infinity. Weights are in 0..1,000,000
// and not all zero.
//
// With Value, Time, Cost and Finish are ignored. Best then minimises cost + Urgency x (end
// - earliest start) + Haste x time, where Urgency and Haste are credits per hour,
// 0..MaxBudget. Ties as above.
type Weights struct {
	Time, Cost, Finish int64
	Value              bool
	Urgency, Haste     grid.Credits
}

// rotation holds the weights of a batch's passes: lambda 0, infinity, .3, 1.3, .13, 6.6
// against time 1, so that the alternatives of a job have different strengths.
var rotation = []Weights{{Time: 1000}, {Cost: 1000}, {Time: 1000, Cost: 300}, {Time: 1000, Cost: 1300},
	{Time: 1000, Cost: 130}, {Time: 1000, Cost: 6600}}

// bestPasses bounds the passes of Best over a batch: two rounds of rotation.
const bestPasses = 12

// judge weighs windows and remembers the best.
type judge struct {
	q       *query
	a, b, c uint64 // weights of time, cost and finish over a common denominator
	started bool   // a window was found
	score   sum
	time    grid.Duration
	cost    sum
	start   grid.Time
	chosen  []kept
	floor   sum           // lower bound on the score, even for a window that starts at once
	quick   grid.Duration // no window of that score takes less; 0: not known

	// A window with a part beyond these bounds cannot win.
	longest grid.Duration
	dearest int64
}

// lift removes the bounds on parts.
func (j *judge) lift() { j.longest, j.dearest = grid.Duration(grid.Never), math.MaxInt64 }

// lower tightens the bounds on parts after a better window was found. It assumes that the
// rest of a window adds as little as possible; with a part beyond the bounds the window
// would still score worse.
func (j *judge) lower() {
	q := j.q
	all := sum{}.plus(q.cheapest, q.Nodes) // least cost of a window
	if !all.atMost(q.limit) {
		return
	}
	j.longest = grid.Duration(min(j.score.without(j.b, all.lo).over(j.a), int64(grid.Never)))
	j.dearest = j.score.without(j.a, uint64(q.least)).over(j.b)
	if others := int64(all.lo) - q.cheapest; j.dearest < math.MaxInt64 {
		j.dearest -= others
	}
}

// open sets the weights. With R = L/P, the score times R x S is Time x S x time + Cost x R
// x cost + Finish x S x (end - from).
func (j *judge) open(q *query, w Weights) {
	if w.Value {
		*j = judge{q: q, a: uint64(w.Haste), b: uint64(grid.Hour), c: uint64(w.Urgency), chosen: j.chosen[:0]}
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

// rate returns the score of a window. Costs within the budget fit in 60 bits.
func (j *judge) rate(start grid.Time, time grid.Duration, cost uint64) sum {
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

// weigh looks at the windows that a pool has at t. Among windows with no part longer than a
// given runtime, only the N cheapest parts can be best. So it starts with the N cheapest
// parts of all, and then repeatedly excludes the longest runtime among them, at rising
// cost, until nothing can win any more.
//
// A window without a slot that starts at t existed before, with the same time and cost. So
// unless the finish counts, it need not look at windows shorter than the shortest new slot.
func (f *Finder) weigh(p *pool, t grid.Time) {
	j := &f.best
	shortest := grid.Duration(1)
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
	longest := grid.Duration(grid.Never)
	if j.started && j.b == 0 && j.c == 0 {
		longest = j.time // only time counts: a longer one cannot win, an equally long one may be cheaper
	}
	for longest >= shortest {
		if j.q.portions != nil {
			f.rank(p, j.q, t, longest)
		}
		var cost sum
		time, left, i := grid.Duration(0), p.need, 0
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

// hopeless reports whether no window that starts at t or later can beat the best so far.
func (j *judge) hopeless(t grid.Time) bool {
	if !j.started {
		return false
	}
	if j.b > 0 && j.time == j.quick && j.score == j.floor {
		return true // of equal time and score it costs as much
	}
	if j.c == 0 {
		return false
	}
	if j.floor != (sum{}) {
		return j.score.less(j.floor.plus(int64(j.c), int(t-j.q.from)))
	}
	all := sum{}.plus(j.q.cheapest, j.q.Nodes)
	return all.hi == 0 && j.score.less(j.rate(t, j.q.least, all.lo))
}

// better reports whether a window beats the best so far, by score and then by the rule for
// ties.
func (j *judge) better(score sum, time grid.Duration, cost sum, start grid.Time) bool {
	switch {
	case !j.started || score.less(j.score):
		return true
	case score != j.score || time > j.time:
		return false
	}
	return time < j.time || cost.less(j.cost) || cost == j.cost && start < j.start
}

// mayWin reports whether the pool's N least keys are within the limit and could beat the
// best so far if their time were only shortest.
func (j *judge) mayWin(p *pool, t grid.Time, shortest grid.Duration) bool {
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

// keep remembers the N cheapest parts that take no longer than longest.
func (j *judge) keep(p *pool, l *List, longest grid.Duration) {
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
