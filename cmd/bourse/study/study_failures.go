package study

import (
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/studies/failures"
)

// studyFailures is our own experiment on nodes that fail under co-allocated jobs.
func studyFailures() experiment {
	return experiment{
		name: "failures", about: "what co-allocation pays for reliability: nodes fail under jobs on one site and on two at once (our own)",
		runs: 100, quick: 5,
		run: func(s *studying) ([]evidence.Row, error) {
			return failures.Study(failures.Options{Seed: s.seed, Runs: s.runs, Done: s.done})
		},
		finding: failures.Finding,
	}
}
