package search

import "github.com/bourse-grid/bourse/policy/names"

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

// properties are all that the rest of the code asks of an algorithm.
type properties struct {
	// find looks for a window for q. It leaves the window in f.found and reports whether
	// there is one: it must find one if there is any within the price cap or the budget.
	find func(f *Finder, q *query, w Weights) bool
	// compose does so for a job of parts. nil: it has no windows for them.
	compose func(f *Finder, q *query, w Weights) bool
	// capsPrice: each node may cost at most the job's price cap. Otherwise all nodes
	// together may cost at most the job's budget.
	capsPrice bool
	// anyStart: a window need not have the earliest start. So a search cannot begin where
	// the last one for the job ended, or where bounds show the first room.
	anyStart bool
	// weighs: what it looks for depends on Weights.
	weighs bool
	// cheapHours: where prices change over time, every second pass over a batch looks for the
	// cheapest window instead.
	cheapHours bool
	// passes bounds its passes over a batch; 0: until a pass finds nothing.
	passes int
}

// algorithms is the table of them. A new one is a constant and a line here, with its rule in
// a file of its own.
var algorithms = names.Table[Algorithm, properties]{Kind: "algorithm", Lines: []names.Line[properties]{
	AMP: {Name: "amp", Means: "earliest start within the job's budget, with the cheapest parts",
		Is: properties{find: earliestWhole, compose: (*Finder).earliestComposed, cheapHours: true}},
	ALP: {Name: "alp", Means: "earliest start at which every slot is within the price cap",
		Is: properties{find: earliestFirst, compose: (*Finder).earliestComposed, capsPrice: true}},
	AMPLiteral: {Name: "amp-literal", Means: "amp as printed in the paper",
		Is: properties{find: earliestFirst, cheapHours: true}},
	Best: {Name: "best", Means: "any start: windows good in time, in cost, and in between",
		Is: properties{find: (*Finder).findBest, compose: (*Finder).bestComposed, anyStart: true, weighs: true, passes: bestPasses}},
}}

// String is the name that ParseAlgorithm reads.
func (a Algorithm) String() string { return algorithms.Name(a) }

// CapsPrice reports whether a limits the price of each node of a window to the job's price
// cap. The other algorithms limit the total cost of the nodes to the job's budget.
func (a Algorithm) CapsPrice() bool { return algorithms.Is(a).capsPrice }

// Weighs reports whether a looks for what Weights say. The other algorithms ignore them.
func (a Algorithm) Weighs() bool { return algorithms.Is(a).weighs }

func (a Algorithm) anyStart() bool { return algorithms.Is(a).anyStart }

// Composes reports whether a searches for jobs of parts.
func (a Algorithm) Composes() bool { return algorithms.Is(a).compose != nil }

// Composing returns the names of the algorithms that Composes holds for.
func Composing() []string {
	return algorithms.With(func(p *properties) bool { return p.compose != nil })
}

// ParseAlgorithm reads the name of an algorithm.
func ParseAlgorithm(s string) (Algorithm, error) { return algorithms.Parse(s) }

// UnmarshalText reads the name of an algorithm, for configuration files.
func (a *Algorithm) UnmarshalText(b []byte) (err error) {
	*a, err = ParseAlgorithm(string(b))
	return err
}

// Each returns all algorithms, in the order of the table. Tests draw one of them, so that a new
// one is in their worlds at once.
func Each() []Algorithm {
	list := make([]Algorithm, len(algorithms.Lines))
	for a := range list {
		list[a] = Algorithm(a)
	}
	return list
}

// Algorithms returns the algorithms with what they do.
func Algorithms() []names.Policy { return algorithms.Policies() }

// Weighing returns the names of the algorithms that Weighs holds for.
func Weighing() []string { return algorithms.With(func(p *properties) bool { return p.weighs }) }
