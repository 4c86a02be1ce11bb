package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
)

// Plot is a picture of a report with the data behind it.
type Plot struct {
	Name    string // of its files, without an ending
	Title   string
	About   string // what it shows, and in which units
	Drawing *draw.Drawing
	Head    []string   // of the data: names with their units
	Rows    [][]string // all that is drawn
}

// WriteCSV writes the data behind the figure.
func (f *Plot) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(f.Head); err != nil {
		return err
	}
	return out.WriteAll(f.Rows)
}

// pngScale is how many pixels of a PNG make up one of a figure: 150 to 200 per inch on
// paper.
const pngScale = 2

// Write writes the figure itself, as "svg" or "png".
func (f *Plot) Write(w io.Writer, format string) error {
	switch format {
	case "svg":
		return f.Drawing.WriteSVG(w)
	case "png":
		return f.Drawing.WritePNG(w, pngScale)
	}
	return fmt.Errorf("format %q: must be svg or png", format)
}

// shared is what the figures of two runs shown side by side have in common: the ends of the
// ruler and of the axes.
type shared struct {
	until grid.Time
	price float64 // credits a node-hour
}

// Plots draws all figures of a run that has kept its jobs.
func (r *Report) Plots() ([]Plot, error) { return r.plots(r.alone(), ganttOptions{tried: true}) }

// alone returns the shared values of a run shown by itself.
func (r *Report) alone() shared { return shared{until: r.until, price: r.highestPrice()} }

func (r *Report) plots(v shared, o ganttOptions) ([]Plot, error) {
	o.until = v.until
	gantt, err := r.gantt(o)
	if err != nil {
		return nil, err
	}
	list := []Plot{{Name: "gantt", Title: "What ran where", Drawing: gantt,
		About: "Nodes of each group over time. A window on several groups has one colour, and a thin line joins its parts.",
		Head:  ganttHead, Rows: r.ganttRows()}}
	list = append(list, r.loadPlot(v))
	if len(r.brokers) > 0 {
		list = append(list, r.pricePlot(v))
	}
	for _, b := range r.brokers {
		for i := range b.detail.batches {
			list = append(list, b.frontPlot(&b.detail.batches[i]))
		}
	}
	return list, nil
}

var ganttHead = []string{"site", "group", "kind", "broker", "job", "window", "nodes", "start s", "end s", "how"}

// ganttRows returns the bars of the picture: what ran, and what was held but never ran.
func (r *Report) ganttRows() [][]string {
	var rows [][]string
	bands := r.bands(false)
	r.addTried(bands)
	for i := range bands {
		b := &bands[i]
		for k := range b.bars {
			rows = append(rows, r.ganttRow(b, &b.bars[k]))
		}
		for k := range b.mixed {
			rows = append(rows, r.ganttRow(b, &b.mixed[k]))
		}
		for k := range b.held {
			rows = append(rows, r.ganttRow(b, &b.held[k]))
		}
	}
	return rows
}

func (r *Report) ganttRow(b *band, one *bar) []string {
	row := []string{r.sites[b.site].name, b.name, "local", "", strconv.FormatInt(one.job, 10), "", strconv.Itoa(one.nodes),
		one.start.String(), one.end.String(), one.class}
	if one.vo {
		row[2], row[3], row[4], row[5], row[9] = "vo", one.broker, one.tx.name(), strconv.Itoa(one.colour+1), status(&one.tx.Legs[one.leg], r.until)
	}
	if one.tried {
		row[5], row[9] = "", "held"
	}
	return row
}

// chart is a plot of numbers over numbers.
type chart struct {
	*draw.Drawing
	draw.Box
	left, right float64 // of the x axis
	low, high   float64 // of the y axis
}

func (c *chart) x(v float64) draw.Px {
	return c.X + draw.Px(math.Round((v-c.left)/(c.right-c.left)*float64(c.W)))
}

func (c *chart) y(v float64) draw.Px {
	return c.Y + c.H - draw.Px(math.Round((v-c.low)/(c.high-c.low)*float64(c.H)))
}

func (c *chart) at(x, y float64) draw.Point { return draw.Point{X: c.x(x), Y: c.y(y)} }

// ground draws the plot's ground and both axes with their ticks and names.
func (c *chart) ground(xName, yName string) {
	c.Drawing.Box("band", c.Box, "")
	for _, v := range ticks(c.left, c.right, int(c.W/(80*pixel))) {
		c.Line("g", draw.Point{X: c.x(v), Y: c.Y}, draw.Point{X: c.x(v), Y: c.Y + c.H})
		c.Words("m c", draw.Point{X: c.x(v), Y: c.Y + c.H + 15*pixel}, number(v))
	}
	c.Words("m c", draw.Point{X: c.X + c.W/2, Y: c.Y + c.H + 33*pixel}, xName)
	c.levels(int(c.H/(36*pixel)), yName)
}

// levels draws the y axis.
func (c *chart) levels(most int, name string) {
	for _, v := range ticks(c.low, c.high, max(most, 1)) {
		c.Line("g", draw.Point{X: c.X, Y: c.y(v)}, draw.Point{X: c.X + c.W, Y: c.y(v)})
		c.Words("m e", draw.Point{X: c.X - 6*pixel, Y: c.y(v) + 4*pixel}, number(v))
	}
	c.Words("m", draw.Point{X: c.X - 44*pixel, Y: c.Y - 7*pixel}, name)
}

// ticks returns round numbers from low to high, about most of them.
func ticks(low, high float64, most int) []float64 {
	if !(high > low) || math.IsInf(high-low, 0) {
		return []float64{low}
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(max(most, 1)))))
	for _, by := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*by) <= float64(max(most, 1)) {
			step *= by
			break
		}
	}
	var list []float64
	for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9 && len(list) < 1000; k++ {
		list = append(list, k*step)
	}
	return list
}

// number formats a number of an axis with six digits, without the noise of binary
// fractions.
func number(v float64) string {
	if v == 0 {
		return "0" // not -0
	}
	return strconv.FormatFloat(math.Round(v*1e9)/1e9, 'g', 6, 64)
}

// above returns a round number not below v, for the end of an axis.
func above(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(v)))
	for _, by := range []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10} {
		if step*by >= v {
			return step * by
		}
	}
	return step * 10
}
