package study

import (
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// studyParts is our own experiment on jobs of unlike parts.
func studyParts() experiment {
	return experiment{
		name: "parts", about: "how long a scarce node idles in one window and in parts at offsets, and what co-allocation does to local users (our own)",
		runs: 40, quick: 3,
		run: func(s *studying) ([]evidence.Row, error) {
			return studies.Parts(studies.PartsOptions{Seed: s.seed, Runs: s.runs, Done: s.done})
		},
		finding: studies.PartsFinding,
	}
}
