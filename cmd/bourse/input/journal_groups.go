package input

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
)

// OfGroups keeps one journal of each replicated broker: the one with the most facts.
func OfGroups(list []Journal) ([]Journal, error) {
	most := map[agents.ID]int{} // facts
	best := map[agents.ID]Journal{}
	groups := map[Journal]agents.ID{}
	for _, s := range list {
		owner, err := s.Owner()
		if err != nil {
			return nil, err
		}
		group := journal.Within(owner)
		if group == owner || s.File {
			continue
		}
		groups[s] = group
		n := 1
		if _, err := s.Read(func(journal.Record) error { n++; return nil }); err != nil {
			return nil, err
		}
		if n > most[group] {
			most[group], best[group] = n, s
		}
	}
	return slices.DeleteFunc(list, func(s Journal) bool { return groups[s] != "" && best[groups[s]] != s }), nil
}
