package study

import (
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/studies/incentives"
)

// studyIncentives is our own experiment on users who look for the lie that pays.
func studyIncentives() experiment {
	return experiment{
		name: "incentives", about: "whether truth pays: users try lies about length, urgency, deadline, size and need, under three ways to sell (our own)",
		runs: 40, quick: 4,
		run: func(s *studying) ([]evidence.Row, error) {
			return incentives.Study(incentives.Options{Seed: s.seed, Runs: s.runs, Done: s.done})
		},
		finding: incentives.Finding,
	}
}
