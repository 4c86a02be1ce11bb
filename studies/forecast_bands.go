package studies

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// The experiment on bands is our own: does a band that says 80 % hold 80 % of the starts, in
// each part of a log and at each distance, and how narrow is it? A trace is replayed under EASY
// with the runs of the log, and each K-th submission is forecast in that replay, from what was
// known at its instant. Beside it stands the rule before: one level of similarity, no later
// submissions, with and without the calibration.

// BandsOptions say how much of the experiment is run.
type BandsOptions struct {
	Seed    uint64
	Runs    int                   // parts of the log that the intervals are over
	Waiting int                   // submissions that are forecast and wait, about
	Draws   int                   // of a forecast
	Done    func(done, total int) // called as submissions are replayed, never at once
}

// bandWays are the forecasts that are compared.
type bandWay int

const (
	bandsThis   bandWay = iota // by similarity, with later submissions, calibrated
	bandsBefore                // the rule before, calibrated
	bandsRaw                   // the rule before, not calibrated
	bandsKnown                 // the runs are known: a point and no band
	bandWays
)

var bandNames = [bandWays]string{"similar runs, calibrated", "rule before, calibrated", "rule before, not calibrated", "runs known"}

// bandsLevel is the level that is measured first, by its place in forecast.Levels.
const bandsLevel = 1

// bandCase is a submission that waits and is not too far ahead for a band.
type bandCase struct {
	place int
	class forecast.Class
	start float64                              // the true wait, in seconds
	bands [bandWays]forecast.Band              // of bandsLevel
	held  [bandWays][len(forecast.Levels)]bool // bands of all levels
	said  [bandsRaw]*forecast.Said             // until the replay is over
	near  [bandWays]bool                       // the median lies within 10 min of the start
}

// bandsTrace is what came of the forecasts of a trace.
type bandsTrace struct {
	name      string
	cases     []bandCase
	submitted int // forecasts in all, those of jobs that start at once among them
	far       int // too far ahead for a band
	nearFar   [bandWays]int
}

// ForecastBands runs the experiment.
func ForecastBands(traces []ForecastTrace, opt BandsOptions) ([]evidence.Row, error) {
	switch {
	case opt.Runs < 2:
		return nil, fmt.Errorf("runs = %d: must be 2 or more", opt.Runs)
	case opt.Waiting < opt.Runs:
		return nil, fmt.Errorf("waiting = %d: must be a submission for each of %d parts or more", opt.Waiting, opt.Runs)
	case opt.Draws < simulation.LeastDraws:
		return nil, fmt.Errorf("draws = %d: must be %d or more", opt.Draws, simulation.LeastDraws)
	case len(traces) == 0:
		return nil, errors.New("no trace: give at least one")
	}
	r := &bandsResults{parts: opt.Runs}
	for i := range traces {
		t, err := bandsOf(&traces[i], opt, i, len(traces))
		if err != nil {
			return nil, err
		}
		r.trace(t)
	}
	return r.list, nil
}

// bandsOf replays a trace, the i-th of n, twice: to see how many wait, and to forecast them.
func bandsOf(t *ForecastTrace, opt BandsOptions, i, n int) (*bandsTrace, error) {
	plain := simulation.ReplayOptions{Nodes: t.Nodes, Policy: backfill.EASY, Limit: forecastLimit}
	first, err := simulation.RunReplay(t.Jobs, plain)
	if err != nil {
		return nil, err
	}
	waiting := 0
	for k := range first.Outcomes {
		if o := &first.Outcomes[k]; o.Ran() && o.Wait() > 0 {
			waiting++
		}
	}
	b := &bandsRun{truth: first, seed: simulation.SeedOf(opt.Seed, "forecast draws"), draws: opt.Draws, t: &bandsTrace{name: t.Name}}
	every := max(1, waiting/opt.Waiting)
	again := plain
	again.Started = func(place int, at grid.Time) { b.before.Started(int64(place), at) }
	again.Ended = b.ended
	if opt.Done != nil {
		again.Submits = func(jobs, all int) { opt.Done(i*all+jobs, n*all) }
	}
	_, said, err := simulation.RunForecasts(t.Jobs, again, simulation.ForecastOptions{Every: every, Draws: opt.Draws, Seed: opt.Seed, Asked: b.asked})
	if err != nil {
		return nil, err
	}
	b.t.submitted = len(said.List)
	b.settle()
	if len(b.t.cases) < opt.Runs {
		return nil, fmt.Errorf("trace %s: only %d jobs wait, in %d parts; give processors or jobs so that more have to", t.Name, len(b.t.cases), opt.Runs)
	}
	return b.t, nil
}

// bandsRun makes the forecasts of the rule before beside those of the replay.
type bandsRun struct {
	t       *bandsTrace
	truth   *simulation.Replay // for who starts when; what is forecast from comes from the replay that runs
	history forecast.History
	before  forecast.Calibrator
	seed    uint64
	draws   int
}

func (b *bandsRun) ended(place int, at grid.Time) {
	o := &b.truth.Outcomes[place-1]
	b.history.Add(simulation.UserName(o.Job.User), o.Job.Limit(), at.Sub(o.Start))
}

// asked forecasts a submission by the other bandWays.
func (b *bandsRun) asked(s *backfill.State, said *forecast.Said) {
	place := int(said.ID)
	o := &b.truth.Outcomes[place-1]
	j := forecast.Job{Nodes: o.Job.Nodes, Limit: o.Job.Limit(), Place: forecast.Last}
	owner := func(id int64) (string, bool) { return simulation.UserName(b.truth.Outcomes[id-1].Job.User), true }
	r := rand.New(rand.NewPCG(b.seed, uint64(place)))
	spread := forecast.Draw(s, j, &b.history, owner, b.draws, r.IntN)
	waits := make(forecast.Draws, len(spread))
	for i, at := range spread {
		waits[i] = float64(at.Sub(s.Now)) / float64(grid.Second)
	}
	c := bandCase{place: place, class: said.Class, start: float64(o.Wait()) / float64(grid.Second)}
	c.said = [bandsRaw]*forecast.Said{said, b.before.Say(said.ID, s.Now, waits)}
	known := float64(startOfKnown(b.truth, s, j).Sub(s.Now)) / float64(grid.Second)
	c.bands[bandsKnown] = forecast.Band{Median: known, Lower: known, Upper: known}
	b.t.cases = append(b.t.cases, c)
}

// settle compares all forecasts with the starts, and leaves out those too far ahead by either
// rule for the figures of bands.
func (b *bandsRun) settle() {
	for i := range b.t.cases {
		c := &b.t.cases[i]
		this, before := c.said[bandsThis], c.said[bandsBefore]
		c.bands[bandsThis], c.bands[bandsBefore], c.bands[bandsRaw] = this.Bands[bandsLevel], before.Bands[bandsLevel], before.Raw(bandsLevel)
		for level := range forecast.Levels {
			for w, band := range [...]forecast.Band{this.Bands[level], before.Bands[level], before.Raw(level)} {
				c.held[w][level] = band.Lower <= c.start && c.start <= band.Upper
			}
		}
		for w := range bandWays {
			off := c.bands[w].Median - c.start
			c.near[w] = max(off, -off) <= 600
		}
	}
	b.t.cases = slices.DeleteFunc(b.t.cases, func(c bandCase) bool {
		far := c.said[bandsThis].Class == forecast.Far || c.said[bandsBefore].Class == forecast.Far
		if far {
			b.t.far++
			for w := range bandWays {
				if c.near[w] {
					b.t.nearFar[w]++
				}
			}
		}
		return far
	})
}
