package study

import (
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// studyPlanning is our own experiment on a broker's goals.
func studyPlanning() experiment {
	return experiment{
		name: "planning", about: "what a VO loses by goal and strategy, paired with first alternatives (our own)",
		presets: true, runs: 20, quick: 2,
		run: func(s *studying) ([]evidence.Row, error) {
			if s.folder == "" {
				s.say("no --traces given: leaving out the presets three-traces and lcg (170 sites)")
			}
			return studies.Planning(studies.PlanningOptions{Seed: s.seed, Runs: s.runs, Traces: s.folder, Done: s.done})
		},
		finding: studies.PlanningFinding,
		fronts:  studies.PlanningFronts,
	}
}
