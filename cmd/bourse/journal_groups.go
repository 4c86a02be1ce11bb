package main

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
)

// ofGroups keeps one journal of each replicated broker: the one with the most facts.
func ofGroups(list []journalSource) ([]journalSource, error) {
	most := map[agents.ID]int{} // facts
	best := map[agents.ID]journalSource{}
	groups := map[journalSource]agents.ID{}
	for _, s := range list {
		owner, err := s.owner()
		if err != nil {
			return nil, err
		}
		group := journal.Within(owner)
		if group == owner || s.file {
			continue
		}
		groups[s] = group
		n := 1
		if _, err := s.read(func(journal.Record) error { n++; return nil }); err != nil {
			return nil, err
		}
		if n > most[group] {
			most[group], best[group] = n, s
		}
	}
	return slices.DeleteFunc(list, func(s journalSource) bool { return groups[s] != "" && best[groups[s]] != s }), nil
}
