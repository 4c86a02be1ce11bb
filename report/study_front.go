package report

import (
	"fmt"
	"strconv"

	"github.com/bourse-grid/bourse/report/draw"
)

// StudyFront is two measures of a study against each other, a point for each
// setting. The less of both, the better.
type StudyFront struct {
	Title, About string
	X, Y         string // the measures, with their units
	Points       []StudyPoint
}

// StudyPoint is a setting: means, and the half-widths of their 95 % intervals.
type StudyPoint struct {
	Setting  string
	Words    string // what else the legend says of it, may be empty
	X, XHalf float64
	Y, YHalf float64
}

// beaten reports whether another point is no worse in both and better in one.
func (f *StudyFront) beaten(p *StudyPoint) bool {
	for i := range f.Points {
		if q := &f.Points[i]; q.X <= p.X && q.Y <= p.Y && (q.X < p.X || q.Y < p.Y) {
			return true
		}
	}
	return false
}

// plot draws the points with numbers, which a legend beside them explains.
func (f *StudyFront) plot(name string) Plot {
	c := f.chart()
	d := c.Drawing
	out := Plot{Name: name, Title: f.Title, About: f.About + " Bars are 95 % intervals; a point that no other beats in both means is blue and has a star in the legend.",
		Drawing: d, Head: []string{"setting", f.X, "ci95", f.Y, "ci95", "what"}}
	c.ground(f.X, f.Y)
	for i := range f.Points {
		p := &f.Points[i]
		at := c.at(p.X, p.Y)
		if p.XHalf > 0 {
			d.Line("ax", draw.Point{X: c.x(p.X - p.XHalf), Y: at.Y}, draw.Point{X: c.x(p.X + p.XHalf), Y: at.Y})
		}
		if p.YHalf > 0 {
			d.Line("ax", draw.Point{X: at.X, Y: c.y(p.Y - p.YHalf)}, draw.Point{X: at.X, Y: c.y(p.Y + p.YHalf)})
		}
	}
	for i := range f.Points {
		p := &f.Points[i]
		class, star, what := "on", " *", "front"
		if f.beaten(p) {
			class, star, what = "pt", "", "beaten"
		}
		out.Rows = append(out.Rows, []string{p.Setting, number(p.X), number(p.XHalf), number(p.Y), number(p.YHalf), what})
		at, mark := c.at(p.X, p.Y), strconv.Itoa(i+1)
		d.Dot(class, at, 4*pixel, fmt.Sprintf("%s: %s %s, %s %s %s", p.Setting, f.X, studyNumber(p.X), f.Y, studyNumber(p.Y), p.Words))
		d.Words("s q", draw.Point{X: at.X + 6*pixel, Y: at.Y - 5*pixel}, mark)
		line := draw.Point{X: c.X + c.W + 30*pixel, Y: c.Y + 12*pixel + studyLine*draw.Px(i)}
		d.Words("s e", line, mark)
		d.Words("", draw.Point{X: line.X + 10*pixel, Y: line.Y}, clip(p.Setting, 34)+star)
		d.Words("m e", draw.Point{X: pageWidth - 10*pixel, Y: line.Y}, p.Words)
	}
	return out
}

// chart is wide enough for all points and their intervals, and high enough for the
// legend.
func (f *StudyFront) chart() chart {
	legend := 360 * pixel
	h := max(320*pixel, studyLine*draw.Px(len(f.Points)))
	d := draw.New(pageWidth, h+84*pixel, f.Title, sheet)
	d.Box("bg", draw.Box{W: d.Width, H: d.Height}, "")
	c := chart{Drawing: d, Box: draw.Box{X: 70 * pixel, Y: 36 * pixel, W: pageWidth - 70*pixel - legend, H: h}}
	xs, ys := make([]*StudyRow, len(f.Points)), make([]*StudyRow, len(f.Points))
	for i, p := range f.Points {
		xs[i], ys[i] = &StudyRow{Here: p.X, CI95: p.XHalf}, &StudyRow{Here: p.Y, CI95: p.YHalf}
	}
	c.left, c.right = spanOf(xs)
	c.low, c.high = spanOf(ys)
	return c
}
