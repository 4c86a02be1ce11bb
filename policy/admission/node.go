package admission

import (
	"math"

	"github.com/bourse-grid/bourse/grid"
)

const (
	// tolerance is how far sums of shares and deviations may exceed their bounds.
	tolerance = 1e-9
	// sliver is an amount of work, in milliseconds of a node, that counts as none.
	sliver = 1e-6
)

// task is the part of a job that runs on one node. Work is in milliseconds of the whole
// node.
type task struct {
	job      int64
	deadline grid.Time
	estimate float64   // remaining estimate; 0 once it is used up
	work     float64   // remaining true work, which no decision uses
	rate     float64   // share of the node since the last division
	end      grid.Time // expected end if nothing changes
}

// node is a time-shared node. It divides itself among its tasks when one of them arrives or
// ends; in between all rates are constant. A task that runs past its estimate keeps its
// rate until then, which does not harm the others: they never get less than their shares
// while these sum to at most 1.
type node struct {
	performance grid.Performance
	bare        bool      // see Options.OverrunBare
	at          grid.Time // time of the last division
	total       float64   // sum of the shares at that instant
	tasks       []task    // in order of arrival
}

// share returns what a task needs of its node to end in time (equation 1): remaining
// estimate / remaining deadline. It is 0 once the estimate is used up, and 1 once the
// deadline has passed.
func share(estimate, remaining float64) float64 {
	switch {
	case estimate <= 0:
		return 0
	case remaining <= 0:
		return 1
	}
	return estimate / remaining
}

// left returns a task's remaining estimate at now.
func (n *node) left(t *task, now grid.Time) float64 {
	return consumed(t.estimate, t.rate, float64(now-n.at))
}

// consumed returns what remains of an amount after some time at a rate.
func consumed(amount, rate, time float64) float64 {
	if amount -= float64(rate * time); amount > sliver {
		return amount
	}
	return 0
}

// shares returns the sum of the shares at now (equation 2).
func (n *node) shares(now grid.Time) float64 {
	if now == n.at {
		return n.total
	}
	total := 0.0
	for i := range n.tasks {
		t := &n.tasks[i]
		total += share(n.left(t, now), float64(t.deadline-now))
	}
	return total
}

// settle brings the node's tasks up to now.
func (n *node) settle(now grid.Time) {
	if d := float64(now - n.at); d > 0 {
		for i := range n.tasks {
			t := &n.tasks[i]
			t.estimate = consumed(t.estimate, t.rate, d)
			t.work = consumed(t.work, t.rate, d)
		}
	}
	n.at = now
}

// add puts a task onto the node, which must be settled.
func (n *node) add(t task) { n.tasks = append(n.tasks, t) }

// divide gives each task its rate, share / total: the rest goes to the tasks in proportion,
// so that the node is never idle while it has work. Tasks past their estimates get only
// idle capacity: nothing, or all of it in equal parts if no task has a share. On a bare
// node they get the rest instead of the others. It returns the first end. The node must be
// settled.
func (n *node) divide() grid.Time {
	n.total = 0
	over := 0
	for i := range n.tasks {
		t := &n.tasks[i]
		t.rate = share(t.estimate, float64(t.deadline-n.at))
		n.total += t.rate
		if t.rate == 0 {
			over++
		}
	}
	rest := 0.0 // rate of each task past its estimate
	whole := n.total
	switch {
	case n.total == 0:
		rest = 1 / float64(len(n.tasks))
	case n.bare && over > 0:
		whole = max(1, n.total)
		rest = max(0, 1-n.total) / float64(over)
	}
	next := grid.Never
	for i := range n.tasks {
		t := &n.tasks[i]
		if t.rate > 0 {
			t.rate /= whole
		} else {
			t.rate = rest
		}
		t.end = n.when(t.work, t.rate)
		next = min(next, t.end)
	}
	return next
}

// when returns the instant at which an amount is used up at a rate, rounded up to the
// millisecond and always later than now. An amount of no more than a sliver is used up even
// at rate 0: a task with no more left of estimate and work is done, and must not wait for
// idle capacity.
func (n *node) when(amount, rate float64) grid.Time {
	if amount <= 0 {
		return n.at + 1
	}
	if rate <= 0 {
		return grid.Never
	}
	d := math.Ceil(amount/rate - sliver)
	if d >= float64(grid.Never-n.at) {
		return grid.Never
	}
	return n.at + max(1, grid.Time(d))
}
