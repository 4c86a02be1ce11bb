package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
	"github.com/bourse-grid/bourse/report/weeks"
)

// Study is the result of a study, for a page of its own.
type Study struct {
	Name, Finding string
	Title         string // default: "Study: " and the name
	Plain         bool   // there is no paper to compare with
	Seed          uint64
	Settings      []Setting
	Rows          []StudyRow
	Fronts        []StudyFront
	Notes         []string
}

// StudyRow is one figure of a study beside what a paper says of it.
type StudyRow struct {
	Measure, Setting string
	Said             string  // what the paper says, in words or as a number; "" for nothing
	Paper            float64 // the number, if Number
	Number           bool
	Here, CI95       float64         // the mean and the half-width of its 95 % interval
	OverWeeks        *weeks.Interval // the interval over the weeks of a log, nil: there is none
	Runs             int
	Verdict          string
}

// Write writes the page: each measure as a figure, and all rows as a table.
func (s *Study) Write(w io.Writer) error {
	title := cmp.Or(s.Title, "Study: "+s.Name)
	p := &page{Title: title, Heads: []pageHead{{Title: title, Line: fmt.Sprintf("Seed %d.", s.Seed), Finding: s.Finding}}}
	table := pageTable{Head: []string{"Measure", "Setting", "Paper", "Here", "± 95 %", "Runs", "Verdict"}, Words: 3, Verdict: true, Note: strings.Join(s.Notes, " ")}
	for _, r := range s.Rows {
		table.Rows = append(table.Rows, []string{r.Measure, r.Setting, r.Said, studyNumber(r.Here), studyNumber(r.CI95), strconv.Itoa(r.Runs), r.Verdict})
	}
	if s.overWeeks() {
		table.withWeeks(s.Rows)
	}
	if len(s.Settings) > 0 {
		p.add(pageSection{Title: "Configuration", Tables: []pageTable{settingsTable(s.Settings)}})
	}
	if len(s.Fronts) > 0 {
		fronts := pageSection{Title: "What is had for what"}
		for _, plot := range s.frontPlots() {
			fronts.Plots = append(fronts.Plots, plot.onPage(true))
		}
		p.add(fronts)
	}
	figures := pageSection{Title: "Measure by measure", About: "Dots are means over the runs, bars their 95 % intervals; diamonds are what the paper says."}
	if s.Plain {
		figures.About = "Dots are means over the runs, bars their 95 % intervals."
		table.withoutPaper()
	}
	for _, plot := range s.measurePlots() {
		figures.Plots = append(figures.Plots, plot.onPage(false))
	}
	if same := s.constants(); len(same) > 0 {
		figures.About += " No figure where nothing varies: " + strings.Join(same, "; ") + "."
	}
	p.add(figures)
	p.add(pageSection{Title: "All figures", Tables: []pageTable{table}})
	return p.write(w)
}

// overWeeks reports whether any row has an interval over weeks.
func (s *Study) overWeeks() bool {
	return slices.ContainsFunc(s.Rows, func(r StudyRow) bool { return r.OverWeeks != nil })
}

// withWeeks adds the column of intervals over weeks, behind those over seeds.
func (t *pageTable) withWeeks(rows []StudyRow) {
	const behind = 5
	t.Head = slices.Insert(t.Head, behind, "± 95 % over weeks")
	for i := range t.Rows {
		cell := ""
		if w := rows[i].OverWeeks; w != nil {
			cell = studyNumber(w.CI95)
		}
		t.Rows[i] = slices.Insert(t.Rows[i], behind, cell)
	}
}

// withoutPaper removes the column of the paper's figures.
func (t *pageTable) withoutPaper() {
	const paper = 2
	t.Head, t.Words = slices.Delete(t.Head, paper, paper+1), paper
	for i := range t.Rows {
		t.Rows[i] = slices.Delete(t.Rows[i], paper, paper+1)
	}
}

func studyNumber(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

// mostStudyRows bounds the rows of one figure.
const mostStudyRows = 60

// Plots draws all figures: the fronts, then the measures.
func (s *Study) Plots() []Plot { return append(s.frontPlots(), s.measurePlots()...) }

func (s *Study) frontPlots() []Plot {
	var list []Plot
	for i := range s.Fronts {
		list = append(list, s.Fronts[i].plot(fmt.Sprintf("study-front-%d", i+1)))
	}
	return list
}

// measures returns the rows of each measure, in order of first appearance.
func (s *Study) measures() (order []string, rows map[string][]*StudyRow) {
	rows = map[string][]*StudyRow{}
	for i := range s.Rows {
		r := &s.Rows[i]
		if rows[r.Measure] == nil {
			order = append(order, r.Measure)
		}
		rows[r.Measure] = append(rows[r.Measure], r)
	}
	return order, rows
}

// constant reports whether the rows are a single number that never changes and that no
// paper gives a value or a word for, so that a plot of them would show nothing. A study
// plots each of its claims, even one with a single row.
func (s *Study) constant(rows []*StudyRow) bool {
	for _, r := range rows {
		if r.Here != rows[0].Here && (finite(r.Here) || finite(rows[0].Here)) || finite(r.CI95) && r.CI95 != 0 || r.Said != "" {
			return false
		}
	}
	return len(rows) > 1 || s.Plain
}

// constants lists the values of the measures that have no figure.
func (s *Study) constants() (said []string) {
	order, rows := s.measures()
	for _, measure := range order {
		if list := rows[measure]; s.constant(list) {
			is := "is " + number(list[0].Here)
			if !finite(list[0].Here) {
				is = "is not known"
			}
			said = append(said, measure+" "+is)
		}
	}
	return said
}

// measurePlots draws a figure for each measure that varies, or several if it has very many
// rows.
func (s *Study) measurePlots() []Plot {
	order, rows := s.measures()
	var list []Plot
	for _, measure := range order {
		if s.constant(rows[measure]) {
			continue
		}
		for rest := rows[measure]; len(rest) > 0; {
			n := min(len(rest), mostStudyRows)
			list = append(list, s.plot(fmt.Sprintf("study-%d", len(list)+1), measure, rest[:n]))
			rest = rest[n:]
		}
	}
	return list
}

// Widths of a figure of intervals.
const (
	settingWidth = 330 * pixel
	verdictWidth = 200 * pixel
	studyLine    = 22 * pixel
)

// plot draws one line for each setting: the mean, its interval, and the paper's
// figure.
func (s *Study) plot(name, measure string, rows []*StudyRow) Plot {
	d := draw.New(pageWidth, 76*pixel+studyLine*draw.Px(len(rows)), measure, sheet)
	d.Box("bg", draw.Box{W: d.Width, H: d.Height}, "")
	f := Plot{Name: name, Title: measure, Drawing: d, Head: []string{"measure", "setting", "paper", "here", "ci95", "runs", "verdict"}}
	c := chart{Drawing: d, Box: draw.Box{X: settingWidth, Y: 22 * pixel, W: pageWidth - settingWidth - verdictWidth, H: studyLine * draw.Px(len(rows))}, high: 1}
	c.left, c.right = spanOf(rows)
	c.Drawing.Box("band", c.Box, "")
	for _, v := range ticks(c.left, c.right, 8) {
		d.Line("g", draw.Point{X: c.x(v), Y: c.Y}, draw.Point{X: c.x(v), Y: c.Y + c.H})
		d.Words("m c", draw.Point{X: c.x(v), Y: c.Y + c.H + 15*pixel}, number(v))
	}
	d.Words("m c", draw.Point{X: c.X + c.W/2, Y: c.Y + c.H + 34*pixel}, measure)
	for i, r := range rows {
		f.Rows = append(f.Rows, []string{r.Measure, r.Setting, r.Said, number(r.Here), number(r.CI95), strconv.Itoa(r.Runs), r.Verdict})
		c.interval(c.Y+studyLine*draw.Px(i)+studyLine/2, r)
	}
	return f
}

// interval draws one line.
func (c *chart) interval(y draw.Px, r *StudyRow) {
	c.Words("e", draw.Point{X: c.X - 10*pixel, Y: y + 4*pixel}, clip(r.Setting, 50))
	tip := fmt.Sprintf("%s: %s ± %s over %s", r.Setting, studyNumber(r.Here), studyNumber(r.CI95), grid.Count(r.Runs, "run"))
	if r.Said != "" {
		tip += "; paper: " + r.Said
	}
	if finite(r.Here) {
		if low, high := c.x(r.Here-r.CI95), c.x(r.Here+r.CI95); finite(r.CI95) && high > low {
			c.Line("l1", draw.Point{X: low, Y: y}, draw.Point{X: high, Y: y})
			for _, x := range []draw.Px{low, high} {
				c.Line("l1", draw.Point{X: x, Y: y - 4*pixel}, draw.Point{X: x, Y: y + 4*pixel})
			}
		}
		c.Dot("on", draw.Point{X: c.x(r.Here), Y: y}, 4*pixel, tip)
	}
	if r.Number && finite(r.Paper) {
		x, h := c.x(r.Paper), 5*pixel
		c.Area("paper", []draw.Point{{X: x, Y: y - h}, {X: x + h, Y: y}, {X: x, Y: y + h}, {X: x - h, Y: y}}, tip)
	}
	c.Words("m", draw.Point{X: c.X + c.W + 10*pixel, Y: y + 4*pixel}, clip(r.Verdict, 32))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// spanOf returns an axis that contains all rows, with a margin.
func spanOf(rows []*StudyRow) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	take := func(v float64) {
		if finite(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	for _, r := range rows {
		take(r.Here - r.CI95)
		take(r.Here + r.CI95)
		if r.Number {
			take(r.Paper)
		}
	}
	if low > high {
		return 0, 1
	}
	by := 0.06 * (high - low)
	if by == 0 {
		by = max(math.Abs(high)*0.1, 0.5)
	}
	return low - by, high + by
}
