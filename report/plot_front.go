package report

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
	"github.com/bourse-grid/bourse/report/view"
)

// mostDots bounds the points of a front that are drawn.
const mostDots = 400

// frontPlot draws the front of a batch with the point that was chosen.
func (b *vo) frontPlot(one *batch) Plot {
	points, exact := one.front()
	against := one.axis()
	taken := one.outcome(one.chosen)
	d := draw.New(560*pixel, 340*pixel, fmt.Sprintf("%s, cycle %d: cost and %s of %s", b.name, one.cycle, against.what, grid.Count(len(one.jobs), "job")), sheet)
	d.Box("bg", draw.Box{W: d.Width, H: d.Height}, "")
	f := Plot{Name: fmt.Sprintf("front-%s-%d", b.name, one.cycle), Drawing: d, Title: b.frontTitle(one), About: one.about(len(points), exact), Head: against.head()}
	c := one.chart(d, points, taken)
	c.ground("cost of the batch, credits", against.name)
	one.limits(&c)
	every := (len(points) + mostDots - 1) / mostDots
	for i, p := range points {
		f.Rows = append(f.Rows, p.row(against, "front"))
		if every == 1 || i%every == 0 || i == len(points)-1 {
			d.Dot("on", c.at(p.cost.Float(), against.at(one, &p)), 2*pixel+50, p.words(against, "not beaten"))
		}
	}
	f.Rows = append(f.Rows, taken.row(against, "chosen"))
	at := c.at(taken.cost.Float(), against.at(one, &taken))
	d.Dot("pick", at, 5*pixel, taken.words(against, "chosen"))
	if anchor := (draw.Point{X: at.X + 9*pixel, Y: at.Y - 7*pixel}); at.X > c.X+c.W*3/4 {
		d.Words("s q e", draw.Point{X: at.X - 9*pixel, Y: anchor.Y}, "chosen")
	} else {
		d.Words("s q", anchor, "chosen")
	}
	return f
}

func (b *vo) frontTitle(one *batch) string {
	return fmt.Sprintf("%s, cycle %d: what %s could have cost", b.name, one.cycle, grid.Count(len(one.jobs), "job"))
}

// about says what a front with that many points shows.
func (b *batch) about(points int, exact bool) string {
	against := b.axis()
	s := fmt.Sprintf("The combinations of %s that no other beats in cost and %s at once (%s), and the one that was chosen, minimising %s within the limits.",
		grid.Count(b.size, "alternative"), against.what, grid.Count(points, "point"), b.goal)
	switch against {
	case &finishAxis:
		s += " Of equal last ends the one with the least sum of ends is chosen, which need not be the cheapest."
	case &waitAxis:
		s += " The value is the sum of both. Windows of different jobs may overlap here, so that not every combination was to be had."
	}
	if !exact {
		s += fmt.Sprintf(" So many combinations are taken in steps of %s: a point may be beaten by a little.", against.what)
	}
	return s
}

// front is the front of a batch as a page shows it.
func (b *vo) front(one *batch) view.Front {
	points, exact := one.front()
	against, taken := one.axis(), one.outcome(one.chosen)
	point := func(o *outcome, what string) view.Point {
		return view.Point{X: o.cost.Float(), Y: against.at(one, o), Words: o.words(against, what)}
	}
	f := view.Front{Title: b.frontTitle(one), About: one.about(len(points), exact), X: "cost of the batch, credits", Y: against.name, Chosen: point(&taken, "chosen")}
	every := (len(points) + mostDots - 1) / mostDots
	for i := range points {
		if i%every == 0 || i == len(points)-1 {
			f.Points = append(f.Points, point(&points[i], "not beaten"))
		}
	}
	if one.budgetLimit < grid.MaxCredits {
		v := one.budgetLimit.Float()
		f.LimitX, f.LimitsX = &v, "B* "+money(one.budgetLimit)
	}
	if against == &timeAxis && one.timeLimit < grid.MaxDuration {
		v := one.timeLimit.Hours()
		f.LimitY, f.LimitsY = &v, "T* "+span(one.timeLimit)
	}
	return f
}

// chart is wide enough for all points, with a margin.
func (b *batch) chart(d *draw.Drawing, points []outcome, taken outcome) chart {
	c := chart{Drawing: d, Box: draw.Box{X: 64 * pixel, Y: 44 * pixel, W: 480 * pixel, H: 240 * pixel}}
	at := b.axis().at
	c.left, c.right, c.low, c.high = taken.cost.Float(), taken.cost.Float(), at(b, &taken), at(b, &taken)
	for _, p := range points {
		c.left, c.right = min(c.left, p.cost.Float()), max(c.right, p.cost.Float())
		c.low, c.high = min(c.low, at(b, &p)), max(c.high, at(b, &p))
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

// limits draws B* and T* where they lie within the chart, T* on the axis of times.
func (b *batch) limits(c *chart) {
	if v := b.budgetLimit.Float(); b.budgetLimit < grid.MaxCredits && v > c.left && v < c.right {
		c.Line("l2", draw.Point{X: c.x(v), Y: c.Y}, draw.Point{X: c.x(v), Y: c.Y + c.H})
		c.Words("m q e", draw.Point{X: c.x(v) - 4*pixel, Y: c.Y + 14*pixel}, "B* "+money(b.budgetLimit))
	}
	if v := b.timeLimit.Hours(); b.axis() == &timeAxis && b.timeLimit < grid.MaxDuration && v > c.low && v < c.high {
		c.Line("l2", draw.Point{X: c.X, Y: c.y(v)}, draw.Point{X: c.X + c.W, Y: c.y(v)})
		c.Words("m q e", draw.Point{X: c.X + c.W - 4*pixel, Y: c.y(v) - 5*pixel}, "T* "+span(b.timeLimit))
	}
}

// head names the columns of a front's data.
func (a *axis) head() []string {
	if a.column != "" {
		return []string{"cost credits", "time h", "finish s", a.column, "what"}
	}
	return []string{"cost credits", "time h", "finish s", "what"}
}

func (o outcome) row(against *axis, what string) []string {
	list := []string{o.cost.String(), number(o.time.Hours()), o.finish.String()}
	if against.column != "" {
		list = append(list, o.wait.String())
	}
	return append(list, what)
}

func (o outcome) words(against *axis, what string) string {
	s := fmt.Sprintf("%s: %s credits, %s in all, the last ends at %s", what, money(o.cost), span(o.time), moment(o.finish))
	if against == &waitAxis {
		s += fmt.Sprintf("; waiting is worth %s credits, together %s", money(o.wait), money(o.cost.Plus(o.wait)))
	}
	return s
}
