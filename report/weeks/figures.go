package weeks

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Figures add up figures of jobs by the week of their submission. What is added in whole numbers
// below 2^53 in all is exact, whatever the order. A nil pointer adds nothing.
type Figures struct {
	units  map[string]float64
	sums   map[string]Sums
	totals map[string]bool
}

// NewFigures returns Figures of which nothing is known yet. units are by name how much of what is
// added makes 1 of the figure; where it is missing 1 does.
func NewFigures(units map[string]float64) *Figures {
	return &Figures{units, map[string]Sums{}, map[string]bool{}}
}

// Mean adds to a figure that is a mean over jobs, or another ratio of amount to weight.
func (f *Figures) Mean(name string, at grid.Time, amount, weight float64) {
	if f == nil {
		return
	}
	s, week := f.sums[name], int(max(at, 0)/grid.Time(Span))
	if week >= len(s) {
		s = append(s, make(Sums, week+1-len(s))...)
		f.sums[name] = s
	}
	s[week].Amount += amount
	s[week].Weight += weight
}

// Total adds a job to a figure that is a total over all jobs, those of amount 0 too. Its interval
// is that of the mean over jobs, times their number.
func (f *Figures) Total(name string, at grid.Time, amount float64) {
	if f != nil {
		f.Mean(name, at, amount, 1)
		f.totals[name] = true
	}
}

// Merge adds the figures of other jobs.
func (f *Figures) Merge(o *Figures) {
	if f == nil || o == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(o.sums)) {
		for week, s := range o.sums[name] {
			f.Mean(name, grid.Time(week)*grid.Time(Span), s.Amount, s.Weight)
		}
	}
	maps.Copy(f.totals, o.totals)
}

// Sums are all figures by name. Of a total the weights are shares of all jobs, so that the ratio
// is the total.
func (f *Figures) Sums() map[string]Sums {
	if f == nil || len(f.sums) == 0 {
		return nil
	}
	out := map[string]Sums{}
	for name, s := range f.sums { // each for itself
		s, unit, all := slices.Clone(s), cmp.Or(f.units[name], 1), 1.0
		if f.totals[name] {
			all = 0
			for i := range s {
				all += s[i].Weight
			}
		}
		for i := range s {
			s[i] = Sum{s[i].Amount / unit, s[i].Weight / all}
		}
		out[name] = s
	}
	return out
}
