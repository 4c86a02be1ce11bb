package study

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/studies/balance"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// studyBalance is our own experiment on how prices affect the balance of load.
func studyBalance() experiment {
	return experiment{
		name: "load-balancing", about: "sites of unequal load: strategies, prices, users who choose (our own)",
		traces: "logs of machines, one for each site", runs: 40, quick: 6,
		run: func(s *studying) ([]evidence.Row, error) {
			traces, err := s.machines()
			if err != nil {
				return nil, err
			}
			rows, err := balance.Run(balance.Options{Seed: s.seed, Runs: s.runs, Traces: traces, Done: s.done})
			return rows, failure.Of(err)
		},
		finding: balance.Finding,
	}
}

// machines reads the given logs. Their headers give the sizes of the machines.
func (s *studying) machines() ([]balance.Trace, error) {
	if len(s.traces) == 0 {
		s.say("no --trace given: drawing jobs from the model of Lublin and Feitelson")
	}
	var list []balance.Trace
	for _, file := range s.traces {
		trace, err := workload.Open(file, workload.Options{})
		if err != nil {
			return nil, err
		}
		if early := stragglers(trace); early > 0 {
			s.say("%s: left out the first %d records, which are more than a week before the others", file, early)
			if trace, err = workload.Open(file, workload.Options{Skip: early}); err != nil {
				return nil, err
			}
		}
		for _, remark := range trace.Remarks() {
			s.say("%s", remark)
		}
		nodes := trace.Header.Processors()
		if nodes == 0 {
			return nil, fmt.Errorf("%s: its header has no MaxProcs, the size of the machine", file)
		}
		list = append(list, balance.Trace{Trace: trace, Nodes: nodes})
	}
	return list, nil
}

// stragglers is how many of the first ten records are more than a week before the next.
func stragglers(t *workload.Trace) int {
	for i := min(10, len(t.Records)-1); i > 0; i-- {
		if t.Records[i].Submit().Sub(t.Records[i-1].Submit()) > 7*grid.Day {
			return i
		}
	}
	return 0
}
