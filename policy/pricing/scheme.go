package pricing

import (
	"fmt"
	"math"
	"math/bits"

	"bourse"
)

// Scheme says what a reservation pays beyond its base.
type Scheme uint8

const (
	// Adaptive charges the delay that the reservation causes in the queue.
	Adaptive Scheme = iota
	// Fixed charges nothing beyond the base.
	Fixed
)

// ParseScheme reads "adaptive" or "fixed".
func ParseScheme(s string) (Scheme, error) {
	switch s {
	case "adaptive":
		return Adaptive, nil
	case "fixed":
		return Fixed, nil
	}
	return 0, fmt.Errorf("pricing %q is unknown; write fixed or adaptive", s)
}

// String is the name that ParseScheme reads.
func (s Scheme) String() string {
	if s == Fixed {
		return "fixed"
	}
	return "adaptive"
}

// Base is the cost of n nodes for d at price p, n x p x d, rounded half up
// once; MaxCredits where it does not fit.
func Base(p bourse.Price, n int, d bourse.Duration) bourse.Credits {
	return bourse.Cost(p, nodeTime(n, d))
}

// Fare is what a reservation of n nodes for d with additive part f costs.
func Fare(p bourse.Price, n int, d, f bourse.Duration) bourse.Fare {
	return bourse.Fare{Base: Base(p, n, d), Additive: bourse.Cost(p, f)}
}

// BestEffort is what a job of n nodes that ran for d pays in a queue whose rate
// is so many thousandths of the base price. The product of price and rate is
// rounded half up to the micro-credit per node-hour first.
func BestEffort(p bourse.Price, rate int64, n int, d bourse.Duration) bourse.Credits {
	hi, lo := bits.Mul64(uint64(p), uint64(rate))
	lo, carry := bits.Add64(lo, 500, 0)
	if hi += carry; hi >= 1000 {
		return bourse.MaxCredits
	}
	q, _ := bits.Div64(hi, lo, 1000)
	if q > math.MaxInt64 {
		return bourse.MaxCredits
	}
	return Base(bourse.Price(q), n, d)
}

// Rho is f / (n x d): the additive part as a multiple of the base, for reports.
// A queue at double rate has rho 1 (section 4 of the paper).
func Rho(f bourse.Duration, n int, d bourse.Duration) float64 {
	return float64(f) / (float64(n) * float64(d))
}

// nodeTime is n x d in node-milliseconds, at most the largest Duration.
func nodeTime(n int, d bourse.Duration) bourse.Duration {
	hi, lo := bits.Mul64(uint64(n), uint64(d))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return bourse.Duration(lo)
}
