package study

import (
	"errors"

	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// estimatedTraces are the logs of the study on estimates, in order.
var estimatedTraces = []archived{
	{"SP2", "SDSC SP2", 128, 0, 0},
	{"CTC", "CTC SP2", 430, 3, 0},
	{"KTH", "KTH SP2", 100, 0, 0},
	// The busiest of the grid's sites, whose size is not in the log. On this many
	// processors its jobs make a load of nine tenths.
	{"LCG", "LCG", 400, 0, 40},
}

// studyEstimates is our own experiment on the run times that plans assume.
func studyEstimates() experiment {
	return experiment{
		name: "estimates", about: "waits, deadlines and prices when plans use requests, last runs or a regression (our own)",
		traces: "SDSC SP2, CTC SP2, KTH SP2, then LCG", runs: 10, quick: 2,
		run: func(s *studying) ([]evidence.Row, error) {
			traces, err := s.estimatedTraces()
			if err != nil {
				return nil, err
			}
			opt := studies.EstimatesOptions{Seed: s.seed, Runs: s.runs, Sample: 20, By: s.blocks, Done: s.done}
			if s.quick {
				opt.Sample = 5
			}
			rows, err := studies.Estimates(traces, opt)
			var over *simulation.OverloadError
			if errors.As(err, &over) {
				return nil, failure.Of(err)
			}
			return rows, err
		},
		finding: studies.EstimatesFinding,
	}
}

// estimatedTraces reads the given traces whole. If none is given, it draws one from a
// model, which has no users.
func (s *studying) estimatedTraces() (list []studies.EstimatesTrace, err error) {
	if len(s.traces) == 0 {
		const nodes = 128
		s.say("no --trace given: drawing %s of jobs from the model of Lublin and Feitelson; it has no users, so tsafrir and last-two equal request", forecastSpan.Words())
		jobs, err := workload.Lublin{Nodes: nodes, Load: 0.8, Seed: simulation.SeedOf(s.seed, "estimates")}.Until(forecastSpan)
		return []studies.EstimatesTrace{{Name: "generated", Nodes: nodes, Trace: workload.FromJobs(workload.Header{}, jobs)}}, err
	}
	logs, err := s.logs(estimatedTraces)
	for _, l := range logs {
		list = append(list, studies.EstimatesTrace{Name: l.name, Nodes: l.nodes, Trace: l.trace,
			Priced: l.name == "SP2" || l.name == "KTH", Long: l.name == "LCG"})
	}
	return list, err
}
