package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// pairedName is the measure that decides: by seed, how much less a setting loses.
const pairedName = "value lost less than by the first alternatives, %"

// pairedPlaced stands beside it: a setting that loses less may have placed other numbers.
const pairedPlaced = "jobs placed more than by the first alternatives, points"

// of is a figure of a cell by run.
func (w *planningWorld) of(cell int, f planningFigure) []float64 {
	values := make([]float64, w.runs)
	for i := range values {
		values[i] = w.outcomes[cell][i][f]
	}
	return values
}

// cell is the setting of a planner at a point.
func (w *planningWorld) cell(name string, at point) int {
	return slices.IndexFunc(w.cells, func(c planningCell) bool { return c.planner.name == name && c.point == at })
}

// least is the setting at a point that loses least value.
func (w *planningWorld) least(at point) int {
	best, least := -1, 0.0
	for i := range w.cells {
		if w.cells[i].point != at {
			continue
		}
		if mean, _ := evidence.Interval(w.of(i, valueLost)); best < 0 || mean < least {
			best, least = i, mean
		}
	}
	return best
}

// lessBy is by seed how many percent of b a figure of cell a lies below that of b.
func (w *planningWorld) lessBy(a, b int, f planningFigure) evidence.Sample {
	x, y := w.of(a, f), w.of(b, f)
	d := make([]float64, len(x))
	for i := range x {
		if y[i] != 0 {
			d[i] = 100 * (y[i] - x[i]) / y[i]
		}
	}
	return evidence.Average(d)
}

// more is by seed how much a figure of cell a lies above that of b.
func (w *planningWorld) more(a, b int, f planningFigure) evidence.Sample {
	x, y := w.of(a, f), w.of(b, f)
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i]
	}
	return evidence.Average(d)
}

// rows are the figures of one scenario, then the comparisons.
func (w *planningWorld) rows() []evidence.Row {
	var list []evidence.Row
	add := func(measure, setting, claim string, s evidence.Sample, j evidence.Judgement) {
		paper := evidence.Claim{}
		if claim != "" {
			paper = evidence.Words(claim)
		}
		list = append(list, evidence.NewRow(w.preset+": "+measure, setting, paper, "seed", s, j))
	}
	for i := range w.cells { // what is lost and of how many jobs, side by side
		c := &w.cells[i]
		add(planningNames[valueLost], c.String(), "", evidence.Average(w.of(i, valueLost)), w.loses(i))
		add(planningNames[placedShare], c.String(), "", evidence.Average(w.of(i, placedShare)), evidence.Unjudged(evidence.Measured))
	}
	for f := meanFinish; f < planningFigures; f++ {
		for i := range w.cells {
			c := &w.cells[i]
			if f >= nearBase && c.point != basePoint || f == regret && (c.planner.goal != "value" || c.planner.strategy.OneByOne()) {
				continue
			}
			add(planningNames[f], c.String(), "", evidence.Average(w.of(i, f)), evidence.Unjudged(evidence.Measured))
		}
	}
	for i := range w.cells {
		if c := &w.cells[i]; c.planner.name != firstOnes {
			first := w.cell(firstOnes, c.point)
			less := w.lessBy(i, first, valueLost)
			add(pairedName, c.String(), "", less, evidence.LessThan(less.Estimate))
			more := w.more(i, first, placedShare)
			add(pairedPlaced, c.String(), "", more, evidence.Worded(more.Estimate, "more", "fewer"))
		}
	}
	w.claims(add)
	return list
}

// loses is the verdict on what a setting loses: the least at its point, the same,
// undecided, or by how much it is above that.
func (w *planningWorld) loses(cell int) evidence.Judgement {
	best := w.least(w.cells[cell].point)
	if cell == best {
		return evidence.Unjudged(leastLost)
	}
	gain := w.lessBy(cell, best, valueLost)
	if gain.Mean == 0 && gain.Half == 0 {
		return evidence.Unjudged(equalLoss)
	}
	return evidence.Versus(gain.Estimate)
}

// Verdicts on what a setting loses, besides by how much it is above the least.
const (
	leastLost = "the least"
	equalLoss = "the same"
)

// claims adds the rows on the planner's promise about its settings: more alternatives, or
// patience, make no outcome worse.
func (w *planningWorld) claims(add func(measure, setting, claim string, s evidence.Sample, j evidence.Judgement)) {
	for _, c := range []struct{ setting, than string }{
		{"value, 20 alternatives", "value, 1 alternative"}, {"value, 20 alternatives", "value"}, {"value", "value, patience 0"},
	} {
		a, b := w.cell(c.setting, basePoint), w.cell(c.than, basePoint)
		setting := c.setting + " against " + c.than
		less := w.lessBy(a, b, valueLost)
		add("value lost less, %", setting, "never worse", less, evidence.AtLeast(less.Estimate, 0))
		for _, f := range []planningFigure{placedShare, meanFinish, totalCost} {
			gain, measure := w.lessBy(a, b, f), "less "+strings.TrimSuffix(strings.TrimSuffix(planningNames[f], ", h"), ", credits")+", %"
			if f == placedShare {
				gain, measure = gain.Times(-1), "more jobs placed, %"
			}
			add(measure, setting, "worse by 1 % at most", gain, evidence.AtLeast(gain.Estimate, -1))
		}
	}
}

// PlanningFinding says for each scenario which setting loses least value, at the
// base point and around it.
func PlanningFinding(rows []evidence.Row) string {
	var s strings.Builder
	for _, g := range scenes {
		if row := leastOf(rows, &g, basePoint); row != nil {
			g.finding(&s, rows, row)
		}
	}
	return strings.TrimSpace(s.String())
}

// leastOf is the row of the setting that loses least at a point; nil if there is
// none.
func leastOf(rows []evidence.Row, g *scene, at point) *evidence.Row {
	var best *evidence.Row
	for i := range rows {
		r := &rows[i]
		if r.Measure == g.preset+": "+planningNames[valueLost] && isAt(r.Setting, at) && (best == nil || r.Here < best.Here) {
			best = r
		}
	}
	return best
}

// isAt reports whether a setting is of that point.
func isAt(setting string, at point) bool {
	return slices.ContainsFunc(planners, func(p planner) bool { c := planningCell{&p, at}; return c.String() == setting })
}

func (g *scene) finding(s *strings.Builder, rows []evidence.Row, best *evidence.Row) {
	figure := func(measure, setting string) *evidence.Row {
		for i := range rows {
			if rows[i].Measure == g.preset+": "+measure && rows[i].Setting == setting {
				return &rows[i]
			}
		}
		return &evidence.Row{}
	}
	fmt.Fprintf(s, "%s: %s loses least value", g.preset, best.Setting)
	if d := figure(pairedName, best.Setting); best.Setting != firstOnes {
		fmt.Fprintf(s, ", %.1f ± %.1f %% less than %s", d.Here, d.CI95, firstOnes)
		for i, f := range []planningFigure{placedShare, meanFinish, totalCost} {
			a, b := figure(planningNames[f], best.Setting), figure(planningNames[f], firstOnes)
			what, unit, _ := strings.Cut(planningNames[f], ", ")
			fmt.Fprintf(s, "%s%s %s %s against %s", []string{" (", "; ", "; "}[i], what, shortly(a.Here), unit, shortly(b.Here))
		}
		s.WriteString(")")
	}
	near, rest := 0, 0
	var equal []string
	for i := range rows {
		if r := &rows[i]; r.Measure == best.Measure && r != best && isAt(r.Setting, basePoint) {
			if rest++; r.Verdict == evidence.Undecided || r.Verdict == equalLoss {
				near++
				equal = append(equal, r.Setting)
			}
		}
	}
	switch {
	case near == rest:
		s.WriteString("; nothing differs from that beyond the interval")
	case near > 0:
		fmt.Fprintf(s, "; not beyond the interval from that: %s", strings.Join(equal, "; "))
	}
	g.around(s, rows, best.Measure)
	s.WriteString(". ")
}

// around says where value is not the best at the points around the base point.
func (g *scene) around(s *strings.Builder, rows []evidence.Row, measure string) {
	points, good := 0, 0
	var others []string
	for _, at := range g.points()[1:] {
		best := leastOf(rows, g, at)
		ours := slices.IndexFunc(rows, func(r evidence.Row) bool { return r.Measure == measure && r.Setting == "value, "+at.name })
		if best == nil || ours < 0 {
			continue
		}
		points++
		switch rows[ours].Verdict {
		case leastLost, equalLoss, evidence.Undecided:
			good++
		default:
			others = append(others, fmt.Sprintf("%s (value is %s)", best.Setting, rows[ours].Verdict))
		}
	}
	fmt.Fprintf(s, ". Around that point value is the least, or not beyond the interval from it, at %d of %d points", good, points)
	if len(others) > 0 {
		fmt.Fprintf(s, "; less is lost by %s", strings.Join(others, "; "))
	}
}

func shortly(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// PlanningFronts are cost against finish in each scenario: the planners at the base
// point, and value at the other urgencies.
func PlanningFronts(rows []evidence.Row) []report.StudyFront {
	var list []report.StudyFront
	near := []string{"value, 1 alternative", "value, 20 alternatives", "value, patience 0"} // not to be told from value
	for _, g := range scenes {
		f := report.StudyFront{Title: g.preset + ": cost against finish", X: planningNames[costOfJob], Y: planningNames[meanFinish],
			About: "The planners at the base point, an urgency of 15 credits an hour, and value at others. Both are of the jobs that were placed: the legend says how many of all were."}
		at := map[string]int{}
		for i := range rows {
			r := &rows[i]
			measure, ours := strings.CutPrefix(r.Measure, g.preset+": ")
			if !ours || slices.Contains(near, r.Setting) || !isAt(r.Setting, basePoint) && !strings.HasPrefix(r.Setting, "value, urgency ") {
				continue
			}
			n, known := at[r.Setting]
			if !known {
				n = len(f.Points)
				at[r.Setting] = n
				f.Points = append(f.Points, report.StudyPoint{Setting: r.Setting})
			}
			switch p := &f.Points[n]; measure {
			case f.X:
				p.X, p.XHalf = r.Here, r.CI95
			case f.Y:
				p.Y, p.YHalf = r.Here, r.CI95
			case planningNames[placedShare]:
				p.Words = fmt.Sprintf("%.1f %% placed", r.Here)
			}
		}
		if len(f.Points) > 0 {
			list = append(list, f)
		}
	}
	return list
}
