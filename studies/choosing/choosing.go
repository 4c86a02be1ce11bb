// Package choosing is an experiment of our own: in which of several queues does a job start first?
//
// Several machines run the same log, each turned by another part of its span, so that their rush
// hours do not meet. Each fifth job of the first may go to any of them, and is sent by a rule: at
// random, to the shortest queue, or where a forecast has it start first. Every rule meets the
// same jobs. A forecast knows what was known at the submission, and nothing of the rest.
package choosing

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// Trace is a log to replay.
type Trace struct {
	Name  string
	Nodes int
	Jobs  []grid.LocalJob // in order of submit
}

// Options say how much of the experiment is run.
type Options struct {
	Seed     uint64
	Runs     int                   // of each setting, with the seeds Seed, Seed+1, ...: other draws
	Machines []int                 // numbers of machines, each 2 or more
	Draws    int                   // of each forecast
	Done     func(done, total int) // called after each replay, never at once; may be nil
}

// every is how many jobs of the first machine there are for one that chooses.
const every = 5

// setting is a replay: a trace, so many machines, a rule.
type setting struct {
	trace *Trace
	count int // of machines
	rule  rule
}

// Study runs the experiment. The replays by a forecast cost its draws for each machine and each
// fifth job; the others are cheap.
func Study(traces []Trace, opt Options) ([]evidence.Row, error) {
	switch {
	case len(traces) == 0:
		return nil, errors.New("no trace: give at least one")
	case opt.Runs < 1:
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	case opt.Draws < simulation.LeastDraws:
		return nil, fmt.Errorf("draws = %d: must be %d or more", opt.Draws, simulation.LeastDraws)
	case len(opt.Machines) == 0 || slices.Min(opt.Machines) < 2:
		return nil, fmt.Errorf("machines = %v: there must be 2 or more to choose from", opt.Machines)
	}
	var settings []setting
	for i := range traces {
		for _, n := range opt.Machines {
			for r := range rules {
				settings = append(settings, setting{&traces[i], n, r})
			}
		}
	}
	type result struct {
		waits *waits
		err   error
	}
	out := parallel.Collect(len(settings), func() func(int) result {
		return func(i int) result {
			w, err := settings[i].runs(opt)
			return result{w, err}
		}
	}, opt.Done)
	var rows []evidence.Row
	for i := 0; i < len(out); i += int(rules) {
		by := make([]*waits, rules)
		for r := range by {
			if by[r] = out[i+r].waits; out[i+r].err != nil {
				return nil, out[i+r].err
			}
		}
		rows = append(rows, settings[i].rows(by)...)
	}
	return rows, nil
}

// The measures.
const (
	meanWait  = "mean wait of the jobs that choose, h"
	longWait  = "nine of ten of them wait at most, h"
	otherWait = "mean wait of all other jobs, h"
)

// How much less a rule has them wait than the shortest queue, and a forecast than the limits.
const (
	lessThanShortest = meanWait + ": less than in the shortest queue"
	lessThanLimits   = meanWait + ": less than by limits"
)

func (s *setting) name(r rule) string {
	return fmt.Sprintf("%s, %d machines, %s", s.trace.Name, s.count, ruleNames[r])
}

// rows are those of one trace and number of machines. Intervals are over the weeks of the log, in
// which jobs share their crowds.
func (s *setting) rows(by []*waits) (rows []evidence.Row) {
	add := func(measure string, r rule, x evidence.Sample, j evidence.Judgement) {
		rows = append(rows, evidence.NewRow(measure, s.name(r), evidence.Claim{}, "week of the log", x, j))
	}
	alone := evidence.Unjudged(evidence.Measured)
	for r, w := range by {
		add(meanWait, rule(r), evidence.Quotient(w.sums, w.jobs), alone)
	}
	less := func(measure string, of, than rule) {
		x := evidence.Quotient(evidence.Minus(by[than].perRun(), by[of].perRun()), by[than].jobs)
		add(measure, of, x, evidence.LessThan(x.Estimate))
	}
	for r := range rules {
		if r != shortest {
			less(lessThanShortest, r, shortest)
		}
	}
	for r := range rules {
		if r.forecasts() {
			less(lessThanLimits, r, limits)
		}
	}
	for r, w := range by {
		add(longWait, rule(r), evidence.Sample{Estimate: evidence.Estimate{Mean: w.long(), Units: len(w.all)}}, alone)
	}
	for r, w := range by {
		add(otherWait, rule(r), evidence.Sample{Estimate: evidence.Estimate{Mean: w.others / max(w.rest, 1), Units: int(w.rest)}}, alone)
	}
	return rows
}

// Finding says what a forecast saves.
func Finding(rows []evidence.Row) string {
	text, gains, places := "", 0, 0
	for i := range rows {
		if r := &rows[i]; r.Measure == lessThanShortest && isBy(r.Setting, median) {
			places++
			if r.Here > r.CI95 {
				gains++
			}
			text += fmt.Sprintf(" %s: %.2f ± %.2f h.", r.Setting, r.Here, r.CI95)
		}
	}
	verdict := "It cannot be told whether a job starts sooner where a forecast sends it than in the shortest queue"
	if gains == places && places > 0 {
		verdict = "A job starts sooner where a forecast sends it than in the shortest queue"
	} else if gains > 0 {
		verdict = fmt.Sprintf("In %d of %d cases a job starts sooner where a forecast sends it than in the shortest queue", gains, places)
	}
	return verdict + "; no paper that we follow gives a figure. Less wait by the median:" + text
}
