// Package facts is what agents record: one type for each kind of fact. A restart
// replays them, reports are drawn from them, and the invariants are checked on them.
//
// A fact holds values of package grid and nothing that is worked out from them. Its
// JSON is the journal's format, so a field keeps its name and its meaning for ever.
package facts

import "slices"

// Facts lists a zero fact of every kind that can be read back from a journal. Each file of
// facts opens with its part of the list.
func Facts() []Fact {
	return slices.Concat(clusterFacts, siteFacts, legFacts, brokerFacts, cycleFacts, arrayFacts, tenancyFacts, imageFacts)
}
