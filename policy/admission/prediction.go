package admission

import (
	"math"

	"github.com/bourse-grid/bourse/grid"
)

// outlook is a task in a prediction. Times are in milliseconds from now.
type outlook struct {
	estimate float64 // left
	deadline float64 // remaining; below 0 once it has passed
	end      float64 // predicted
}

// predict sets when each task ends if the estimates are true and no more tasks arrive.
// Shares and rates are as on a node, recomputed at each end. A task past its estimate is
// expected to end now. It costs the square of the number of tasks.
func predict(tasks []outlook) {
	left := 0
	for i := range tasks {
		tasks[i].end = 0
		if tasks[i].estimate > 0 {
			left++
		}
	}
	estimates := make([]float64, 0, 32)
	for i := range tasks {
		estimates = append(estimates, tasks[i].estimate)
	}
	for now := 0.0; left > 0; {
		total := 0.0
		for i := range tasks {
			total += share(estimates[i], tasks[i].deadline-now)
		}
		first := math.Inf(1)
		for i := range tasks {
			if s := share(estimates[i], tasks[i].deadline-now); s > 0 {
				first = min(first, estimates[i]/s*total)
			}
		}
		for i := range tasks {
			if estimates[i] <= 0 {
				continue
			}
			rate := share(estimates[i], tasks[i].deadline-now) / total
			if estimates[i] = consumed(estimates[i], rate, first); estimates[i] == 0 {
				tasks[i].end = now + first
				left--
			}
		}
		now += first
	}
}

// delay returns by how much a task is predicted to miss its deadline (equation 3).
func (o *outlook) delay() float64 {
	if o.estimate <= 0 {
		return 0
	}
	return max(0, o.end-o.deadline)
}

// deadlineDelay returns the impact of a delay on a deadline remaining away (equation 4): 1,
// the best, if there is no delay, and infinite if the deadline has passed.
func deadlineDelay(delay, remaining float64) float64 {
	switch {
	case delay <= 0:
		return 1
	case remaining <= 0:
		return math.Inf(1)
	}
	return (delay + remaining) / remaining
}

// risk returns the standard deviation of the deadline delays of a node's tasks (equations 5
// and 6); infinite if there are several and one is.
func risk(delays []float64) float64 {
	n, mean := float64(len(delays)), 0.0
	for _, d := range delays {
		mean += d / n
	}
	if math.IsInf(mean, 1) && len(delays) > 1 {
		return mean
	}
	squares := 0.0
	for _, d := range delays {
		squares += float64((d - mean) * (d - mean))
	}
	return math.Sqrt(squares / n)
}

// risky reports whether the node would be at risk with one more task, by the paper's
// algorithm 1 as printed. late says whether a task that is alone may be predicted to be
// late.
func (n *node) risky(estimate, remaining float64, now grid.Time, late bool, room *[]outlook) bool {
	list := (*room)[:0]
	for i := range n.tasks {
		t := &n.tasks[i]
		list = append(list, outlook{estimate: n.left(t, now), deadline: float64(t.deadline - now)})
	}
	list = append(list, outlook{estimate: estimate, deadline: remaining})
	*room = list
	predict(list)
	delays := make([]float64, 0, 32)
	for i := range list {
		delays = append(delays, deadlineDelay(list[i].delay(), list[i].deadline))
	}
	if len(list) == 1 && !late {
		return delays[0] > 1+tolerance
	}
	return risk(delays) > tolerance
}
