package study

import (
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// studyHoarding is our own experiment on bookings that are later given up.
func studyHoarding() experiment {
	return experiment{
		name: "hoarding", about: "what booking ahead and cancelling gains, who pays, what fee stops it (our own)",
		runs: 100, quick: 4,
		run: func(s *studying) ([]evidence.Row, error) {
			return studies.Hoarding(studies.HoardingOptions{Seed: s.seed, Runs: s.runs, Done: s.done})
		},
		finding: studies.HoardingFinding,
	}
}
