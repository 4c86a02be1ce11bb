package workload

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// arrivals draws the submit times of the Lublin model. A gap is a number of points, seconds
// at the mean rate. Each half hour pays off points according to its weight, so quiet hours
// stretch the gap.
type arrivals struct {
	gap     distuv.Gamma // ln of the gap
	factor  float64      // on every gap
	weights [buckets]float64
	bucket  int     // half hours since the first midnight
	paid    float64 // of the bucket's points
}

func newArrivals(src rand.Source, factor float64) *arrivals {
	return &arrivals{gap: distuv.Gamma{Alpha: aarr, Beta: 1 / barr, Src: src}, factor: factor, weights: dayWeights()}
}

// next returns the next submission in seconds since the first midnight, not earlier than
// the previous one. A value above 10^10 is outside the calendar.
func (a *arrivals) next() float64 {
	g := a.gap.Rand()
	for g > maxGap {
		g = a.gap.Rand()
	}
	a.paid += math.Exp(g) * a.factor / bucketSeconds
	if days := math.Floor(a.paid / buckets); days >= 1 { // the weights of a day add up to its buckets
		if !(days*86400 <= float64(maxSeconds)) {
			return math.Inf(1)
		}
		a.bucket += int(days) * buckets
		a.paid -= days * buckets
	}
	for a.paid > a.weights[a.bucket%buckets] {
		a.paid -= a.weights[a.bucket%buckets]
		a.bucket++
	}
	return (float64(a.bucket) + a.paid/a.weights[a.bucket%buckets]) * bucketSeconds
}

// dayWeights are the rates of the 48 half hours from midnight on, with mean 1:
// the gamma distribution of anum and bnum over the buckets 11 to 58, counted
// from 1 and taken round the clock. So the day begins at 5 h, the quietest hour,
// and is busiest at 13 h.
func dayWeights() (w [buckets]float64) {
	g := distuv.Gamma{Alpha: anum, Beta: 1 / bnum}
	sum := 0.0
	for i := dayStart; i < dayStart+buckets; i++ {
		p := g.CDF(float64(i)+0.5) - g.CDF(float64(i)-0.5)
		w[(i-1)%buckets] = p
		sum += p
	}
	for i := range w {
		w[i] *= buckets / sum
	}
	return w
}
