package study

import (
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/studies/shared"
)

// studyShared is our own experiment on nodes that are sold in parts.
func studyShared() experiment {
	return experiment{
		name: "shared-nodes", about: "what it is worth to sell parts of nodes: waits, and how much of what is held is sold (our own)",
		runs: 40, quick: 4,
		run: func(s *studying) ([]evidence.Row, error) {
			return shared.Study(shared.Options{Seed: s.seed, Runs: s.runs, Done: s.done})
		},
		finding: shared.Finding,
	}
}
