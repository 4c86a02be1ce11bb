package admission

import (
	"math"

	"github.com/bourse-grid/bourse"
)

const (
	// tolerance is how far sums of shares and deviations may lie beyond their
	// bounds and still be within.
	tolerance = 1e-9
	// sliver is so little work, in milliseconds of a node, that it counts as none.
	sliver = 1e-6
)

// task is the part of a job that runs on one node. Work is in milliseconds of the
// whole node.
type task struct {
	job      int64
	deadline bourse.Time
	estimate float64     // left of the estimate; 0 once it is used up
	work     float64     // left of the true work, which no decision looks at
	rate     float64     // of the node, since the last division
	end      bourse.Time // if nothing changes
}

// node is a time-shared node. It divides itself among its tasks when one of them arrives
// or ends; in between all rates stay as they are. A task that runs past its
// estimate keeps its rate until then, which costs the others nothing: what they
// get is never less than their shares while these are at most 1 in sum.
type node struct {
	performance bourse.Performance
	bare        bool        // an overrun gets what bare shares leave; see Options.OverrunBare
	at          bourse.Time // of the last division
	total       float64     // of the shares, at that instant
	tasks       []task      // in order of arrival
}

// share is what a task needs of its node to end in time (equation 1):
// remaining estimate / remaining deadline. It is 0 once the estimate is used up,
// 1 once the deadline is over.
func share(estimate, remaining float64) float64 {
	switch {
	case estimate <= 0:
		return 0
	case remaining <= 0:
		return 1
	}
	return estimate / remaining
}

// left is what a task has left of its estimate at now.
func (n *node) left(t *task, now bourse.Time) float64 {
	return consumed(t.estimate, t.rate, float64(now-n.at))
}

// consumed is what is left of an amount after a time at a rate.
func consumed(amount, rate, time float64) float64 {
	if amount -= float64(rate * time); amount > sliver {
		return amount
	}
	return 0
}

// shares is the sum of the shares at now (equation 2).
func (n *node) shares(now bourse.Time) float64 {
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
func (n *node) settle(now bourse.Time) {
	if d := float64(now - n.at); d > 0 {
		for i := range n.tasks {
			t := &n.tasks[i]
			t.estimate = consumed(t.estimate, t.rate, d)
			t.work = consumed(t.work, t.rate, d)
		}
	}
	n.at = now
}

// add puts a task onto the node, which has been settled.
func (n *node) add(t task) { n.tasks = append(n.tasks, t) }

// divide gives each task its rate, share / total: what is left over goes to the
// tasks in proportion, so that the node is never idle while it has work. Tasks
// past their estimates get idle capacity only: nothing, or all of it in equal parts
// where nobody has a share. On a bare node they get what is left over in place of the
// others. It returns the first end. The node has been settled.
func (n *node) divide() bourse.Time {
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
	rest := 0.0 // of each task past its estimate
	whole := n.total
	switch {
	case n.total == 0:
		rest = 1 / float64(len(n.tasks))
	case n.bare && over > 0:
		whole = max(1, n.total)
		rest = max(0, 1-n.total) / float64(over)
	}
	next := bourse.Never
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

// when is the instant at which an amount is used up at a rate, rounded up to the
// millisecond, always later than now. Nothing is used up without a rate too: who
// had no more than a sliver left of both its estimate and its work is done, and
// must not wait for idle capacity.
func (n *node) when(amount, rate float64) bourse.Time {
	if amount <= 0 {
		return n.at + 1
	}
	if rate <= 0 {
		return bourse.Never
	}
	d := math.Ceil(amount/rate - sliver)
	if d >= float64(bourse.Never-n.at) {
		return bourse.Never
	}
	return n.at + max(1, bourse.Time(d))
}
