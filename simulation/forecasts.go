package simulation

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
)

// ForecastOptions say what of a replay is forecast.
type ForecastOptions struct {
	Every int // each K-th submission, from 1
	Draws int // of each forecast, from LeastDraws
	Seed  uint64
	// Asked, if set, is called with every forecast of a job that has to wait, known by its place,
	// and the state at its submission, which is valid during the call.
	Asked func(s *backfill.State, said *forecast.Said)
}

// LeastDraws is how many draws a forecast needs at least.
const LeastDraws = 10

// Forecasted is a forecast of a replay.
type Forecasted struct {
	Place int            // of the job in Outcomes, from 1
	Said  *forecast.Said // nil: it starts at once
}

// Forecasts are those of a replay, in order of submission, and what came of them.
type Forecasts struct {
	List []Forecasted
	*forecast.Forecaster
}

// RunForecasts is RunReplay with forecasts made as a site would have made them: at submission,
// of what was known by then, and calibrated on those whose start was known. Options that the
// forecasts do not know are refused: reservations, limits, predicted estimates, overruns.
func RunForecasts(jobs []grid.LocalJob, opt ReplayOptions, of ForecastOptions) (*Replay, *Forecasts, error) {
	switch {
	case of.Every < 1:
		return nil, nil, fmt.Errorf("every %d: must be 1 or more, to forecast each K-th submission", of.Every)
	case of.Draws < LeastDraws:
		return nil, nil, fmt.Errorf("draws %d: must be %d or more", of.Draws, LeastDraws)
	case opt.Reservations > 0 || opt.Extend || opt.Limits != (queue.JobLimits{}) || opt.Estimates.Predicts():
		return nil, nil, errors.New("forecasts know no reservations, limits of users, predicted estimates or overruns: leave them out")
	}
	if opt.Copy != 0 {
		var err error
		if jobs, err = CopyJobs(jobs, opt.Copy, opt.Seed); err != nil {
			return nil, nil, err
		}
		opt.Copy = 0
	}
	f := &Forecasts{Forecaster: &forecast.Forecaster{}}
	seed := SeedOf(of.Seed, "forecast draws")
	opt.Submitted = func(place int, s *backfill.State) {
		j := &jobs[place-1]
		if j.Nodes < 1 || j.Nodes > opt.Nodes {
			return // it will be refused
		}
		if (place-1)%of.Every == 0 {
			x := Forecasted{Place: place}
			r := rand.New(rand.NewPCG(seed, uint64(place)))
			if draws := f.Draw(s, forecast.Job{Nodes: j.Nodes, Limit: j.Limit(), Place: forecast.Last}, of.Draws, r); draws != nil {
				x.Said = f.Calibrator.Say(int64(place), s.Now, draws)
				if of.Asked != nil {
					of.Asked(s, x.Said)
				}
			}
			f.List = append(f.List, x)
		}
		f.Submitted(int64(place), UserName(j.User), s.Now, j.Nodes, j.Limit())
	}
	opt.Started = both(opt.Started, func(place int, at grid.Time) { f.Started(int64(place), at) })
	opt.Ended = both(opt.Ended, func(place int, at grid.Time) { f.Ended(int64(place), at) })
	r, err := RunReplay(jobs, opt)
	return r, f, err
}

// both calls first, if it is set, then second.
func both(first, second func(int, grid.Time)) func(int, grid.Time) {
	if first == nil {
		return second
	}
	return func(place int, at grid.Time) {
		first(place, at)
		second(place, at)
	}
}

// UserName returns the name of a trace's user; numbers below 0 are unknown users.
func UserName(n int64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
