package slurm

import (
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// clock says when the main scheduler passes: when a job's nodes come back, some time after
// submissions, and over the whole queue at fixed intervals.
type clock struct {
	conf    *Scheduler
	last    grid.Time // the last pass
	asked   bool
	askedAt grid.Time
	at      grid.Time // one is due at this instant; Never if none is
	whole   grid.Time // the next pass over the whole queue

	version, seen, seenWhole uint64 // changes, and those that a pass has seen
	real, settledAt          uint64 // changes other than of the order
}

func (c *clock) begin(conf *Scheduler, now grid.Time) {
	*c = clock{conf: conf, last: now.Add(-conf.BatchDelay), at: grid.Never, whole: grid.Never}
	if conf.SchedInterval > 0 {
		c.whole = following(now, conf.PassPhase, conf.SchedInterval)
	}
}

func (c *clock) changed()   { c.version++; c.real++ }
func (c *clock) reordered() { c.version++ }

// ask wants a pass after the delay of a batch.
func (c *clock) ask(now grid.Time) {
	if !c.asked {
		c.asked, c.askedAt = true, now
	}
}

// now wants a pass at once.
func (c *clock) now(now grid.Time) { c.at = now }

// settled reports whether passes have seen all that changed.
func (c *clock) settled() bool {
	return (c.settledAt == c.real || c.whole == grid.Never) && !c.asked && c.at == grid.Never
}

// next is when the next pass is. Those over the whole queue count only if there is one.
func (c *clock) next(now grid.Time, queue bool) grid.Time {
	at := c.at
	if queue {
		at = min(at, c.whole)
	}
	if c.asked {
		at = min(at, c.batch())
	}
	return max(at, now)
}

// skip passes over periodic passes that nobody waited for, before an instant.
func (c *clock) skip(at grid.Time) {
	if c.whole < at {
		c.whole = following(at-1, c.conf.PassPhase, c.conf.SchedInterval)
	}
}

// batch is when a pass that was asked for may be.
func (c *clock) batch() grid.Time { return max(c.askedAt, c.last.Add(c.conf.BatchDelay)) }

// due reports whether there is a pass now that may find something, and how many jobs it
// tries.
func (c *clock) due(now grid.Time) (depth int, due bool) {
	if now >= c.whole {
		c.whole = following(now, c.conf.PassPhase, c.conf.SchedInterval)
		c.last, c.asked, c.at = now, false, grid.Never
		due = c.seenWhole != c.version
		c.seen, c.seenWhole, c.settledAt = c.version, c.version, c.real
		return math.MaxInt, due
	}
	if c.asked && now >= c.batch() {
		c.last, c.asked, due = now, false, true
	}
	if now >= c.at {
		c.at, c.last, due = grid.Never, now, true
	}
	if due && c.seen != c.version {
		c.seen = c.version
		return c.conf.QueueDepth, true
	}
	return 0, false
}

// cycles says when backfill cycles begin: bf_interval after the last one if anything
// changed, else at the first second after that by which something has.
type cycles struct {
	conf          *Scheduler
	last          grid.Time
	at            grid.Time // the next; Never if nothing has changed
	version, seen uint64
}

func (c *cycles) begin(conf *Scheduler, now grid.Time) {
	*c = cycles{conf: conf, last: following(now, conf.CyclePhase, conf.Interval).Add(-conf.Interval), at: grid.Never}
}

func (c *cycles) changed(now grid.Time) {
	c.version++
	c.reordered(now)
}

func (c *cycles) reordered(now grid.Time) {
	if c.at < grid.Never {
		return
	}
	if k, known := slices.BinarySearch(c.conf.Cycles, now); c.conf.Cycles != nil {
		if known && c.last == now { // this one is over
			k++
		}
		if k < len(c.conf.Cycles) {
			c.at = c.conf.Cycles[k]
			return
		}
	}
	c.at = c.last.Add(c.conf.Interval)
	if late := now.Sub(c.at); late > 0 {
		c.at = c.at.Add((late + grid.Second - 1) / grid.Second * grid.Second)
	}
}

func (c *cycles) next() grid.Time { return c.at }

func (c *cycles) settled() bool { return c.seen == c.version }

// due reports whether a cycle begins now.
func (c *cycles) due(now grid.Time) bool {
	if now < c.at {
		return false
	}
	c.last, c.at, c.seen = now, grid.Never, c.version
	return true
}
