package pricing

import (
	"math"
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
)

// Scheme says what a reservation pays beyond its base.
type Scheme uint8

const (
	// Adaptive charges the delay that the reservation causes in the queue.
	Adaptive Scheme = iota
	// Fixed charges nothing beyond the base.
	Fixed
)

type schemeIs struct {
	delay bool // a reservation pays for the delay that it causes, so the queue is planned
}

// schemes is the table of them.
var schemes = names.Table[Scheme, schemeIs]{Kind: "pricing", Lines: []names.Line[schemeIs]{
	Adaptive: {Name: "adaptive", Means: "a reservation also pays for the delay that it causes in the queue", Is: schemeIs{delay: true}},
	Fixed:    {Name: "fixed", Means: "a reservation pays its base alone"},
}}

// ParseScheme reads the name of a scheme.
func ParseScheme(s string) (Scheme, error) { return schemes.Parse(s) }

// String returns the name that ParseScheme reads.
func (s Scheme) String() string { return schemes.Name(s) }

// ByDelay reports whether a reservation pays for the delay that it causes in the queue.
func (s Scheme) ByDelay() bool { return schemes.Is(s).delay }

// Schemes returns the schemes with what they do.
func Schemes() []names.Policy { return schemes.Policies() }

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
