package report

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
)

// Where a site's prices change over time the figure of loads shows what it asks, beside
// what was paid.

// tariff reports whether the prices of a site change over time.
func (s *site) tariff() bool {
	return slices.ContainsFunc(s.groups, func(g group) bool { return g.Curve != nil })
}

// tariffs reports whether those of any site do.
func (r *Report) tariffs() bool { return slices.ContainsFunc(r.sites, (*site).tariff) }

// asked is the mean base price of a node-hour of a site's nodes over each of n equal
// steps of time.
func (s *site) asked(n int, until grid.Time) []float64 {
	out := make([]float64, n)
	nodes := 0
	for i := range s.groups {
		nodes += s.groups[i].Nodes
	}
	for k := range out {
		from, to := grid.Time(int64(until)*int64(k)/int64(n)), grid.Time(int64(until)*int64(k+1)/int64(n))
		for i := range s.groups {
			g := &s.groups[i]
			weighed := grid.CostOver(grid.Price(1000*grid.Hour), g.Curve, from, to) // thousandths of milliseconds
			out[k] += g.Price.Float() * ratio(float64(weighed)/1000, float64(to.Sub(from))) * float64(g.Nodes) / float64(nodes)
		}
	}
	return out
}

// highestAsked is the highest base price of any site whose prices change over time.
func (r *Report) highestAsked() float64 {
	most := 0.0
	for _, s := range r.sites {
		if s.tariff() {
			most = max(most, slices.Max(s.asked(steps, r.until)))
		}
	}
	return most
}

// askedInk is the class of the line.
const askedInk = "j j5"

// askedLegend names the line, if there is one.
func (r *Report) askedLegend(d *draw.Drawing, x, y draw.Px) {
	d.Line(askedInk, draw.Point{X: x, Y: y - 4*pixel}, draw.Point{X: x + 30*pixel, Y: y - 4*pixel})
	d.Words("", draw.Point{X: x + 38*pixel, Y: y}, "base price asked")
}

// askedRows adds a column to the data of a load.
func (s *site) askedRows(rows [][]string, until grid.Time) [][]string {
	for k, v := range s.asked(len(rows), until) {
		rows[k] = append(rows[k], fmt.Sprintf("%.6f", v))
	}
	return rows
}

// curveOf reads the curve of a group from a summary; invalid ones have already been
// refused.
func curveOf(text string) *grid.PriceCurve {
	c, _ := grid.ParsePriceCurve(text)
	return c
}
