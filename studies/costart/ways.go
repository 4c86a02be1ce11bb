package costart

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
	"github.com/bourse-grid/bourse/simulation/rehearsal"
)

// patience is how long a job waits; then it is given up.
const patience = 72 * grid.Hour

// waitForAll submits all parts at once and has each idle until all run, for as long as a job waits.
func waitForAll(o gather.Order, sites []*rehearsal.Site, r *rand.Rand) rehearsal.Outcome {
	last, idle := int64(0), int64(0)
	for _, s := range sites {
		s.Claim(r, o.Length+int64(patience/grid.Second), 0)
		s.At(int64(patience / grid.Second))
		if b := s.Began(0); b == gather.Never {
			last = int64(patience / grid.Second)
		} else {
			last = max(last, b)
		}
	}
	x := rehearsal.Outcome{Begun: true, After: grid.Duration(last) * grid.Second}
	for _, s := range sites {
		if b := s.Began(0); b == gather.Never {
			x.Begun = false
		} else {
			idle += s.Nodes * (last - b)
		}
	}
	x.Idle = rehearsal.Percent(idle, &o)
	return x
}

// plain submits all parts as plain jobs: the last has begun when it has, together with nothing.
func plain(o gather.Order, sites []*rehearsal.Site, r *rand.Rand) rehearsal.Outcome {
	x := rehearsal.Outcome{Begun: true}
	for _, s := range sites {
		s.Claim(r, o.Length, 0)
		s.At(int64(patience / grid.Second))
		if b := s.Began(0); b == gather.Never {
			x.Begun = false
		} else {
			x.After = max(x.After, grid.Duration(b)*grid.Second)
		}
	}
	return x
}
