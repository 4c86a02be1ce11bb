package search

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Options control a batch.
type Options struct {
	Algorithm       Algorithm
	MaxAlternatives int       // per job, over all its sizes; 0: no bound
	MaxParts        int       // parts of all windows together, at which the search stops; 0: no bound
	Notice          grid.Time // no window starts earlier, whatever the job's Ready
	Weights         Weights   // for Best, in all passes; if Time and Cost are 0 these change from pass to pass
	Barred          [][]bool  // by job, by group: must not be used; nil, for one job or all: any group may be used
}

// Result is what a batch found.
type Result struct {
	Alternatives [][]grid.Window // by job, in the order found
	Reasons      []grid.Reason   // by job: why it has no alternative; None if it has one
	Passes       int             // number of passes that found something
	Cut          bool            // MaxParts was reached: there may be more

	parts int // number of parts of all windows so far
}

// Batch finds alternatives for the jobs, given in order of priority, and removes the slots
// they take from l. It makes pass after pass over the jobs, finding one window for each,
// until a whole pass finds nothing (Toporkov et al., section 2). A job that failed is not
// tried again, since the list only shrinks. Best makes at most 12 passes. A batch that is
// cut has reasons only for the jobs that were tried before the cut.
//
// A moldable job gets a window for each of its sizes in a pass, in the order of
// Request.Dealt. Only one window of a job is ever taken, so they may overlap each other,
// and only enough is removed to hold any one of them. (On named slots all of them are
// removed, one after the other.)
//
// Where prices change over time, every second pass of AMP looks for the cheapest window
// within the budget, not the earliest. Otherwise no alternative would use the cheap hours
// while nodes are free in the expensive ones.
func Batch(l *List, jobs []grid.Request, o Options) Result { return NewFinder(l).Batch(jobs, o) }

// Batch is the function Batch, with the memory of the Finder. The result shares nothing
// with later ones.
func (f *Finder) Batch(jobs []grid.Request, o Options) Result {
	r := Result{Alternatives: make([][]grid.Window, len(jobs)), Reasons: make([]grid.Reason, len(jobs))}
	queries, first := f.prepare(jobs, o)
	most := algorithms.Is(o.Algorithm).passes
	for pass := 0; !r.Cut && (most == 0 || pass < most); pass++ {
		found := false
		w := o.Weights
		if w.Time == 0 && w.Cost == 0 {
			w = rotation[pass%len(rotation)]
			w.Finish = o.Weights.Finish
		}
		turn := o
		if f.list.curved && algorithms.Is(o.Algorithm).cheapHours && pass%2 == 1 {
			turn.Algorithm, w = Best, Weights{Cost: 1000}
		}
		for i := 0; i < len(jobs) && !r.Cut; i++ {
			n := len(r.Alternatives[i])
			f.look(&r, i, queries[first[i]:first[i+1]], turn, w)
			found = found || len(r.Alternatives[i]) > n
		}
		if !found {
			break
		}
		r.Passes++
	}
	return r
}

// look does one job's part of a pass: it finds a window for each size that may still have
// one, while the job may have more alternatives.
func (f *Finder) look(r *Result, job int, sizes []query, o Options, w Weights) {
	before := len(r.Alternatives[job])
	for k := range sizes {
		q := &sizes[k]
		n := len(r.Alternatives[job])
		if q.closed || o.MaxAlternatives > 0 && n >= o.MaxAlternatives {
			continue
		}
		if !f.next(q, o.Algorithm, w) {
			if q.closed = true; n == 0 {
				r.Reasons[job] = nearer(r.Reasons[job], f.refusal(q, o.Algorithm))
			}
			f.giveBack(q)
			f.yield(q)
			continue
		}
		if len(sizes) == 1 || !f.list.fungible || q.portions != nil {
			f.Take()
		}
		r.Alternatives[job] = append(r.Alternatives[job], f.found)
		r.Reasons[job] = grid.Reason{}
		if r.parts += len(f.found.Parts); o.MaxParts > 0 && r.parts >= o.MaxParts {
			r.Cut = true
			break
		}
		if !o.Algorithm.anyStart() {
			// What was not free at an earlier start never will be.
			q.from = f.found.Start
		}
	}
	if len(sizes) > 1 && f.list.fungible && sizes[0].portions == nil {
		f.takeAny(r.Alternatives[job][before:])
	}
}

// takeAny removes just enough to hold any one of the windows, which belong to one job.
func (f *Finder) takeAny(windows []grid.Window) {
	var parts []grid.Part
	for i := range windows {
		for _, p := range windows[i].Parts {
			p.Start, p.End = f.list.padded(p.Group, p.Start, p.End)
			parts = append(parts, p)
		}
	}
	for _, p := range grid.Cover(parts) {
		f.list.take(p.Group, int(p.Count), p.Start, p.End)
	}
}

// nearer returns the reason of the size that came closer to a window, or x if both came as
// close.
func nearer(x, y grid.Reason) grid.Reason {
	order := []grid.Code{grid.None, grid.NoNode, grid.TooLarge, grid.NoWindow, grid.OverBudget}
	if slices.Index(order, y.Code) > slices.Index(order, x.Code) {
		return y
	}
	return x
}

// prepare makes queries of the jobs. Those of job i are at first[i] up to first[i+1].
func (f *Finder) prepare(jobs []grid.Request, o Options) (queries []query, first []int) {
	queries, first = make([]query, 0, len(jobs)), make([]int, len(jobs)+1)
	for i := range jobs {
		if len(jobs[i].Sizes) == 0 {
			queries = append(queries, f.list.prepare(jobs[i], o.Algorithm, o.Notice))
		} else {
			for _, z := range jobs[i].Dealt(o.MaxAlternatives) {
				queries = append(queries, f.list.prepare(jobs[i].At(z), o.Algorithm, o.Notice))
			}
		}
		first[i+1] = len(queries)
		if o.Barred != nil {
			for k := first[i]; k < len(queries); k++ {
				queries[k].bar(o.Barred[i])
			}
		}
	}
	f.notice = o.Notice
	f.tables.reset()
	if f.bounded(o.Algorithm) {
		f.suits.reset(f.list, queries)
		for i := range queries {
			if q := &queries[i]; q.pieces == nil && q.portions == nil {
				q.suit = f.suitOf(q)
				q.least = q.suit.least(q.Length)
			}
		}
	} else if n := len(f.list.classes); n <= maxTable && n*len(queries) <= maxTables {
		for i := range queries {
			if queries[i].pieces == nil {
				f.lend(&queries[i])
			}
		}
	}
	return queries, first
}
