package studies

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// The experiment on forecasts is our own: how close a forecast made at a job's submission
// comes to its start. A trace is replayed under a policy with the runs in the log, and the
// starts of that replay are the truth. The first half of the jobs is the history to learn
// from. Submissions of the second half are forecast from what was known at the time: the
// queue, the limits, and the history.
//
// A job that finds enough nodes free at its submission starts there, and every forecast
// says so. So only submissions that have to wait are drawn, equally many in each of several
// consecutive parts of the second half. The intervals are over these parts, since jobs
// waiting in one queue are not independent draws.

// ForecastTrace is a workload of the study.
type ForecastTrace struct {
	Name  string
	Nodes int
	Jobs  []grid.LocalJob
}

// ForecastOptions say how much of the experiment is run.
type ForecastOptions struct {
	Seed   uint64
	Runs   int                   // parts of the second half
	Sample int                   // submissions that are forecast in each, at most
	Draws  int                   // of a forecast by history
	Done   func(done, total int) // called after each part, never at once
}

// forecastPolicies are the policies under which a trace is replayed.
var forecastPolicies = []backfill.Policy{backfill.EASY, backfill.Conservative}

// forecaster is a way to forecast.
type forecaster int

const (
	byLimits    forecaster = iota // every job runs to its limit
	byHistory                     // limits scaled by the first half
	byKept                        // limits scaled by what all ended jobs have shown
	byKnowledge                   // the runs are known, only later arrivals are not
	forecasters
)

var forecasterNames = [forecasters]string{"limits", "history", "history kept up to date", "runs known"}

// margins are the distances within which the study counts forecasts.
var margins = []struct {
	name string
	span grid.Duration
}{{"1 min", grid.Minute}, {"10 min", 10 * grid.Minute}, {"1 h", grid.Hour}}

const (
	marginCount    = 3
	forecastLimit  = 10_000 // jobs that wait at most
	leastForecasts = 200    // jobs of a trace
)

// forecastPart has the results of one part, in hours and as shares of its submissions.
type forecastPart struct {
	within [forecasters][marginCount]float64
	off    [forecasters]float64 // mean distance of the forecast from the start
	late   [forecasters]float64 // mean of how much later the forecast lies
	inside [forecasters]float64 // the start lies between the tenths of the draws
}

// forecastCell is a trace under a policy, with its results.
type forecastCell struct {
	trace  *ForecastTrace
	policy backfill.Policy
	waits  float64 // share of the second half's submissions that wait
	parts  []forecastPart
}

// forecastCase is a submission that is forecast.
type forecastCase struct {
	place int // from 1
	state backfill.State
}

// Forecast runs the experiment.
func Forecast(traces []ForecastTrace, opt ForecastOptions) ([]evidence.Row, error) {
	switch {
	case opt.Runs < 1:
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	case opt.Sample < 1:
		return nil, fmt.Errorf("sample = %d: must be 1 submission or more", opt.Sample)
	case opt.Draws < 10:
		return nil, fmt.Errorf("draws = %d: must be 10 or more", opt.Draws)
	case len(traces) == 0:
		return nil, errors.New("no trace: give at least one")
	}
	var cells []forecastCell
	for i := range traces {
		if n := len(traces[i].Jobs); n < leastForecasts {
			return nil, fmt.Errorf("trace %s has %d jobs that ran; must be %d or more", traces[i].Name, n, leastForecasts)
		}
		for _, policy := range forecastPolicies {
			cells = append(cells, forecastCell{trace: &traces[i], policy: policy})
		}
	}
	r := &forecastResults{}
	for i := range cells {
		if err := cells[i].run(opt, i*opt.Runs, len(cells)*opt.Runs); err != nil {
			return nil, err
		}
		r.cell(&cells[i])
	}
	return r.list, nil
}

// run replays, draws submissions and forecasts them; before parts of total have been
// done by other cells.
func (c *forecastCell) run(opt ForecastOptions, before, total int) error {
	replay, err := c.replay(nil)
	if err != nil {
		return err
	}
	half := len(replay.Outcomes) / 2
	var waiting []int // places, from 1
	for i := half; i < len(replay.Outcomes); i++ {
		if o := &replay.Outcomes[i]; o.Ran() && o.Wait() > 0 {
			waiting = append(waiting, i+1)
		}
	}
	if len(waiting) < opt.Runs {
		return fmt.Errorf("trace %s, %v: only %d jobs of its second half wait, in %d parts; give processors or jobs so that more have to", c.trace.Name, c.policy, len(waiting), opt.Runs)
	}
	c.waits = float64(len(waiting)) / float64(len(replay.Outcomes)-half)
	drawn := c.draw(waiting, opt)
	states := make(map[int]backfill.State, opt.Runs*opt.Sample)
	for _, part := range drawn {
		for _, place := range part {
			states[place] = backfill.State{}
		}
	}
	if _, err = c.replay(func(place int, s *backfill.State) {
		if _, asked := states[place]; asked {
			states[place] = s.Clone()
		}
	}); err != nil {
		return err
	}
	past := newPast(replay, half)
	c.parts = parallel.Collect(len(drawn), func() func(int) forecastPart {
		return func(i int) forecastPart {
			cases := make([]forecastCase, len(drawn[i]))
			for k, place := range drawn[i] {
				cases[k] = forecastCase{place, states[place]}
			}
			return forecastAll(replay, past, cases, opt)
		}
	}, func(done, _ int) {
		if opt.Done != nil {
			opt.Done(before+done, total)
		}
	})
	return nil
}

// replay replays the trace under the policy. submitted is called with the state at every
// submit.
func (c *forecastCell) replay(submitted func(int, *backfill.State)) (*simulation.Replay, error) {
	return simulation.RunReplay(c.trace.Jobs, simulation.ReplayOptions{
		Nodes: c.trace.Nodes, Policy: c.policy, Limit: forecastLimit, Submitted: submitted,
	})
}

// draw takes a number of submissions from each part, in order, or all if there are no more.
func (c *forecastCell) draw(waiting []int, opt ForecastOptions) [][]int {
	r := rand.New(rand.NewPCG(simulation.SeedOf(opt.Seed, "forecast submissions "+c.trace.Name+c.policy.String()), 0))
	parts := make([][]int, opt.Runs)
	for i := range parts {
		part := slices.Clone(waiting[i*len(waiting)/opt.Runs : (i+1)*len(waiting)/opt.Runs])
		r.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
		part = part[:min(len(part), opt.Sample)]
		slices.Sort(part)
		parts[i] = part
	}
	return parts
}

// past has the jobs from which histories are made.
type past struct {
	outcomes []simulation.Outcome
	byEnd    []int // places, from 0, of those that ran
	first    *forecast.History
}

// newPast learns from the jobs of the first half that had ended by the first submit of the
// second half.
func newPast(r *simulation.Replay, half int) *past {
	p := &past{outcomes: r.Outcomes}
	for i := range r.Outcomes {
		if r.Outcomes[i].Ran() {
			p.byEnd = append(p.byEnd, i)
		}
	}
	slices.SortStableFunc(p.byEnd, func(a, b int) int { return cmp.Compare(r.Outcomes[a].End, r.Outcomes[b].End) })
	p.first, _ = p.learn(&forecast.History{}, 0, r.Outcomes[half].Job.Submit)
	return p
}

// learn adds to h the jobs from byEnd[from] on that had ended by an instant, and
// returns where the next learning goes on.
func (p *past) learn(h *forecast.History, from int, by grid.Time) (*forecast.History, int) {
	for ; from < len(p.byEnd) && p.outcomes[p.byEnd[from]].End <= by; from++ {
		o := &p.outcomes[p.byEnd[from]]
		h.Add(simulation.UserName(o.Job.User), o.Job.Estimate, o.End.Sub(o.Start))
	}
	return h, from
}

// forecastAll forecasts the submissions of one part, in their order.
func forecastAll(replay *simulation.Replay, p *past, cases []forecastCase, opt ForecastOptions) forecastPart {
	var sum forecastPart
	kept, from := &forecast.History{}, 0
	owner := func(id int64) (string, bool) { return simulation.UserName(replay.Outcomes[id-1].Job.User), true }
	for i := range cases {
		k := &cases[i]
		o, s := &replay.Outcomes[k.place-1], &k.state
		j := forecast.Job{Nodes: o.Job.Nodes, Limit: o.Job.Estimate, Place: forecast.Last}
		kept, from = p.learn(kept, from, s.Now)
		sum.take(byLimits, o.Start, forecast.Spread{forecast.ByLimits(s, j)}, len(cases))
		sum.take(byKnowledge, o.Start, forecast.Spread{startOfKnown(replay, s, j)}, len(cases))
		for _, by := range []struct {
			forecaster
			history *forecast.History
		}{{byHistory, p.first}, {byKept, kept}} {
			r := rand.New(rand.NewPCG(simulation.SeedOf(opt.Seed, "forecast draws"), uint64(k.place)))
			sum.take(by.forecaster, o.Start, forecast.Draw(s, j, by.history, owner, opt.Draws, r.IntN), len(cases))
		}
	}
	return sum
}

// startOfKnown is when the job starts if it is known how long the others run.
func startOfKnown(replay *simulation.Replay, s *backfill.State, j forecast.Job) grid.Time {
	ends, runs := make([]grid.Time, len(s.Running)), make([]grid.Duration, len(s.Queue))
	for i, r := range s.Running {
		ends[i] = r.Start.Add(replay.Outcomes[r.ID-1].Job.Run)
	}
	for i, q := range s.Queue {
		runs[i] = replay.Outcomes[q.ID-1].Job.Run
	}
	return forecast.Start(s, j, ends, runs)
}

// take adds one of n forecasts: the median of its draws is what it says.
func (p *forecastPart) take(by forecaster, start grid.Time, draws forecast.Spread, n int) {
	share := 1 / float64(n)
	late := draws.Quantile(500).Sub(start)
	off := max(late, -late)
	for m, margin := range margins {
		if off <= margin.span {
			p.within[by][m] += share
		}
	}
	p.off[by] += float64(off.Hours() * share)
	p.late[by] += float64(late.Hours() * share)
	if draws.Quantile(100) <= start && start <= draws.Quantile(900) {
		p.inside[by] += share
	}
}
