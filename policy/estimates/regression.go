package estimates

import (
	"math/bits"

	"github.com/bourse-grid/bourse"
)

// The regression is recursive least squares: a ridge regression that is brought up to
// date with each run. It fits the logarithm of the run, which spreads over five orders
// of magnitude. It begins with the user's request and moves away from it as runs say.
//
// Logarithms are piecewise linear between powers of two, and each product is rounded
// before it is added, so that no machine's own functions or fused instructions show.

// features are how many things are known of a job: that it is one, its request, its
// nodes, whether its user is known, the user's last two runs, and the time of day.
const features = 8

// requested is the place of the request among them.
const requested = 1

// prior is how much is thought possible, before the first run, of a weight's square.
const prior = 1.0

type vector [features]float64

// fit is a linear fit of the octaves of runs.
type fit struct {
	runs    int64
	weights vector
	spread  [features]vector // the inverse of the sum of the products of features
}

func newFit() (f fit) {
	f.weights[requested] = 1
	for i := range f.spread {
		f.spread[i][i] = prior
	}
	return f
}

// predict is the run that is to be expected.
func (f *fit) predict(x vector) bourse.Duration { return bourse.Duration(length(f.weights.dot(&x))) }

// learn brings the fit up to a run of so many octaves.
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

// features of a job as it stands with its user's runs so far.
func (p *Predictor) features(j *bourse.LocalJob, limit bourse.Duration) (x vector) {
	x[0], x[requested], x[2] = 1, octaves(int64(limit)), octaves(int64(max(j.Nodes, 1)))
	x[4], x[5] = x[requested], x[requested]
	if last, known := p.users[j.User]; known {
		x[3], x[4], x[5] = 1, octaves(int64(last.Last)), octaves(int64(last.Last))
		if last.Before > 0 {
			x[5] = octaves(int64(last.Before))
		}
	}
	x[6], x[7] = wave(j.Submit), wave(j.Submit+bourse.Time(6*bourse.Hour))
	return x
}

// wave rises over twelve hours from 0 to 1 and falls over the other twelve.
func wave(t bourse.Time) float64 {
	day := int64(bourse.Day)
	at := (int64(t)%day + day) % day
	return float64(min(at, day-at)) / float64(day/2)
}

// octaves is the logarithm to base 2 of a number from 1 on, linear between powers of two.
func octaves(n int64) float64 {
	k := bits.Len64(uint64(n)) - 1
	return float64(k) + float64(n-1<<k)/float64(int64(1)<<k)
}

// length is the number that has so many octaves, rounded down; at most MaxDuration.
func length(octaves float64) int64 {
	if octaves <= 0 {
		return 1
	}
	k := int64(octaves)
	if !(octaves < 50) {
		return int64(bourse.MaxDuration)
	}
	return int64(float64(1+float64(octaves-float64(k))) * float64(int64(1)<<k))
}
