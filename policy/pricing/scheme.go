package pricing

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
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

// String returns the name that ParseScheme reads.
func (s Scheme) String() string {
	if s == Fixed {
		return "fixed"
	}
	return "adaptive"
}

// Base returns the cost of n nodes for d at price p, n x p x d, rounded half up once; at
// most MaxCredits.
func Base(p grid.Price, n int, d grid.Duration) grid.Credits {
	return grid.Cost(p, nodeTime(n, d))
}

// nodeTime returns n x d in node-milliseconds, at most the largest Duration.
func nodeTime(n int, d grid.Duration) grid.Duration {
	hi, lo := bits.Mul64(uint64(n), uint64(d))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return grid.Duration(lo)
}
