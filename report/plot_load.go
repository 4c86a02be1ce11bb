package report

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/report/draw"
)

// mostPanels bounds how many sites have panels in the figure of loads.
const mostPanels = 40

// Heights of the two panels of a site.
const (
	usePanel   = 80 * pixel
	pricePanel = 60 * pixel
)

// load is the state of a site over equal steps of time: means over each step.
type load struct {
	local, vo  []float64 // nodes
	paid, base []float64 // credits a node-hour, of the legs that ran; 0 where none did
}

// load walks over the bars of a site's band.
func (b *band) load(n int, until grid.Time) load {
	l := load{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	all := slices.Concat(b.bars, b.mixed)
	spread(l.local, all, until, func(one *bar) float64 { return one.used() - one.usedByVO() })
	spread(l.vo, all, until, (*bar).usedByVO)
	spread(l.paid, all, until, func(one *bar) float64 { return one.rate(grid.Fare.Total) })
	spread(l.base, all, until, func(one *bar) float64 { return one.rate(func(f grid.Fare) grid.Credits { return f.Base }) })
	for k := range l.vo {
		if l.vo[k] < 1e-9 {
			l.paid[k], l.base[k] = 0, 0
			continue
		}
		l.paid[k] /= l.vo[k]
		l.base[k] /= l.vo[k]
	}
	return l
}

// rate returns what a leg costs per hour, 0 for a local job.
func (b *bar) rate(of func(grid.Fare) grid.Credits) float64 {
	if !b.vo {
		return 0
	}
	l := &b.tx.Legs[b.leg]
	if hours := l.What.End.Sub(l.What.Start).Hours(); hours > 0 {
		return of(l.Fare).Float() / hours
	}
	return 0
}

// unitPrice returns what a leg costs per node-hour.
func unitPrice(l *history.Leg) float64 {
	hours := NodeHours(l.What)
	if hours <= 0 {
		return 0
	}
	return l.Fare.Total().Float() / hours
}

// highestPrice returns the highest unit price of all committed legs, and of asked prices
// that change over time.
func (r *Report) highestPrice() float64 {
	most := r.highestAsked()
	for _, b := range r.brokers {
		for _, tx := range b.placed {
			for k := range tx.Legs {
				most = max(most, unitPrice(&tx.Legs[k]))
			}
		}
	}
	return most
}

var loadHead = []string{"site", "from s", "to s", "nodes", "local nodes", "VO nodes", "price credits/node-hour", "base price credits/node-hour"}

// loadPlot draws the use and the price of each site over one ruler.
func (r *Report) loadPlot(v shared) Plot {
	bands := r.bands(true)
	shown := bands[:min(len(bands), mostPanels)]
	each := 26*pixel + usePanel + 26*pixel + pricePanel
	if len(r.brokers) == 0 {
		each = 26*pixel + usePanel
	}
	top := 46 * pixel
	d := draw.New(pageWidth, top+each*draw.Px(len(shown))+30*pixel, r.Summary.Scenario+": use and price of each site", sheet)
	d.Box("bg", draw.Box{W: d.Width, H: d.Height}, "")
	r.loadLegend(d, len(bands))
	bottom := top + each*draw.Px(len(shown))
	f := Plot{Name: "load", Title: "Use and price of each site", Drawing: d, Head: loadHead,
		About: "Share of the nodes in use, by whom, and the mean price per node-hour of the VO legs that run, with its base part dashed: what lies between is paid for delaying local jobs."}
	asked := r.tariffs()
	if asked {
		f.Head = append(slices.Clip(f.Head), "base price asked credits/node-hour")
		f.About += " Where a site's prices change over time, what it asks is drawn too."
	}
	for i := range bands {
		s := r.sites[bands[i].site]
		l := bands[i].load(steps, v.until)
		rows := l.rows(s.name, bands[i].nodes, v.until)
		if asked {
			rows = s.askedRows(rows, v.until)
		}
		f.Rows = append(f.Rows, rows...)
		if i < len(shown) {
			r.loadPanels(d, &bands[i], &l, top+each*draw.Px(i), v)
		}
	}
	ruler(d, v.until, top, bottom+4*pixel, true)
	return f
}

func (r *Report) loadLegend(d *draw.Drawing, sites int) {
	y := 16 * pixel
	d.Box("lf", draw.Box{X: 20 * pixel, Y: y - 9*pixel, W: 22 * pixel, H: 11 * pixel}, "")
	d.Words("", draw.Point{X: 48 * pixel, Y: y}, "local jobs")
	d.Box("vf", draw.Box{X: 130 * pixel, Y: y - 9*pixel, W: 22 * pixel, H: 11 * pixel}, "")
	d.Words("", draw.Point{X: 158 * pixel, Y: y}, "VO legs")
	if len(r.brokers) > 0 {
		d.Line("l1", draw.Point{X: 230 * pixel, Y: y - 4*pixel}, draw.Point{X: 260 * pixel, Y: y - 4*pixel})
		d.Words("", draw.Point{X: 268 * pixel, Y: y}, "price paid")
		d.Line("l2", draw.Point{X: 350 * pixel, Y: y - 4*pixel}, draw.Point{X: 380 * pixel, Y: y - 4*pixel})
		d.Words("", draw.Point{X: 388 * pixel, Y: y}, "its base part")
	}
	next := 500 * pixel
	if len(r.brokers) > 0 && r.tariffs() {
		r.askedLegend(d, next, y)
		next += 170 * pixel
	}
	if sites > mostPanels {
		d.Words("m", draw.Point{X: next, Y: y}, fmt.Sprintf("the first %d of %s; the data have all", mostPanels, grid.Count(sites, "site")))
	}
}

// loadPanels draws the panels of one site.
func (r *Report) loadPanels(d *draw.Drawing, b *band, l *load, top draw.Px, v shared) {
	c := chart{Drawing: d, Box: draw.Box{X: plotLeft, Y: top + 22*pixel, W: plotWidth, H: usePanel}, right: 1, high: 100}
	name := r.sites[b.site].name
	d.Words("s", draw.Point{X: 20 * pixel, Y: c.Y + 16*pixel}, clip(name, 11))
	d.Words("m", draw.Point{X: 20 * pixel, Y: c.Y + 32*pixel}, grid.Count(b.nodes, "node"))
	d.Box("band", c.Box, "")
	c.levels(2, "% of nodes")
	both := make([]float64, len(l.vo))
	for k := range both {
		both[k] = l.vo[k] + l.local[k]
	}
	d.Open("z")
	d.Area("lf", stairs(both, b.nodes, c.Y, c.H), "")
	d.Area("vf", stairs(l.vo, b.nodes, c.Y, c.H), "")
	d.Close()
	if len(r.brokers) == 0 {
		return
	}
	c = chart{Drawing: d, Box: draw.Box{X: plotLeft, Y: c.Y + c.H + 26*pixel, W: plotWidth, H: pricePanel}, right: 1, high: above(v.price)}
	d.Box("band", c.Box, "")
	c.levels(2, "credits/node-hour")
	d.Open("z")
	if s := r.sites[b.site]; s.tariff() {
		c.levelLines(askedInk, s.asked(len(l.vo), v.until))
	}
	c.levelLines("l2", l.base)
	c.levelLines("l1", l.paid)
	d.Close()
}

// levelLines draws a step function where it is above 0.
func (c *chart) levelLines(class string, mean []float64) {
	var line []draw.Point
	for k := 0; k <= len(mean); k++ {
		if k == len(mean) || mean[k] <= 0 {
			if len(line) > 0 {
				c.Line(class, line...)
			}
			line = nil
			continue
		}
		y := c.y(min(mean[k], c.high))
		x := plotLeft + draw.Px(k)*pixel
		if n := len(line); n > 0 && line[n-1].Y == y {
			line[n-1].X = x + pixel
			continue
		}
		line = append(line, draw.Point{X: x, Y: y}, draw.Point{X: x + pixel, Y: y})
	}
}

// rows returns the data of a load.
func (l load) rows(site string, nodes int, until grid.Time) [][]string {
	n := len(l.vo)
	rows := make([][]string, n)
	for k := range rows {
		from, to := grid.Time(int64(until)*int64(k)/int64(n)), grid.Time(int64(until)*int64(k+1)/int64(n))
		rows[k] = []string{site, from.String(), to.String(), fmt.Sprint(nodes), fmt.Sprintf("%.3f", l.local[k]), fmt.Sprintf("%.3f", l.vo[k]), "", ""}
		if l.vo[k] >= 1e-9 {
			rows[k][6], rows[k][7] = fmt.Sprintf("%.6f", l.paid[k]), fmt.Sprintf("%.6f", l.base[k])
		}
	}
	return rows
}
