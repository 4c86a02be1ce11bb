package choosing

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
)

// rule is how a job is sent to a machine: to that of the least value, among equals to the first.
type rule int

const (
	random   rule = iota
	shortest      // the fewest jobs wait
	least         // the least work waits and runs, per node, by the limits
	limits        // it starts first if all jobs run to their limits
	median        // by the median of a forecast
	upper         // by the upper bound of its band of 80 %
	rules
)

var ruleNames = [rules]string{"at random", "shortest queue", "least work", "start by limits", "median of a forecast", "upper bound of a forecast"}

// isBy reports whether a setting's name ends in that of a rule.
func isBy(setting string, r rule) bool { return strings.HasSuffix(setting, ", "+ruleNames[r]) }

// forecasts reports whether the rule draws.
func (r rule) forecasts() bool { return r == median || r == upper }

// level is that of the band whose upper bound is meant.
const level = 80

// value is what a rule goes by, of a machine in a state. d are the draws of a forecast there; nil:
// the job would start at once.
func (r rule) value(m *machine, s *backfill.State, j *grid.LocalJob, d forecast.Draws, rng *rand.Rand) float64 {
	switch r {
	case random:
		return rng.Float64()
	case shortest:
		return float64(len(s.Queue))
	case least:
		return work(s) / float64(s.Nodes)
	case limits:
		return float64(forecast.ByLimits(s, forecast.Job{Nodes: j.Nodes, Limit: j.Limit(), Place: forecast.Last}))
	}
	switch {
	case d == nil:
		return -1
	case r == median:
		return d.At(.5)
	}
	k, _ := forecast.LevelOf(level)
	return m.past.Calibrator.Foresee(s.Now, d).Bands[k].Upper
}

// work is that of all jobs of a state, in node-seconds by their limits.
func work(s *backfill.State) (sum float64) {
	for i := range s.Running {
		sum += float64(s.Running[i].Nodes) * s.Running[i].End.Sub(s.Now).Seconds()
	}
	for i := range s.Queue {
		sum += float64(s.Queue[i].Nodes) * s.Queue[i].Estimate.Seconds()
	}
	return sum
}

// best is the place of the least value.
func best(values []float64) int {
	at, min := 0, math.Inf(1)
	for i, v := range values {
		if v < min {
			at, min = i, v
		}
	}
	return at
}
