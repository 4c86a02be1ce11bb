package study

import (
	"fmt"

	"github.com/bourse-grid/bourse/studies"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// studySLA is the experiment of Netto, Bubendorfer and Buyya.
func studySLA() experiment {
	return experiment{
		name: "sla-reservations", about: "reservations with flexible times (Netto, Bubendorfer and Buyya)",
		traces: "SDSC SP2", runs: 10, quick: 1,
		run: func(s *studying) ([]evidence.Row, error) {
			const modelJobs = 20_000 // some 20 intervals of 15 days
			trace, err := s.trace("SDSC SP2", workload.Lublin{Nodes: 128, Load: 0.83, Seed: s.seed}, modelJobs)
			if err != nil {
				return nil, err
			}
			jobs, _ := trace.Jobs(workload.JobOptions{Extend: true})
			rows, err := studies.SLAReservations(jobs, studies.SLAOptions{Seed: s.seed, Runs: s.runs, Done: s.done})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", trace.Name, err)
			}
			return rows, nil
		},
	}
}
