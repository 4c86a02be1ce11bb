package study

import (
	"fmt"

	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// studyAdmission is the experiment of Yeo and Buyya.
func studyAdmission() experiment {
	return experiment{
		name: "admission", about: "EDF, Libra and LibraRisk under inexact estimates (Yeo and Buyya)",
		traces: "SDSC SP2", runs: 10, quick: 3,
		run: func(s *studying) ([]evidence.Row, error) {
			trace, err := s.trace("SDSC SP2", workload.Lublin{Nodes: 128, Load: 0.83, Seed: s.seed}, 3000)
			if err != nil {
				return nil, err
			}
			rows, err := studies.Admission(trace, studies.AdmissionOptions{Seed: s.seed, Runs: s.runs, By: s.blocks, Done: s.done})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", trace.Name, err)
			}
			return rows, nil
		},
	}
}

// trace reads the only trace of a study. If none is given, it draws jobs from a model and
// says so.
func (s *studying) trace(name string, model workload.Lublin, jobs int) (*workload.Trace, error) {
	switch len(s.traces) {
	case 0:
		s.say("no --trace %s given: drawing %d jobs from the model of Lublin and Feitelson; the paper's figures are of the trace", name, jobs)
		list, err := model.Jobs(jobs)
		if err != nil {
			return nil, err
		}
		trace := workload.FromJobs(workload.Header{}, list)
		trace.Name = "the model"
		return trace, nil
	case 1:
		return s.open(s.traces[0], 0)
	}
	return nil, fmt.Errorf("--trace %s: the study takes one trace, %s; %d given", s.traces[1], name, len(s.traces))
}
