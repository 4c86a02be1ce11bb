package slots

import (
	"fmt"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/search/papercase"
	"github.com/bourse-grid/bourse/policy/selection"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// The experiment of Toporkov et al. (section 5): newly drawn scheduling cycles, each with a
// list of slots and a batch of jobs. A cycle counts iff both ALP and AMP give every job an
// alternative. Figures are means over the counted cycles of (value / jobs of the batch).
const (
	slotCycles = 25_000 // of a run
	slotBlocks = 10     // streams that a run's cycles are drawn from
	slotDeep   = 10     // one in this many cycles also tries what the paper left out
)

// Options say how much of the experiment is run.
type Options struct {
	Seed   uint64
	Runs   int                   // with the seeds Seed, Seed+1, ...
	Cycles int                   // of each run, a multiple of ten; 0: the paper's 25,000
	Done   func(done, total int) // called after each tenth of a run, in no order, never at once
}

// The searches that the paper compares, as indices.
const (
	alp = iota
	amp // as printed
	paperSearches
)

// figure is a sum over the counted cycles of a block.
type figure int

// The figures of a block. Those by search come in pairs, ALP's first.
const (
	cyclesAll figure = iota
	cyclesCounted
	jobsAll
	jobsCounted
	slotsAll
	slotsCounted
	ampFaster // cycles in which min T takes AMP less time
	found     // alternatives, by search
	_
	quickTime // min T, by search
	_
	quickCost
	_
	cheapTime // min C, by search
	_
	cheapCost
	_

	// Of every tenth cycle only, from here on.
	deepCounted
	deepLost // counted cycles in which best or the bound has no selection within AMP's limits

	finishFirst // mean end of a job: the first alternatives
	finishQuick // min T
	finishCheap // min C
	finishGoal  // min finish
	lastFirst   // the batch's end
	lastQuick
	lastCheap
	lastGoal
	goalTime // of min finish
	goalCost

	judgedTime                       // min T within AMP's limits, by rival
	judgedCost = judgedTime + rivals // min C within AMP's limits, by rival
	figures    = judgedCost + rivals
)

// The rivals under AMP's own limits.
const (
	rivalAMP       = iota // as printed
	rivalWhole            // with groups of equal starts finished before choosing
	rivalBest             // not bound to the earliest start
	rivalExchanged        // AMP's selection, then windows exchanged job by job
	rivalBoth             // best's selection, then windows exchanged job by job
	rivalBound            // what no disjoint windows can pass
	rivals
)

type block [figures]float64

// worker does cycles one after the other, with memory of its own.
type worker struct {
	c      papercase.Case
	list   search.List
	finder *search.Finder
	s      selection.Selector
	pieces []grid.Slot
	bound  boundary
}

func newWorker() *worker {
	d := &worker{}
	d.finder = search.NewFinder(&d.list)
	return d
}

// run draws and processes that many cycles.
func (d *worker) run(rng *rand.Rand, cycles int) (b block) {
	for cycle := range cycles {
		d.c.Draw(rng)
		d.cycle(&b, cycle%slotDeep == 0)
	}
	return b
}

// batch finds the alternatives of a whole batch; complete iff every job has one.
func (d *worker) batch(a search.Algorithm) (windows [][]grid.Window, complete bool) {
	d.reset(d.c.Slots)
	windows = d.finder.Batch(d.c.Jobs, search.Options{Algorithm: a}).Alternatives
	complete = true
	for _, list := range windows {
		complete = complete && len(list) > 0
	}
	return windows, complete
}

// reset makes the list again.
func (d *worker) reset(slots []grid.Slot) {
	if err := d.list.ResetNamed(d.c.Nodes, slots); err != nil {
		panic(fmt.Sprintf("studies: a drawn list of slots is wrong: %v", err))
	}
}

// weighed is what selection knows of windows.
func weighed(windows [][]grid.Window) [][]selection.Alternative {
	jobs := make([][]selection.Alternative, len(windows))
	for j, list := range windows {
		for i := range list {
			w := &list[i]
			jobs[j] = append(jobs[j], selection.Alternative{Time: w.Time, Cost: w.Cost, End: w.End()})
		}
	}
	return jobs
}

// autoLimits are T* and B* by the paper's formulas.
var autoLimits = selection.Limits{Time: selection.Auto, Cost: selection.Auto}

// cycle does one cycle and adds what counts.
func (d *worker) cycle(b *block, deep bool) {
	n := float64(len(d.c.Jobs))
	b[cyclesAll]++
	b[jobsAll] += n
	b[slotsAll] += float64(len(d.c.Slots))
	var windows [paperSearches][][]grid.Window
	counts := true
	for k, a := range []search.Algorithm{search.ALP, search.AMPLiteral} {
		complete := false
		windows[k], complete = d.batch(a)
		if counts = counts && complete; !counts {
			return
		}
	}
	b[cyclesCounted]++
	b[jobsCounted] += n
	b[slotsCounted] += float64(len(d.c.Slots))
	var times [paperSearches]grid.Duration
	for k := range figure(paperSearches) {
		jobs := weighed(windows[k])
		for _, list := range jobs {
			b[found+k] += float64(len(list)) / n
		}
		quick := d.s.Select(jobs, selection.MinTime, autoLimits)
		cheap := d.s.Select(jobs, selection.MinCost, selection.Limits{Time: quick.Limits.Time, Cost: quick.Limits.Cost})
		times[k] = quick.Time
		b[quickTime+k] += units(quick.Time) / n
		b[quickCost+k] += quick.Cost.Float() / n
		b[cheapTime+k] += units(cheap.Time) / n
		b[cheapCost+k] += cheap.Cost.Float() / n
		if k == amp && deep {
			d.beyond(b, windows[amp], jobs, quick, cheap)
		}
	}
	if times[amp] < times[alp] {
		b[ampFaster]++
	}
}

// units is a duration in the paper's time units.
func units(d grid.Duration) float64 { return float64(d) / float64(papercase.Unit) }

// Run runs the experiment of Toporkov et al. and returns its figures
// beside the paper's. Every search and every selection works on the same cycles.
// Intervals are over the tenths of all runs, each drawn from a stream of its own;
// Runs of a row counts these. A run takes about seven seconds on two processors.
func Run(opt Options) ([]evidence.Row, error) {
	if opt.Runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	}
	cycles := opt.Cycles
	if cycles == 0 {
		cycles = slotCycles
	}
	return rowsOf(blocksOf(opt, cycles/slotBlocks)), nil
}

// blocksOf processes the blocks of all runs, each with that many cycles.
func blocksOf(opt Options, cycles int) []block {
	return parallel.Collect(opt.Runs*slotBlocks, func() func(int) block {
		d := newWorker()
		return func(i int) block {
			seed := simulation.SeedOf(opt.Seed+uint64(i/slotBlocks), "slot-search")
			return d.run(rand.New(rand.NewPCG(seed, uint64(i%slotBlocks))), cycles)
		}
	}, opt.Done)
}
