package study

import (
	"errors"

	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/choosing"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// quickJobs is how many jobs of a log the quick form of the study replays.
const quickJobs = 4000

// studyChoosing is our own experiment on jobs that choose their queue.
func studyChoosing() experiment {
	return experiment{
		name: "choosing", about: "in which of several queues a job starts first: by chance, length, limits or forecast (our own)",
		traces: "SDSC SP2, CTC SP2, KTH SP2, any of them", runs: 1, quick: 1,
		run: func(s *studying) ([]evidence.Row, error) {
			s.known = true // one log in another's place would be replayed on so many other processors
			list, err := s.forecastTraces(bandTraces)
			if err != nil {
				return nil, err
			}
			opt := choosing.Options{Seed: s.seed, Runs: s.runs, Machines: []int{2, 4}, Draws: forecastDraws, Done: s.done}
			var traces []choosing.Trace
			for _, t := range list {
				if s.quick {
					t.Jobs = t.Jobs[:min(len(t.Jobs), quickJobs)]
				}
				traces = append(traces, choosing.Trace{Name: t.Name, Nodes: t.Nodes, Jobs: t.Jobs})
			}
			if s.quick {
				opt.Draws = 20
			}
			rows, err := choosing.Study(traces, opt)
			var over *simulation.OverloadError
			if errors.As(err, &over) {
				return nil, failure.Of(err)
			}
			return rows, err
		},
		finding: choosing.Finding,
	}
}
