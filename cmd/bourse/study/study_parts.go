package study

import (
	"errors"

	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/studies/parts"
)

// studyParts is our own experiment on jobs of unlike parts.
func studyParts() experiment {
	return experiment{
		name: "parts", about: "how long a scarce node idles in one window and in parts at offsets, and what co-allocation does to local users, drawn or of a log (our own)",
		traces: "SDSC SP2, CTC SP2, KTH SP2, any of them", runs: 40, quick: 3,
		run: func(s *studying) ([]evidence.Row, error) {
			opt := parts.Options{Seed: s.seed, Runs: s.runs, LogsRuns: (s.runs + 9) / 10, Done: s.done}
			if len(s.traces) > 0 {
				s.known = true // one log in another's place would have so many other processors
				list, err := s.forecastTraces(bandTraces)
				if err != nil {
					return nil, err
				}
				for _, t := range list {
					if s.quick {
						t.Jobs = t.Jobs[:min(len(t.Jobs), quickJobs)]
					}
					opt.Logs = append(opt.Logs, parts.Log{Name: t.Name, Nodes: t.Nodes, Jobs: t.Jobs})
				}
			}
			rows, err := parts.Study(opt)
			var over *simulation.OverloadError
			if errors.As(err, &over) {
				return nil, failure.Of(err)
			}
			return rows, err
		},
		finding: parts.Finding,
	}
}
