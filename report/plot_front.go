package report

import (
	"cmp"
	"fmt"
	"slices"

	"bourse"
	"bourse/policy/selection"
	"bourse/report/draw"
)

// Bounds on the front of a batch: up to exactJobs jobs it is exact; above, times
// are taken in timeSteps steps, so that a point may be beaten by a little.
const (
	exactJobs = 8
	timeSteps = 2000
	mostDots  = 400
)

// cost and time of a choice for a whole batch.
type outcome struct {
	cost   bourse.Credits
	time   bourse.Duration
	finish bourse.Time
}

// front returns the choices that no other beats in cost and time at once, by
// cost, and whether they are exact.
func (b *batch) front() (points []outcome, exact bool) {
	step := bourse.Duration(1)
	if len(b.jobs) > exactJobs {
		var span bourse.Duration
		for _, list := range b.jobs {
			least, most := list[0].Time, list[0].Time
			for _, a := range list {
				least, most = min(least, a.Time), max(most, a.Time)
			}
			span += most - least
		}
		step = span/timeSteps + 1
	}
	coarse := make([][]selection.Alternative, len(b.jobs))
	for i, list := range b.jobs {
		for _, a := range list {
			// Without ends the front is that of cost and time alone.
			coarse[i] = append(coarse[i], selection.Alternative{Time: a.Time / step, Cost: a.Cost})
		}
	}
	var s selection.Selector
	found, grid := s.Front(coarse)
	for _, p := range found {
		points = append(points, b.outcome(p.Chosen))
	}
	slices.SortFunc(points, func(x, y outcome) int { return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.time, y.time)) })
	kept := points[:0]
	for _, p := range points { // rounding may have let through what is beaten
		if len(kept) == 0 || p.time < kept[len(kept)-1].time {
			kept = append(kept, p)
		}
	}
	return kept, step == 1 && !grid
}

func (b *batch) outcome(chosen []int) outcome {
	time, cost, finish := selection.Totals(b.jobs, chosen)
	return outcome{cost, time, finish}
}

// frontPlot draws the front of a batch with the point that was chosen.
func (b *vo) frontPlot(one *batch) Plot {
	points, exact := one.front()
	taken := one.outcome(one.chosen)
	d := draw.New(560*pixel, 340*pixel, fmt.Sprintf("%s, cycle %d: cost and time of %s", b.name, one.cycle, count(len(one.jobs), "job")), sheet)
	d.Box("bg", draw.Box{W: d.Width, H: d.Height}, "")
	f := Plot{Name: fmt.Sprintf("front-%s-%d", b.name, one.cycle), Drawing: d,
		Title: fmt.Sprintf("%s, cycle %d: what %s could have cost", b.name, one.cycle, count(len(one.jobs), "job")),
		Head:  []string{"cost credits", "time h", "finish s", "what"}}
	f.About = fmt.Sprintf("The combinations of %s that no other beats in cost and time at once (%s), and the one that was chosen, minimising %s within the limits.",
		count(one.size, "alternative"), count(len(points), "point"), one.goal)
	if one.goal == "finish" {
		f.About += " Where the finish is minimised, the one chosen need not be among the cheapest or quickest."
	}
	if !exact {
		f.About += " So many combinations are taken in steps of time: a point may be beaten by a little."
	}
	c := one.chart(d, points, taken)
	c.ground("cost of the batch, credits", "time of the batch (sum over its jobs), hours")
	one.limits(&c)
	every := (len(points) + mostDots - 1) / mostDots
	for i, p := range points {
		f.Rows = append(f.Rows, p.row("front"))
		if every == 1 || i%every == 0 || i == len(points)-1 {
			d.Dot("on", c.at(p.cost.Float(), p.time.Hours()), 2*pixel+50, p.words("not beaten"))
		}
	}
	f.Rows = append(f.Rows, taken.row("chosen"))
	at := c.at(taken.cost.Float(), taken.time.Hours())
	d.Dot("pick", at, 5*pixel, taken.words("chosen"))
	if anchor := (draw.Point{X: at.X + 9*pixel, Y: at.Y - 7*pixel}); at.X > c.X+c.W*3/4 {
		d.Words("s q e", draw.Point{X: at.X - 9*pixel, Y: anchor.Y}, "chosen")
	} else {
		d.Words("s q", anchor, "chosen")
	}
	return f
}

// chart is wide enough for all points, with a margin.
func (b *batch) chart(d *draw.Drawing, points []outcome, taken outcome) chart {
	c := chart{Drawing: d, Box: draw.Box{X: 64 * pixel, Y: 44 * pixel, W: 480 * pixel, H: 240 * pixel}}
	c.left, c.right, c.low, c.high = taken.cost.Float(), taken.cost.Float(), taken.time.Hours(), taken.time.Hours()
	for _, p := range points {
		c.left, c.right = min(c.left, p.cost.Float()), max(c.right, p.cost.Float())
		c.low, c.high = min(c.low, p.time.Hours()), max(c.high, p.time.Hours())
	}
	margin := func(low, high *float64) {
		by := 0.08 * (*high - *low)
		if by <= 1e-9 {
			by = max(0.1*(*high), 0.01)
		}
		*low, *high = max(0, *low-by), *high+by
	}
	margin(&c.left, &c.right)
	margin(&c.low, &c.high)
	return c
}

// limits draws B* and T* where they lie within the chart.
func (b *batch) limits(c *chart) {
	if v := b.budgetLimit.Float(); b.budgetLimit < bourse.MaxCredits && v > c.left && v < c.right {
		c.Line("l2", draw.Point{X: c.x(v), Y: c.Y}, draw.Point{X: c.x(v), Y: c.Y + c.H})
		c.Words("m q e", draw.Point{X: c.x(v) - 4*pixel, Y: c.Y + 14*pixel}, "B* "+money(b.budgetLimit))
	}
	if v := b.timeLimit.Hours(); b.timeLimit < bourse.MaxDuration && v > c.low && v < c.high {
		c.Line("l2", draw.Point{X: c.X, Y: c.y(v)}, draw.Point{X: c.X + c.W, Y: c.y(v)})
		c.Words("m q e", draw.Point{X: c.X + c.W - 4*pixel, Y: c.y(v) - 5*pixel}, "T* "+span(b.timeLimit))
	}
}

func (o outcome) row(what string) []string {
	return []string{o.cost.String(), number(o.time.Hours()), o.finish.String(), what}
}

func (o outcome) words(what string) string {
	return fmt.Sprintf("%s: %s credits, %s in all, the last ends at %s", what, money(o.cost), span(o.time), moment(o.finish))
}
