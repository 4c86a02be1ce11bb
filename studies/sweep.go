package studies

import (
	"fmt"
	"runtime"
	"sync"

	"bourse/broker/report"
	"bourse/configs"
)

// Sweep runs the points of a sweep, each with the same seeds, as many runs at
// once as there are processors. Run n is point n / Runs with seed
// Seed + n mod Runs.
type Sweep struct {
	Config    *configs.Sweep
	Workloads *Workloads // shared by all runs
}

// SweepRun is what came of one run.
type SweepRun struct {
	Run     int             // from 0
	Figures []report.Figure // as report.Summary lists them
}

// Runs is how many there are in all.
func (s *Sweep) Runs() int { return s.Config.Points() * s.Config.Runs }

// Seed is that of a run.
func (s *Sweep) Seed(run int) uint64 { return s.Config.Seed + uint64(run%s.Config.Runs) }

// Point is the point of a run.
func (s *Sweep) Point(run int) int { return run / s.Config.Runs }

// Run runs all runs but those that skip names, and hands each to done when it is
// over, one at a time, in the order in which they come to their end: that alone
// differs from one call to another. It stops at the first error.
func (s *Sweep) Run(skip func(run int) bool, done func(SweepRun) error) error {
	type result struct {
		SweepRun
		err error
	}
	results := make(chan result)
	var mu sync.Mutex
	next, stopped := 0, false
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		for next < s.Runs() && skip(next) {
			next++
		}
		if stopped || next == s.Runs() {
			return -1
		}
		next++
		return next - 1
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := take(); n >= 0; n = take() {
				figures, err := s.run(n)
				results <- result{SweepRun{n, figures}, err}
			}
		})
	}
	go func() { workers.Wait(); close(results) }()
	var failed error
	for r := range results {
		if failed == nil {
			if failed = r.err; failed == nil {
				failed = done(r.SweepRun)
			}
		}
		if failed != nil {
			mu.Lock()
			stopped = true
			mu.Unlock()
		}
	}
	return failed
}

// run runs one.
func (s *Sweep) run(n int) ([]report.Figure, error) {
	scenario, err := s.Config.Scenario(s.Point(n))
	if err != nil {
		return nil, err
	}
	if err := scenario.ResolveTraces(s.Config.Traces); err != nil {
		return nil, err
	}
	sim := Simulation{Scenario: scenario, Workloads: s.Workloads}
	rep, err := sim.Run(s.Seed(n), Record{})
	if err != nil {
		return nil, fmt.Errorf("with %s and seed %d: %w", s.Config.Words(s.Point(n)), s.Seed(n), err)
	}
	return rep.Summary.Figures(), nil
}
