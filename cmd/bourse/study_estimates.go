package main

import (
	"errors"
	"fmt"

	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/workload"
)

// estimatedTraces are the logs of the study on estimates, in order.
var estimatedTraces = []struct {
	name, archive          string
	nodes, skip, partition int
	priced, long           bool
}{
	{"SP2", "SDSC SP2", 128, 0, 0, true, false},
	{"CTC", "CTC SP2", 430, 3, 0, false, false},
	{"KTH", "KTH SP2", 100, 0, 0, true, false},
	// The busiest of the grid's sites; nobody has logged how large it was. On so many
	// processors what it ran is nine tenths of what could be.
	{"LCG", "LCG", 400, 0, 40, false, true},
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
	if len(s.traces) > len(estimatedTraces) {
		return nil, fmt.Errorf("--trace %s: the study takes four traces, SDSC SP2, CTC SP2, KTH SP2 and LCG; %d are given", s.traces[4], len(s.traces))
	}
	for i, p := range estimatedTraces {
		if i >= len(s.traces) {
			s.say("no --trace for %s is given: its rows are left out", p.archive)
			continue
		}
		trace, err := workload.Open(s.traces[i], workload.Options{Skip: p.skip})
		if err != nil {
			return nil, err
		}
		for _, remark := range trace.Remarks() {
			s.say("%s", remark)
		}
		if trace, err = onePartition(trace, p.partition); err != nil {
			return nil, err
		}
		s.say("%s: read as %s on %d processors", s.traces[i], p.archive, p.nodes)
		list = append(list, studies.EstimatesTrace{Name: p.name, Nodes: p.nodes, Trace: trace, Priced: p.priced, Long: p.long})
	}
	return list, nil
}

// onePartition is a partition of a trace; 0: all of it.
func onePartition(t *workload.Trace, partition int) (*workload.Trace, error) {
	if partition == 0 {
		return t, nil
	}
	for _, p := range t.Partitions() {
		if p.Number == int64(partition) {
			return p.Trace, nil
		}
	}
	return nil, fmt.Errorf("%s has no records of partition %d", t.Name, partition)
}
