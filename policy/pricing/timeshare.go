package pricing

import (
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse"
)

// MaxUrgency bounds what full urgency adds to a price: ten times the base, in
// thousandths.
const MaxUrgency = 10_000

// Share is what n tasks cost on time-shared nodes at price p, each estimated to
// need d of its node by a deadline that is left away; n, d and left are above 0.
//
//	C = base x share-hours x (1 + u x urgency)
//
// The share of a node that a task reserves, d / left, times the time for which it
// does so, is d again: that is the base. Its urgency is the share itself, at most
// 1. What it adds at 1 is u, in thousandths of the base, 0..MaxUrgency: who wants
// a node alone pays 1 + u/1000 times the base, who can wait pays little more
// than it. The additive part is rounded up to the node-millisecond, then each
// part half up once; what does not fit is MaxCredits.
func Share(p bourse.Price, n int, d, left bourse.Duration, u int) bourse.Fare {
	urgent := min(d, left)
	hi, lo := bits.Mul64(uint64(d), uint64(urgent)*uint64(u))
	q := uint64(math.MaxInt64)
	if by := uint64(left) * 1000; hi < by {
		var rest uint64
		if q, rest = bits.Div64(hi, lo, by); rest > 0 {
			q++
		}
	}
	additive := bourse.Duration(min(q, math.MaxInt64))
	return bourse.Fare{Base: Base(p, n, d), Additive: bourse.Cost(p, nodeTime(n, additive))}
}
