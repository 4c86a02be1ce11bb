package simulation

import (
	"fmt"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/report"
)

// Sweep runs the points of a sweep, each with the same seeds, as many runs at once as there
// are processors. Run n is point n / Runs with seed Seed + n mod Runs.
type Sweep struct {
	Config    *configs.Sweep
	Workloads *Workloads                                                        // shared by all runs
	Choosers  func(b *configs.Broker, dir string, seed uint64) (Chooser, error) // as in Simulation
}

// SweepRun is the result of one run.
type SweepRun struct {
	Run     int             // from 0
	Figures []report.Figure // as report.Summary lists them
}

// Runs returns how many runs there are in all.
func (s *Sweep) Runs() int { return s.Config.Points() * s.Config.Runs }

// Seed returns the seed of a run.
func (s *Sweep) Seed(run int) uint64 { return s.Config.Seed + uint64(run%s.Config.Runs) }

// Point returns the point of a run.
func (s *Sweep) Point(run int) int { return run / s.Config.Runs }

// Run carries out all runs except those that skip names, and passes each to done, in order
// of the runs. It stops at the first error.
func (s *Sweep) Run(skip func(run int) bool, done func(SweepRun) error) error {
	var missing []int
	for n := range s.Runs() {
		if !skip(n) {
			missing = append(missing, n)
		}
	}
	type result struct {
		figures []report.Figure
		err     error
	}
	return parallel.Do(len(missing), func() func(int) result {
		return func(i int) result {
			figures, err := s.run(missing[i])
			return result{figures, err}
		}
	}, func(i int, r result) error {
		if r.err != nil {
			return r.err
		}
		return done(SweepRun{missing[i], r.figures})
	})
}

// run carries out one run.
func (s *Sweep) run(n int) ([]report.Figure, error) {
	scenario, err := s.Config.Scenario(s.Point(n))
	if err != nil {
		return nil, err
	}
	if err := scenario.ResolveTraces(s.Config.Traces); err != nil {
		return nil, err
	}
	sim := Simulation{Scenario: scenario, Workloads: s.Workloads, Choosers: s.Choosers}
	rep, err := sim.Run(s.Seed(n), Record{})
	if err != nil {
		return nil, fmt.Errorf("with %s and seed %d: %w", s.Config.Words(s.Point(n)), s.Seed(n), err)
	}
	return rep.Summary.Figures(), nil
}
