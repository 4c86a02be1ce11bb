package report

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Bounds on the front of a batch: up to exactJobs jobs it is exact; above, times
// and what waiting is worth are taken in frontSteps steps, so that a point may be
// beaten by a little.
const (
	exactJobs  = 8
	frontSteps = 2000
	exactSpan  = 1 << 60 // of what waiting is worth
)

// outcome is what a choice for a whole batch comes to.
type outcome struct {
	cost   grid.Credits
	time   grid.Duration // summed over the jobs
	finish grid.Time     // the latest end
	wait   grid.Credits  // what the time until the ends is worth, under the goal value
}

// axis is what a front has against the cost: what the batch's goal has least of.
type axis struct {
	what   string // in words
	name   string // with its unit
	column string // of its data, "" if the columns that all fronts have show it
	of     func(o *outcome) int64
	at     func(b *batch, o *outcome) float64 // in the unit of its name
}

var (
	timeAxis = axis{what: "time", name: "time of the batch (sum over its jobs), hours",
		of: func(o *outcome) int64 { return int64(o.time) },
		at: func(_ *batch, o *outcome) float64 { return o.time.Hours() }}
	finishAxis = axis{what: "finish", name: "the batch's last end, hours from its cycle",
		of: func(o *outcome) int64 { return int64(o.finish) },
		at: func(b *batch, o *outcome) float64 { return o.finish.Sub(b.at).Hours() }}
	waitAxis = axis{what: "what waiting is worth", name: "what the time until the ends is worth, credits", column: "waiting credits",
		of: func(o *outcome) int64 { return int64(o.wait) },
		at: func(_ *batch, o *outcome) float64 { return o.wait.Float() }}
)

// axis is that of the batch's goal: cost has the time against it.
func (b *batch) axis() *axis {
	switch b.goal {
	case grid.GoalValue.String():
		return &waitAxis
	case grid.GoalFinish.String():
		return &finishAxis
	}
	return &timeAxis
}

// front returns the choices that no other beats in cost and on the goal's axis at
// once, by cost, and whether they are exact.
func (b *batch) front() (points []outcome, exact bool) {
	coarse, step := b.coarse()
	var s selection.Selector
	found, grid := s.Front(coarse)
	for _, p := range found {
		points = append(points, b.outcome(p.Chosen))
	}
	of := b.axis().of
	slices.SortFunc(points, func(x, y outcome) int { return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(of(&x), of(&y))) })
	kept := points[:0]
	for _, p := range points { // rounding may have let through what is beaten
		if len(kept) == 0 || of(&p) < of(&kept[len(kept)-1]) {
			kept = append(kept, p)
		}
	}
	return kept, step == 1 && !grid
}

// coarse is what a selection is to weigh: the costs and, in steps, the goal's axis
// alone.
func (b *batch) coarse() (list [][]selection.Alternative, step int64) {
	step = 1
	amount := func(job, k int) int64 { return int64(b.jobs[job][k].Time) }
	switch b.axis() {
	case &finishAxis:
		for _, of := range b.jobs {
			var ends []selection.Alternative
			for _, a := range of {
				ends = append(ends, selection.Alternative{Cost: a.Cost, End: a.End})
			}
			list = append(list, ends)
		}
		return list, step
	case &waitAxis:
		amount = func(job, k int) int64 { return int64(b.waits[job][k] - slices.Min(b.waits[job])) }
	}
	var span grid.Credits
	for i := range b.jobs {
		least, most := amount(i, 0), amount(i, 0)
		for k := range b.jobs[i] {
			least, most = min(least, amount(i, k)), max(most, amount(i, k))
		}
		span = span.Plus(grid.Credits(most - least))
	}
	if len(b.jobs) > exactJobs || span > exactSpan {
		step = int64(span)/frontSteps + 1
	}
	for i, of := range b.jobs {
		var steps []selection.Alternative
		for k := range of {
			steps = append(steps, selection.Alternative{Time: grid.Duration(amount(i, k) / step), Cost: of[k].Cost})
		}
		list = append(list, steps)
	}
	return list, step
}

func (b *batch) outcome(chosen []int) outcome {
	var o outcome
	o.time, o.cost, o.finish = selection.Totals(b.jobs, chosen)
	for job, k := range chosen {
		if b.waits != nil {
			o.wait = o.wait.Plus(b.waits[job][k])
		}
	}
	return o
}
