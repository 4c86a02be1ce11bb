package pricing

import (
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// ceiling stops a trial whose price certainly does not exceed a bound. Under EASY, once no
// reservation is ahead, the remaining work bounds how late the waiting jobs start. From
// then on nodes only come free. While the head of the queue waits, fewer nodes are free
// than it needs, and it waits no longer than the longest job that runs. Now choose a limit
// of nodes. While a head within the limit waits, all nodes but fewer than the limit are
// busy, so the remaining work bounds that time. Each larger job ahead delays a job by at
// most the longest estimate. Each limit gives a bound, and the least one counts.
type ceiling struct {
	on   bool
	most uint128
	next int // number of waiting jobs at which to look next
}

// set makes c stop a trial that costs at most most.
func (c *ceiling) set(most grid.Duration) {
	c.on, c.most = true, uint128{}
	c.most.addProduct(uint64(most), 1000)
}

// begin prepares for a trial. Only EASY has a ceiling, and only if every job may start at once.
func (c *ceiling) begin(b *Book, w *sweep) {
	c.on = c.on && b.state.Policy.Backfills() && b.state.Policy.Reserve == 1 && b.awaits.from == nil
	c.next = w.left
}

// due reports whether enough jobs have started since the last look.
func (c *ceiling) due(w *sweep) bool { return c.on && w.left <= c.next }

// boundedBelow reports whether the trial's harm certainly does not exceed the ceiling, and
// then sets b.harm to an upper bound of it. It costs two walks over the waiting jobs.
func (b *Book) boundedBelow(w *sweep) bool {
	c := &b.ceiling
	if c.most.below(b.harm) {
		c.on = false
		return false
	}
	c.next = w.left - w.left/8 - 1
	sum, ok := b.atMost(w)
	if !ok {
		return false
	}
	if c.most.below(sum) {
		// The bound falls with the square of the number of waiting jobs, or faster.
		c.next = min(c.next, w.left>>((sum.len()-c.most.len())/2))
		return false
	}
	b.harm = sum
	return true
}

// atMost returns an upper bound on the harm of the whole trial; false if there is none.
func (b *Book) atMost(w *sweep) (sum uint128, ok bool) {
	a, ok := b.ahead(w)
	if !ok {
		return sum, false
	}
	var limit [3]int32
	var latest [3]grid.Time // by limit, a bound on the start of the next job in queue order
	for k := range limit {
		limit[k] = int32((k + 1) * a.nodes / 4)
		busy := a.nodes - int(limit[k]) + 1
		latest[k] = a.from.Add(a.work/grid.Duration(busy) + 1)
	}
	sum = b.harm
	for i, set := range w.rem {
		for ; set != 0; set &= set - 1 {
			pos := i<<6 + bits.TrailingZeros64(set)
			q := &b.jobs[pos]
			for k := range limit {
				if q.nodes > limit[k] {
					latest[k] = latest[k].Add(a.longest)
				}
			}
			if late := min(latest[0], latest[1], latest[2]) - b.starts[pos]; late > 0 {
				sum.addProduct(uint64(late), q.cost)
			}
		}
	}
	return sum, true
}

// ahead is the work ahead of a trial from the start of the head of the queue on.
type ahead struct {
	from    grid.Time
	nodes   int           // all nodes
	work    grid.Duration // sum of nodes x time of running and waiting jobs
	longest grid.Duration // longest time of any of them
}

// ahead adds up the work ahead. It reports false if nodes are taken later on, if a job is
// too large, or if a number overflows.
func (b *Book) ahead(w *sweep) (a ahead, ok bool) {
	a.from = w.at
	if len(w.holds) > 0 {
		a.from = w.holds[0]
	}
	if a.from >= grid.Never {
		return a, false
	}
	last := w.free[len(w.free)-1]
	a.nodes, a.longest = last.Free, max(0, last.At.Sub(a.from))
	ok = true
	for i := find(w.free, a.from); i+1 < len(w.free); i++ {
		now, then := w.free[i], w.free[i+1]
		ok = ok && now.Free <= then.Free && a.add(a.nodes-now.Free, then.At.Sub(max(a.from, now.At)))
	}
	for i, set := range w.rem {
		for ; ok && set != 0; set &= set - 1 {
			q := &b.jobs[i<<6+bits.TrailingZeros64(set)]
			a.longest = max(a.longest, q.estimate)
			ok = int(q.nodes) <= a.nodes && a.add(int(q.nodes), q.estimate)
		}
	}
	return a, ok
}

// add adds n nodes for d, and reports false on overflow.
func (a *ahead) add(n int, d grid.Duration) bool {
	hi, lo := bits.Mul64(uint64(n), uint64(d))
	a.work += grid.Duration(lo)
	return hi == 0 && lo <= math.MaxInt64 && a.work >= 0
}
