package report

import (
	"fmt"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
)

// bins is how many columns the distribution of prices has at most.
const bins = 30

// pricePlot draws the distribution of the unit prices of all committed legs.
func (r *Report) pricePlot(v shared) Plot {
	d := draw.New(560*pixel, 330*pixel, r.Summary.Scenario+": distribution of prices", sheet)
	d.Box("bg", draw.Box{W: d.Width, H: d.Height}, "")
	width, plain, dearer := r.prices(v, bins)
	n, most := len(plain), 0
	for k := range n {
		most = max(most, plain[k]+dearer[k])
	}
	c := chart{Drawing: d, Box: draw.Box{X: 64 * pixel, Y: 54 * pixel, W: 480 * pixel, H: 220 * pixel},
		right: width * float64(n), high: above(float64(max(most, 1)))}
	c.ground("credits per node-hour", "legs")
	d.Box("vf", draw.Box{X: 64 * pixel, Y: 10 * pixel, W: 22 * pixel, H: 11 * pixel}, "")
	d.Words("", draw.Point{X: 92 * pixel, Y: 20 * pixel}, "at base price")
	d.Box("vb", draw.Box{X: 190 * pixel, Y: 10 * pixel, W: 22 * pixel, H: 11 * pixel}, "")
	d.Words("", draw.Point{X: 218 * pixel, Y: 20 * pixel}, "and more, for delaying local jobs")
	f := Plot{Name: "prices", Title: "Prices paid", Drawing: d, Head: []string{"from credits/node-hour", "to credits/node-hour", "legs at base price", "legs above it"},
		About: "How many legs were bought at which price per node-hour."}
	for k := range n {
		from, to := float64(k)*width, float64(k+1)*width
		f.Rows = append(f.Rows, []string{number(from), number(to), strconv.Itoa(plain[k]), strconv.Itoa(dearer[k])})
		tip := fmt.Sprintf("%s to %s credits per node-hour: %s at base price, %d above it", number(from), number(to), grid.Count(plain[k], "leg"), dearer[k])
		column := func(class string, low, high int) {
			if high > low {
				y := c.y(float64(high))
				d.Box(class, draw.Box{X: c.x(from) + 50, Y: y, W: c.x(to) - c.x(from) - 100, H: c.y(float64(low)) - y}, tip)
			}
		}
		column("vf", 0, plain[k])
		column("vb", plain[k], plain[k]+dearer[k])
	}
	return f
}

// prices counts the committed legs by unit price, in at most about that many columns of
// equal width: those at base price, and those above it.
func (r *Report) prices(v shared, columns float64) (width float64, plain, dearer []int) {
	width = above(max(v.price, 1e-6) / columns)
	n := int(v.price/width) + 1
	plain, dearer = make([]int, n), make([]int, n)
	for _, b := range r.brokers {
		for _, tx := range b.placed {
			for k := range tx.Legs {
				l := &tx.Legs[k]
				if bin := min(int(unitPrice(l)/width), n-1); l.Fare.Additive > 0 {
					dearer[bin]++
				} else {
					plain[bin]++
				}
			}
		}
	}
	return width, plain, dearer
}
