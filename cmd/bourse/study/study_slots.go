package study

import (
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/studies/slots"
)

// studySlots is the experiment of Toporkov and others.
func studySlots() experiment {
	return experiment{
		name: "slot-search", about: "ALP, AMP and selection under a VO's limits (Toporkov and others)",
		runs: 8, quick: 1,
		run: func(s *studying) ([]evidence.Row, error) {
			return slots.Run(slots.Options{Seed: s.seed, Runs: s.runs, Done: s.done})
		},
	}
}
