package pricing

import (
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// MaxUrgency bounds the surcharge for full urgency, in thousandths of the base: ten times
// the base.
const MaxUrgency = 10_000

// Share returns what n tasks cost on time-shared nodes at price p. Each is estimated to
// need d of its node by a deadline that is left away; n, d and left must be above 0.
//
//	C = base x share-hours x (1 + u x urgency)
//
// A task reserves the share d / left of a node for the time left, which makes d again: that
// is the base. Its urgency is the share, at most 1. At urgency 1 it adds u, in thousandths
// of the base, 0..MaxUrgency. So a user who wants a node alone pays 1 + u/1000 times the
// base, and a user who can wait pays little more than the base. The additive part is
// rounded up to the node-millisecond, then each part half up; each is at most MaxCredits.
func Share(p grid.Price, n int, d, left grid.Duration, u int) grid.Fare {
	urgent := min(d, left)
	hi, lo := bits.Mul64(uint64(d), uint64(urgent)*uint64(u))
	q := uint64(math.MaxInt64)
	if by := uint64(left) * 1000; hi < by {
		var rest uint64
		if q, rest = bits.Div64(hi, lo, by); rest > 0 {
			q++
		}
	}
	additive := grid.Duration(min(q, math.MaxInt64))
	return grid.Fare{Base: Base(p, n, d), Additive: grid.Cost(p, nodeTime(n, additive))}
}
