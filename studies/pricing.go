package studies

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// The experiments of Singh, Kesselman and Deelman (section 4): the first 30 days
// of a trace on one site, a tenth of the jobs, drawn at random, as priced
// reservations that ask at their submit.
const (
	pricingSpan  = 30 * grid.Day
	pricingQueue = 2000 // jobs that may wait; lists of prices grow with the square
)

// PricingTrace is a workload of the study.
type PricingTrace struct {
	Name  string // "SP2" and "CTC" are the paper's, whose figures stand beside
	Nodes int
	Jobs  []grid.LocalJob
}

// NewPricingTrace takes what the study needs of a trace.
func NewPricingTrace(name string, nodes int, t *workload.Trace) PricingTrace {
	jobs, _ := t.Jobs(workload.JobOptions{Span: pricingSpan})
	return PricingTrace{name, nodes, jobs}
}

// GeneratedPricingTrace replaces the traces by jobs of Lublin's model at 70 % of 128
// processors.
func GeneratedPricingTrace(seed uint64) (PricingTrace, error) {
	const nodes = 128
	jobs, err := workload.Lublin{Nodes: nodes, Load: 0.7, Seed: simulation.SeedOf(seed, "adaptive-pricing")}.Until(pricingSpan)
	return PricingTrace{"generated", nodes, jobs}, err
}

// PricingOptions say how much of the experiments is run.
type PricingOptions struct {
	Seed   uint64
	Runs   int                   // with the seeds Seed, Seed+1, ..., which draw copies, reservations and preferences
	By     evidence.Blocks       // that the workload is resampled by
	Sample int                   // reservations of a run whose delays are held against a replay without them
	Done   func(done, total int) // called after each piece of work, in no order, never at once
}

// Alphas of a setting are in tenths.
const (
	mixedAlpha  = -1 // every reservation has one of its own,
	mixedTenths = -2 // in whole tenths
)

// pricingResults holds the outcomes: by trace and setting, then run.
type pricingResults struct {
	outcomes map[pricingKey][]pricingOutcome
	quotes   map[pricingKey][]quoteOutcome
	measured map[pricingKey][][]measuredDelay // by run, what quotes are made of
}

type pricingKey struct {
	trace int
	cell  pricingCell
}

// pricingPiece is a piece of work: one run of a setting, or some of a run's
// reservations left out one by one.
type pricingPiece struct {
	key      pricingKey
	run      int
	part     int // of the sample; -1: the setting itself
	outcome  pricingOutcome
	measured []measuredDelay
}

// samplePart is how many reservations are left out in a piece of work.
const samplePart = 10

// AdaptivePricing runs the experiments of Singh, Kesselman and Deelman on each of the
// traces and returns their figures next to the paper's, then what it leaves out. All
// settings of a run draw the same copies, reservations and preferences. Differences are
// paired by run, and intervals are over runs; from 10 runs on, settings with a random alpha
// have three times as many. It is an error if a trace has no jobs, or if demand exceeds
// capacity so far that 2000 jobs wait.
//
// A run of SP2 and CTC takes about five seconds on two processors.
func AdaptivePricing(traces []PricingTrace, opt PricingOptions) ([]evidence.Row, error) {
	switch {
	case opt.Runs < 1:
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	case opt.Sample < 2:
		return nil, fmt.Errorf("sample = %d: must be 2 reservations or more", opt.Sample)
	case len(traces) == 0:
		return nil, fmt.Errorf("no trace: give at least one")
	}
	for i := range traces {
		if len(traces[i].Jobs) < 100 {
			return nil, fmt.Errorf("trace %s has %d jobs in its first 30 days; must be 100 or more", traces[i].Name, len(traces[i].Jobs))
		}
	}
	p := &pricingPlan{traces: traces, blocks: make([]int, len(traces))}
	cuts := make([]*pricingBlocks, len(traces))
	for i := range traces {
		cuts[i] = newPricingBlocks(opt.By, traces[i].Jobs)
		p.blocks[i] = cuts[i].count
	}
	p.all() // which settings there are
	results, err := p.run(opt, cuts)
	if err != nil {
		return nil, err
	}
	p.results, p.rows = results, nil
	p.all()
	evidence.Resample(p.rows, p.blocks, simulation.SeedOf(opt.Seed, "adaptive-pricing workload"), func(r *evidence.Redraw) []evidence.Row {
		q := &pricingPlan{traces: traces, blocks: p.blocks, results: results.resampled(r)}
		q.all()
		return q.rows
	})
	return p.rows, nil
}

// run runs all settings, each of its runs, on all processors.
func (p *pricingPlan) run(opt PricingOptions, cuts []*pricingBlocks) (*pricingResults, error) {
	var pieces []pricingPiece
	for run := range opt.Runs {
		for _, k := range p.cells {
			for again := range k.cell.seeds(opt.Runs) {
				pieces = append(pieces, pricingPiece{key: k, run: run + again*opt.Runs, part: -1})
			}
		}
		for _, k := range p.sampled {
			for part := range (opt.Sample + samplePart - 1) / samplePart {
				pieces = append(pieces, pricingPiece{key: k, run: run, part: part})
			}
		}
	}
	err := parallel.Do(len(pieces), func() func(int) error {
		return func(i int) (err error) {
			x := &pieces[i]
			r := &pricingRun{&p.traces[x.key.trace], cuts[x.key.trace], opt.Seed + uint64(x.run)}
			if x.part < 0 {
				x.outcome, err = r.run(&x.key.cell)
			} else {
				x.measured, err = r.measure(&x.key.cell, opt.Sample, x.part)
			}
			return err
		}
	}, func(i int, err error) error {
		if opt.Done != nil {
			opt.Done(i+1, len(pieces))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	results := &pricingResults{map[pricingKey][]pricingOutcome{}, map[pricingKey][]quoteOutcome{}, map[pricingKey][][]measuredDelay{}}
	measured := map[pricingKey][]measuredDelay{}
	for i := range pieces {
		x := &pieces[i]
		if x.part < 0 {
			results.outcomes[x.key] = append(results.outcomes[x.key], x.outcome)
			continue
		}
		measured[x.key] = append(measured[x.key], x.measured...)
		if last := (opt.Sample - 1) / samplePart; x.part == last {
			results.quotes[x.key] = append(results.quotes[x.key], judge(measured[x.key]))
			results.measured[x.key] = append(results.measured[x.key], measured[x.key])
			measured[x.key] = nil
		}
	}
	return results, nil
}
