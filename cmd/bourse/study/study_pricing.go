package study

import (
	"errors"

	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// pricedTraces are the traces of the pricing paper, in its order.
var pricedTraces = []archived{
	{"SP2", "SDSC SP2", 128, 0, 0},
	{"CTC", "CTC SP2", 430, 3, 0},
}

// studyPricing is the experiment of Singh, Kesselman and Deelman.
func studyPricing() experiment {
	return experiment{
		name: "adaptive-pricing", about: "reservations that pay for the delay they cause (Singh, Kesselman, Deelman)",
		traces: "SDSC SP2, then CTC SP2", runs: 20, quick: 3,
		run: func(s *studying) ([]evidence.Row, error) {
			traces, err := s.pricedTraces()
			if err != nil {
				return nil, err
			}
			sample := 100
			if s.quick {
				sample = 20
			}
			rows, err := studies.AdaptivePricing(traces, studies.PricingOptions{Seed: s.seed, Runs: s.runs, By: s.blocks, Sample: sample, Done: s.done})
			var over *simulation.OverloadError
			if errors.As(err, &over) {
				return nil, failure.Of(err)
			}
			return rows, err
		},
	}
}

// pricedTraces reads the given traces, and says which rows are left out. If none is given,
// it draws one from a model.
func (s *studying) pricedTraces() ([]studies.PricingTrace, error) {
	if len(s.traces) == 0 {
		s.say("no --trace given: drawing jobs from the model of Lublin and Feitelson; the paper's figures are of SDSC SP2 and CTC SP2")
		generated, err := studies.GeneratedPricingTrace(s.seed)
		return []studies.PricingTrace{generated}, err
	}
	logs, err := s.logs(pricedTraces)
	var list []studies.PricingTrace
	for _, l := range logs {
		list = append(list, studies.NewPricingTrace(l.name, l.nodes, l.trace))
	}
	return list, err
}
