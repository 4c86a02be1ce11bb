package study

import (
	"errors"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// studyForecast is our own experiment on forecasts of a job's start.
func studyForecast() experiment {
	return experiment{
		name: "forecast", about: "forecasts of a job's start, by limits and by history, against the real start (our own)",
		traces: "SDSC SP2, then CTC SP2", runs: 20, quick: 10,
		run: func(s *studying) ([]evidence.Row, error) {
			traces, err := s.forecastTraces(pricedTraces)
			if err != nil {
				return nil, err
			}
			opt := studies.ForecastOptions{Seed: s.seed, Runs: s.runs, Sample: 100, Draws: 100, Done: s.done}
			if s.quick {
				opt.Sample, opt.Draws = 20, 50
			}
			rows, err := studies.Forecast(traces, opt)
			var over *simulation.OverloadError
			if errors.As(err, &over) {
				return nil, failure.Of(err)
			}
			return rows, err
		},
		finding: studies.ForecastFinding,
	}
}

// studyForecastBands is our own experiment on what the bands of forecasts hold.
func studyForecastBands() experiment {
	return experiment{
		name: "forecast-bands", about: "what share of the starts the bands of forecasts hold, and how narrow they are (our own)",
		traces: "SDSC SP2, then CTC SP2, then KTH SP2", runs: 20, quick: 5,
		run: func(s *studying) ([]evidence.Row, error) {
			traces, err := s.forecastTraces(bandTraces)
			if err != nil {
				return nil, err
			}
			opt := studies.BandsOptions{Seed: s.seed, Runs: s.runs, Waiting: 4000, Draws: forecastDraws, Done: s.done}
			if s.quick {
				opt.Waiting, opt.Draws = 400, 50
			}
			rows, err := studies.ForecastBands(traces, opt)
			var over *simulation.OverloadError
			if errors.As(err, &over) {
				return nil, failure.Of(err)
			}
			return rows, err
		},
		finding: studies.ForecastBandsFinding,
	}
}

// bandTraces are those of estimatedTraces that are of one machine.
var bandTraces = estimatedTraces[:3]

// forecastSpan is how much of a model stands in for a trace.
const forecastSpan = 120 * grid.Day

// forecastTraces reads the given traces whole. If none is given, it draws one from a
// model.
func (s *studying) forecastTraces(takes []archived) (list []studies.ForecastTrace, err error) {
	if len(s.traces) == 0 {
		const nodes = 128
		s.say("no --trace given: drawing %s of jobs from the model of Lublin and Feitelson; it has no users", forecastSpan.Words())
		jobs, err := workload.Lublin{Nodes: nodes, Load: 0.8, Seed: simulation.SeedOf(s.seed, "forecast")}.Until(forecastSpan)
		return []studies.ForecastTrace{{Name: "generated", Nodes: nodes, Jobs: jobs}}, err
	}
	logs, err := s.logs(takes)
	for _, l := range logs {
		jobs, _ := l.trace.Jobs(workload.JobOptions{})
		list = append(list, studies.ForecastTrace{Name: l.name, Nodes: l.nodes, Jobs: jobs})
	}
	return list, err
}
