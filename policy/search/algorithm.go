package search

import "fmt"

// Algorithm says how to look for a window.
type Algorithm uint8

const (
	// AMP takes the earliest start at which N parts cost no more than the
	// budget S, and there the cheapest parts.
	AMP Algorithm = iota
	// ALP takes the earliest start at which N slots cost no more than the price
	// cap C each.
	ALP
	// AMPLiteral is AMP as printed. It stops within a group of equal starts, so its windows
	// are not always the cheapest at their start. It is kept for the paper's experiment. It
	// looks at a slot with a count as a whole.
	AMPLiteral
	// Best is not bound to the earliest start: see Weights.
	Best
)

var algorithmNames = [...]string{AMP: "amp", ALP: "alp", AMPLiteral: "amp-literal", Best: "best"}

func (a Algorithm) String() string { return algorithmNames[a] }

// CapsPrice reports whether a limits the price of each node of a window to the job's price
// cap. The other algorithms limit the total cost of the nodes to the job's budget.
func (a Algorithm) CapsPrice() bool { return a == ALP }

// ParseAlgorithm reads "alp", "amp", "amp-literal" or "best".
func ParseAlgorithm(s string) (Algorithm, error) {
	for a, name := range algorithmNames {
		if s == name {
			return Algorithm(a), nil
		}
	}
	return 0, fmt.Errorf("algorithm %q is unknown; choose alp, amp, amp-literal or best", s)
}
