package main

import (
	"errors"

	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/workload"
)

// estimatedTraces are the logs of the study on estimates, in order.
var estimatedTraces = []archived{
	{"SP2", "SDSC SP2", 128, 0, 0},
	{"CTC", "CTC SP2", 430, 3, 0},
	{"KTH", "KTH SP2", 100, 0, 0},
	// The busiest of the grid's sites; nobody has logged how large it was. On so many
	// processors what it ran is nine tenths of what could be.
	{"LCG", "LCG", 400, 0, 40},
}

// studyEstimates is our own experiment on what jobs are planned by.
func studyEstimates() experiment {
	return experiment{
		name: "estimates", about: "waits, deadlines and prices by requests, last runs, a regression (our own)",
		traces: "SDSC SP2, CTC SP2, KTH SP2, then LCG", runs: 10, quick: 2,
		run: func(s *studying) ([]studies.Row, error) {
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
				return nil, failed(err)
			}
			return rows, err
		},
		finding: studies.EstimatesFinding,
	}
}

// estimatedTraces reads the traces that are given, whole; without any it draws one from
// a model, whose users nobody knows.
func (s *studying) estimatedTraces() (list []studies.EstimatesTrace, err error) {
	if len(s.traces) == 0 {
		const nodes = 128
		s.say("no --trace is given: %s of jobs are drawn from the model of Lublin and Feitelson; nobody knows its users, so that last-two is request", forecastSpan.Words())
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
