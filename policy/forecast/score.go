package forecast

import (
	"math"
	"slices"
)

// Draws are the waits of a job in the draws of a forecast: seconds, in order, +Inf where it
// does not start. There is at least one.
type Draws []float64

// soon is added to waits before they are compared by their ratio, in seconds: so close to 0 a
// ratio says nothing.
const soon = 60

// At is the quantile at x from 0 to 1: linear between the draws, the i-th of n at (i-1)/(n-1).
func (d Draws) At(x float64) float64 {
	at := x * float64(len(d)-1)
	i := min(max(int(at), 0), len(d)-1)
	part := at - float64(i)
	if i == len(d)-1 || part <= 0 {
		return d[i]
	}
	if math.IsInf(d[i+1], 1) {
		return d[i+1]
	}
	return d[i] + part*(d[i+1]-d[i])
}

// Score says where a true wait lies in the draws: 0 to 1 within them, below 0 or above 1
// outside, by the logarithm of how far. Of equal draws it is the middle.
func (d Draws) Score(wait float64) float64 {
	first, last := d[0], d[len(d)-1]
	switch {
	case wait < first:
		return math.Log((wait + soon) / (first + soon))
	case wait > last:
		return 1 + math.Log((wait+soon)/(last+soon))
	case len(d) == 1:
		return .5
	}
	steps := float64(len(d) - 1)
	i, tied := slices.BinarySearch(d, wait)
	if tied {
		k := i
		for k+1 < len(d) && d[k+1] == wait {
			k++
		}
		return float64(i+k) / 2 / steps
	}
	return (float64(i-1) + (wait-d[i-1])/(d[i]-d[i-1])) / steps
}

// Inverse is the wait with a score, never below 0.
func (d Draws) Inverse(z float64) float64 {
	switch {
	case z < 0:
		return max(0, (d[0]+soon)*math.Exp(z)-soon)
	case z > 1:
		return (d[len(d)-1]+soon)*math.Exp(z-1) - soon
	}
	return d.At(z)
}

// Class is how far ahead a forecast looks.
type Class int

// Far is the class of forecasts too far ahead for a band.
const Far = Class(len(farther))

// farther are the upper bounds of the classes by the median of the draws, in seconds.
var farther = [...]float64{15 * 60, 3600, 4 * 3600, 12 * 3600, 48 * 3600}

// classWords name the classes.
var classWords = [...]string{"0-15min", "15min-1h", "1h-4h", "4h-12h", "12h-2d", "far"}

// String returns the word of tables and files.
func (c Class) String() string { return classWords[c] }

// Class returns the class of the draws.
func (d Draws) Class() Class {
	i, _ := slices.BinarySearch(farther[:], d.At(.5))
	return Class(i)
}
