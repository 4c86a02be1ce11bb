package report

import (
	"math"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/report/draw"
)

// Surfaces are measures over two parameters, each drawn as lines with intervals and as a map.
type Surfaces struct {
	Title  string
	X, Y   string   // the parameters
	Xs, Ys []string // their values, in words
	List   []Surface
}

// Surface is one measure: its mean, and the half-width of its 95 % interval, for each value
// of Y and of X. What is no number is not drawn.
type Surface struct {
	Measure string
	Mean    [][]float64
	CI95    [][]float64
}

const (
	surfaceHeight = 300 * pixel // of one measure, with its words
	shades        = 7
)

// surfaceSheet has the shades of a map too, from the least to the most.
var surfaceSheet = func() draw.Sheet {
	s := slices.Clone(sheet)
	for i, colour := range [shades]string{"#eff5fb", "#d3e4f3", "#aecde8", "#7fb1da", "#4f93c9", "#2676b3", "#0b559f"} {
		on := "#111111"
		if i > 3 {
			on = "#ffffff"
		}
		class := strconv.Itoa(i)
		s = append(s, draw.Ink{Class: "heat" + class, Fill: draw.Flat(colour)}, draw.Ink{Class: "onheat" + class, Fill: draw.Flat(on)})
	}
	return s
}()

// Drawing draws them below each other: X runs to the right, and there is a line, or a row of
// the map, for each value of Y.
func (s *Surfaces) Drawing() *draw.Drawing {
	d := draw.New(pageWidth, 50*pixel+surfaceHeight*draw.Px(len(s.List)), s.Title, surfaceSheet)
	d.Box("bg", draw.Box{W: d.Width, H: d.Height}, "")
	d.Words("t", draw.Point{X: 20 * pixel, Y: 30 * pixel}, s.Title)
	for i := range s.List {
		top := 50*pixel + surfaceHeight*draw.Px(i)
		half := pageWidth / 2
		d.Words("s", draw.Point{X: 20 * pixel, Y: top + 14*pixel}, s.List[i].Measure)
		s.lines(d, &s.List[i], draw.Box{X: 70 * pixel, Y: top + 34*pixel, W: half - 190*pixel, H: surfaceHeight - 90*pixel})
		s.heat(d, &s.List[i], draw.Box{X: half + 90*pixel, Y: top + 34*pixel, W: half - 120*pixel, H: surfaceHeight - 90*pixel})
	}
	return d
}

// lines draws a line for each value of Y, with its name at its end and bars for intervals.
func (s *Surfaces) lines(d *draw.Drawing, f *Surface, box draw.Box) {
	var rows []*StudyRow
	for y := range s.Ys {
		for x := range s.Xs {
			rows = append(rows, &StudyRow{Here: f.Mean[y][x], CI95: f.CI95[y][x]})
		}
	}
	c := chart{Drawing: d, Box: box, left: -0.3, right: float64(len(s.Xs)) - 0.7}
	c.low, c.high = spanOf(rows)
	d.Box("band", c.Box, "")
	c.levels(int(c.H/(36*pixel)), "")
	for x, word := range s.Xs {
		d.Words("m c", draw.Point{X: c.x(float64(x)), Y: c.Y + c.H + 15*pixel}, word)
	}
	d.Words("m c", draw.Point{X: c.X + c.W/2, Y: c.Y + c.H + 33*pixel}, s.X)
	d.Words("m", draw.Point{X: c.X + c.W + 8*pixel, Y: c.Y - 7*pixel}, s.Y)
	var names []draw.Px // where the names stand so far
	for y, word := range s.Ys {
		class := "ax j" + strconv.Itoa(y%colours)
		var line []draw.Point
		for x := range s.Xs {
			mean, half := f.Mean[y][x], f.CI95[y][x]
			if !finite(mean) {
				continue
			}
			// Lines lie a little apart, so that their bars do.
			at := c.at(float64(x)+0.04*(float64(y)-float64(len(s.Ys)-1)/2), mean)
			line = append(line, at)
			if finite(half) && half > 0 {
				d.Line(class, draw.Point{X: at.X, Y: c.y(mean - half)}, draw.Point{X: at.X, Y: c.y(mean + half)})
			}
			d.Dot("k"+strconv.Itoa(y%colours), at, 3*pixel, word+", "+s.Xs[x]+": "+WithInterval("%.*f", mean, half))
		}
		if len(line) == 0 {
			continue
		}
		d.Line(class, line...)
		end := line[len(line)-1].Y + 4*pixel
		for slices.ContainsFunc(names, func(v draw.Px) bool { return end-v < 13*pixel && v-end < 13*pixel }) {
			end += pixel
		}
		names = append(names, end)
		d.Words("m", draw.Point{X: c.X + c.W + 8*pixel, Y: end}, word)
	}
}

// cellNumber is a mean in four digits or, from a thousand on, as a whole number: never as a
// power of ten.
func cellNumber(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// heat draws a cell for each combination, the darker the more, with its mean.
func (s *Surfaces) heat(d *draw.Drawing, f *Surface, box draw.Box) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range f.Mean {
		for _, v := range row {
			if finite(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	w, h := box.W/draw.Px(len(s.Xs)), box.H/draw.Px(len(s.Ys))
	for y, name := range s.Ys {
		d.Words("m e", draw.Point{X: box.X - 6*pixel, Y: box.Y + h*draw.Px(y) + h/2 + 4*pixel}, name)
		for x := range s.Xs {
			v := f.Mean[y][x]
			if !finite(v) {
				continue
			}
			shade := 0
			if high > low {
				shade = min(int((v-low)/(high-low)*shades), shades-1)
			}
			class := "heat" + strconv.Itoa(shade)
			cell := draw.Box{X: box.X + w*draw.Px(x), Y: box.Y + h*draw.Px(y), W: w, H: h}
			d.Box(class, cell, s.Xs[x]+", "+name+": "+WithInterval("%.*f", v, f.CI95[y][x]))
			if w >= 40*pixel && h >= 12*pixel {
				d.Words("m c on"+class, draw.Point{X: cell.X + w/2, Y: cell.Y + h/2 + 4*pixel}, cellNumber(v))
			}
		}
	}
	for x, word := range s.Xs {
		d.Words("m c", draw.Point{X: box.X + w*draw.Px(x) + w/2, Y: box.Y + box.H + 15*pixel}, word)
	}
	d.Words("m c", draw.Point{X: box.X + box.W/2, Y: box.Y + box.H + 33*pixel}, s.X)
	d.Words("m e", draw.Point{X: box.X - 6*pixel, Y: box.Y - 7*pixel}, s.Y)
}
