package estimates

import (
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// The regression is recursive least squares: a ridge regression that is updated with each
// run. It fits the logarithm of run times, because they spread over five orders of
// magnitude. It begins at the user's request and moves away from it with the runs.
//
// Logarithms are piecewise linear between powers of two, and each product is rounded
// before it is added. So the result does not depend on a machine's own functions or fused
// instructions.

// features is how many numbers describe a job: the constant 1, its request, its nodes,
// whether its user is known, the user's last two runs, and two for the time of day.
const features = 8

// requested is the index of the request among them.
const requested = 1

// prior is the variance of a weight before the first run.
const prior = 1.0

type vector [features]float64

// fit is a linear fit of the octaves of run times.
type fit struct {
	runs    int64
	weights vector
	spread  [features]vector // the inverse of the sum of the outer products of features, with 1/prior on the diagonal
}

func newFit() (f fit) {
	f.weights[requested] = 1
	for i := range f.spread {
		f.spread[i][i] = prior
	}
	return f
}

// predict returns the expected run time.
func (f *fit) predict(x vector) grid.Duration { return grid.Duration(length(f.weights.dot(&x))) }

// learn updates the fit with a run time of y octaves.
func (f *fit) learn(x vector, y float64) {
	var gain vector
	for i := range gain {
		gain[i] = f.spread[i].dot(&x)
	}
	scale := float64(1 + gain.dot(&x))
	off := float64(y - f.weights.dot(&x))
	before := gain
	for i := range gain {
		gain[i] = float64(gain[i] / scale)
		f.weights[i] += float64(gain[i] * off)
	}
	for i := range f.spread {
		for j := range f.spread[i] {
			f.spread[i][j] -= float64(gain[i] * before[j])
		}
	}
	f.runs++
}

func (v *vector) dot(w *vector) (sum float64) {
	for i := range v {
		sum += float64(v[i] * w[i])
	}
	return sum
}

// features describes a job, with its user's runs so far.
func (p *Predictor) features(j *grid.LocalJob, limit grid.Duration) (x vector) {
	x[0], x[requested], x[2] = 1, octaves(int64(limit)), octaves(int64(max(j.Nodes, 1)))
	x[4], x[5] = x[requested], x[requested]
	if last, known := p.users[j.User]; known {
		x[3], x[4], x[5] = 1, octaves(int64(last.Last)), octaves(int64(last.Last))
		if last.Before > 0 {
			x[5] = octaves(int64(last.Before))
		}
	}
	x[6], x[7] = wave(j.Submit), wave(j.Submit+grid.Time(6*grid.Hour))
	return x
}

// wave rises over twelve hours from 0 to 1 and falls over the other twelve.
func wave(t grid.Time) float64 {
	day := int64(grid.Day)
	at := (int64(t)%day + day) % day
	return float64(min(at, day-at)) / float64(day/2)
}

// octaves is the logarithm to base 2 of n, at least 1; it is linear between powers of two.
func octaves(n int64) float64 {
	k := bits.Len64(uint64(n)) - 1
	return float64(k) + float64(n-1<<k)/float64(int64(1)<<k)
}

// length is the inverse of octaves, rounded down; at most MaxDuration.
func length(octaves float64) int64 {
	if octaves <= 0 {
		return 1
	}
	k := int64(octaves)
	if !(octaves < 50) {
		return int64(grid.MaxDuration)
	}
	return int64(float64(1+float64(octaves-float64(k))) * float64(int64(1)<<k))
}
