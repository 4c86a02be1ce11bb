package report

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
)

// mostPriceBins is about how many bins the distribution of prices has on a page.
const mostPriceBins = 12

// waitBins end the bins of waits; the last has no end.
var waitBins = []grid.Duration{grid.Minute, 10 * grid.Minute, grid.Hour, 4 * grid.Hour, 12 * grid.Hour, grid.Day, 3 * grid.Day, 7 * grid.Day}

// shares are the distributions of waits and of prices.
func (r *Report) shares(v shared) []view.Share {
	list := []view.Share{r.waits()}
	if len(r.brokers) == 0 {
		return list
	}
	width, plain, dearer := r.prices(v, mostPriceBins)
	s := view.Share{Title: "Prices paid", About: "How many legs were bought at which price per node-hour.", Bin: "credits per node-hour",
		Series: []view.Series{{Name: "at base price", Counts: plain}, {Name: "and more, for delaying local jobs", Counts: dearer}}}
	for k := range plain {
		s.Bins = append(s.Bins, fmt.Sprintf("%s to %s", number(float64(k)*width), number(float64(k+1)*width)))
	}
	return append(list, s)
}

// waits are those of the local jobs that started and of the VOs' jobs that were placed.
func (r *Report) waits() view.Share {
	s := view.Share{Title: "Waits", About: "From submit to start, of the local jobs that started and of the VOs' jobs that have a window.", Bin: "wait"}
	before := "0"
	for _, end := range waitBins {
		words := edge(end)
		s.Bins = append(s.Bins, before+" to "+words)
		before = words
	}
	s.Bins = append(s.Bins, "more than "+before)
	var local, vo []grid.Duration
	for _, one := range r.sites {
		for i := range one.rows {
			if j := &one.rows[i]; j.start < grid.Never {
				local = append(local, j.start.Sub(j.submit))
			}
		}
	}
	for _, b := range r.brokers {
		for _, j := range b.order {
			if len(j.window) > 0 {
				start, _ := j.window.span()
				vo = append(vo, start.Sub(j.Submit))
			}
		}
	}
	s.Series = append(s.Series, waitSeries("local jobs", local))
	if len(r.brokers) > 0 {
		s.Series = append(s.Series, waitSeries("jobs of VOs", vo))
	}
	return s
}

// edge is the end of a bin of waits.
func edge(d grid.Duration) string {
	switch {
	case d < grid.Hour:
		return fmt.Sprintf("%d min", d/grid.Minute)
	case d < grid.Day:
		return fmt.Sprintf("%d h", d/grid.Hour)
	}
	return fmt.Sprintf("%d d", d/grid.Day)
}

// waitSeries counts waits by their bins, and says their median and their ninth decile.
func waitSeries(name string, list []grid.Duration) view.Series {
	s := view.Series{Name: name, Counts: make([]int, len(waitBins)+1)}
	if len(list) == 0 {
		return s
	}
	slices.Sort(list)
	for _, d := range list {
		k, _ := slices.BinarySearchFunc(waitBins, d, func(end, d grid.Duration) int {
			if end <= d {
				return -1
			}
			return 1
		})
		s.Counts[k]++
	}
	s.Note = fmt.Sprintf("half wait %s at most, nine of ten %s", span(list[(len(list)-1)/2]), span(list[(len(list)*9+9)/10-1]))
	return s
}
