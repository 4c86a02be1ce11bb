package studies

import "math"

// estimate is a figure with the half-width of its 95 % interval, 0 for one unit.
type estimate struct {
	mean, half float64
	units      int // independent values that the interval is over
}

// sample is a figure and the values from which it was computed. The mean and the interval
// of its values are those of the figure, so that a reader can recompute both. The values of
// a ratio of means are its linear approximation, unit by unit; its numerators and
// denominators are kept too.
type sample struct {
	estimate
	values  []float64
	of, per []float64 // a ratio's
}

// average is the mean of independent values.
func average(values []float64) sample {
	mean, half := interval(values)
	return sample{estimate: estimate{mean, half, len(values)}.tidied(), values: values}
}

// difference is the mean of a[i] - b[i], of units that drew the same numbers.
func difference(a, b []float64) sample { return average(minus(a, b)) }

// minus is a - b, unit by unit.
func minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// quotient is the ratio of the means of a and b, and its interval by the usual linear
// approximation.
func quotient(a, b []float64) sample {
	s := sample{of: a, per: b}
	s.units = len(a)
	if len(a) == 0 {
		return s
	}
	ma, _ := interval(a)
	mb, _ := interval(b)
	s.mean = ma / mb
	d := make([]float64, len(a))
	s.values = make([]float64, len(a))
	for i := range a {
		d[i] = (a[i] - s.mean*b[i]) / mb
		s.values[i] = s.mean + d[i]
	}
	_, s.half = interval(d)
	return s
}

// times and plus change the figure together with its values. Numerators and denominators
// stay as they were.
func (s sample) times(k float64) sample {
	s.mean, s.half = s.mean*k, math.Abs(s.half*k)
	s.values = each(s.values, func(v float64) float64 { return v * k })
	s.estimate = s.tidied()
	return s
}

func (s sample) plus(d float64) sample {
	s.mean += d
	s.values = each(s.values, func(v float64) float64 { return v + d })
	s.estimate = s.tidied()
	return s
}

func each(values []float64, do func(float64) float64) []float64 {
	list := make([]float64, len(values))
	for i, v := range values {
		list[i] = do(v)
	}
	return list
}

// smallest is the least figure distinguished from 0. Anything below is rounding error in a
// difference of equal values.
const smallest = 1e-9

// tidy replaces a figure smaller than that by 0.
func tidy(v float64) float64 {
	if math.Abs(v) < smallest {
		return 0
	}
	return v
}

// tidied returns the estimate without the rounding errors of differences of equal values.
func (e estimate) tidied() estimate { return estimate{tidy(e.mean), tidy(e.half), e.units} }
