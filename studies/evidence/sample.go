package evidence

import "math"

// Estimate is a figure with the half-width of its 95 % interval, 0 for one unit.
type Estimate struct {
	Mean, Half float64
	Units      int // independent values that the interval is over
}

// Sample is a figure and the values from which it was computed. The mean and the interval
// of its values are those of the figure, so that a reader can recompute both. The values of
// a ratio of means are its linear approximation, unit by unit; its numerators and
// denominators are kept too.
type Sample struct {
	Estimate
	Values  []float64
	of, per []float64 // a ratio's
}

// Average is the mean of independent values.
func Average(values []float64) Sample {
	mean, half := Interval(values)
	return Sample{Estimate: Estimate{mean, half, len(values)}.tidied(), Values: values}
}

// Difference is the mean of a[i] - b[i], of units that drew the same numbers.
func Difference(a, b []float64) Sample { return Average(Minus(a, b)) }

// Minus is a - b, unit by unit.
func Minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// Quotient is the ratio of the means of a and b, and its interval by the usual linear
// approximation.
func Quotient(a, b []float64) Sample {
	s := Sample{of: a, per: b}
	s.Units = len(a)
	if len(a) == 0 {
		return s
	}
	ma, _ := Interval(a)
	mb, _ := Interval(b)
	s.Mean = ma / mb
	d := make([]float64, len(a))
	s.Values = make([]float64, len(a))
	for i := range a {
		d[i] = (a[i] - s.Mean*b[i]) / mb
		s.Values[i] = s.Mean + d[i]
	}
	_, s.Half = Interval(d)
	return s
}

// Times multiplies the figure and its values by k. Numerators and denominators stay as they
// were, as they do for Plus.
func (s Sample) Times(k float64) Sample {
	s.Mean, s.Half = s.Mean*k, math.Abs(s.Half*k)
	s.Values = each(s.Values, func(v float64) float64 { return v * k })
	s.Estimate = s.tidied()
	return s
}

// Plus adds d to the figure and to its values.
func (s Sample) Plus(d float64) Sample {
	s.Mean += d
	s.Values = each(s.Values, func(v float64) float64 { return v + d })
	s.Estimate = s.tidied()
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
func (e Estimate) tidied() Estimate { return Estimate{tidy(e.Mean), tidy(e.Half), e.Units} }
