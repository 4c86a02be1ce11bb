// Package weeks gives figures of a log their intervals over its weeks. It knows neither jobs nor
// runs.
//
// The jobs of a week share its crowds, so they are no independent draws. The weeks are: a figure
// is a ratio of sums over weeks, with the variance of a ratio estimator (Cochran, Sampling
// Techniques, 1977, section 6.4). If neighbouring weeks are alike, there are fewer independent
// ones than weeks, by the factor of a first-order autoregression.
package weeks

import (
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse/grid"
)

// Span is what a log is cut into, from its first submission on.
const Span = 7 * grid.Day

// Least is how many weeks with jobs an interval needs.
const Least = 8

// Sum is what the jobs of one week add to a figure, the ratio of the sum of Amount to that of
// Weight. It is written as an array of the two.
type Sum struct{ Amount, Weight float64 }

// MarshalJSON writes the array.
func (s Sum) MarshalJSON() ([]byte, error) { return json.Marshal([2]float64{s.Amount, s.Weight}) }

// UnmarshalJSON reads the array.
func (s *Sum) UnmarshalJSON(text []byte) error {
	var pair [2]float64
	err := json.Unmarshal(text, &pair)
	s.Amount, s.Weight = pair[0], pair[1]
	return err
}

// Sums are those of one figure of one run, week by week. A week without jobs has no weight.
type Sums []Sum

// Interval is the 95 % interval of a figure over weeks.
type Interval struct {
	CI95  float64 `json:"ci95"`  // half of its width
	Weeks int     `json:"weeks"` // with jobs, Least or more
	Lag   float64 `json:"lag"`   // autocorrelation of neighbouring weeks, -1..1
}

// Mean is the interval of a figure's mean over runs with the same log, nil if too few weeks have
// jobs, or if a run has no sums, as those of earlier versions.
func Mean(runs []Sums) *Interval {
	if !summed(runs) {
		return nil
	}
	var r residuals
	r.take(runs, 1)
	return r.interval()
}

// Difference is the interval of the second mean less the first. Both are of the same log; it is
// nil where that of either mean is.
func Difference(first, second []Sums) *Interval {
	if !summed(first) || !summed(second) {
		return nil
	}
	var r residuals
	r.take(first, -1)
	r.take(second, 1)
	return r.interval()
}

// summed reports whether all runs have sums. One without would count as a run whose weeks are all
// alike.
func summed(runs []Sums) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(s Sums) bool { return len(s) == 0 })
}

// residuals are what each week has more than its share of a figure.
type residuals struct {
	of   []float64
	jobs []bool // whether the week has any
}

// take adds the mean over runs, with a sign.
func (r *residuals) take(runs []Sums, sign float64) {
	for _, run := range runs {
		amount, weight := 0.0, 0.0
		for _, s := range run {
			amount, weight = amount+s.Amount, weight+s.Weight
		}
		for week, s := range run {
			if week == len(r.of) {
				r.of, r.jobs = append(r.of, 0), append(r.jobs, false)
			}
			if s.Weight > 0 {
				r.of[week] += sign * (s.Amount - amount/weight*s.Weight) / weight / float64(len(runs))
				r.jobs[week] = true
			}
		}
	}
}

func (r *residuals) interval() *Interval {
	var of []float64
	for week, e := range r.of {
		if r.jobs[week] {
			of = append(of, e)
		}
	}
	if len(of) < Least {
		return nil
	}
	half, lag := Half(of, 1)
	return &Interval{CI95: half, Weeks: len(of), Lag: lag}
}

// Half is half of the interval's width and the autocorrelation: e are the residuals of the weeks
// with jobs, in order of time, and n is the sum of their weights. The half is 0 below Least weeks.
func Half(e []float64, n float64) (half, lag float64) {
	squares, neighbours := 0.0, 0.0
	for i := range e {
		if squares += e[i] * e[i]; i > 0 {
			neighbours += e[i-1] * e[i]
		}
	}
	if squares > 0 {
		lag = neighbours / squares
	}
	if len(e) < Least {
		return 0, lag
	}
	k := float64(len(e))
	half = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: k - 1}.Quantile(.975) * math.Sqrt(k/(k-1)*squares) / n
	if lag > 0 {
		half *= math.Sqrt((1 + lag) / (1 - lag))
	}
	return half, lag
}
