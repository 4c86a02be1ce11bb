package search

import "bourse"

// Options of a batch.
type Options struct {
	Algorithm       Algorithm
	MaxAlternatives int         // per job; 0: no bound
	MaxParts        int         // of all windows together, after which the search breaks off; 0: no bound
	Notice          bourse.Time // no window starts before, whatever the job's Ready
	Weights         Weights     // Best: its own for all passes; where Time and Cost are 0 they turn from pass to pass
}

// Result is what a batch found.
type Result struct {
	Alternatives [][]bourse.Window // by job, in the order found
	Reasons      []bourse.Reason   // by job: why it has no alternative; None where it has
	Passes       int               // that found something
	Cut          bool              // MaxParts was reached: there may be more
}

// Batch finds alternatives for the jobs, given in order of priority, and leaves
// l without the slots they take: pass after pass over the jobs, each time one
// window a job, until a whole pass finds nothing (Toporkov et al., section 2).
// A job that failed is not tried again, since the list only shrinks. Best
// makes 12 passes at most. A batch that is cut has reasons only for the jobs
// that were tried until then.
func Batch(l *List, jobs []bourse.Request, o Options) Result { return NewFinder(l).Batch(jobs, o) }

// Batch is the function Batch with the Finder's memory. The result shares
// nothing with later ones.
func (f *Finder) Batch(jobs []bourse.Request, o Options) Result {
	r := Result{Alternatives: make([][]bourse.Window, len(jobs)), Reasons: make([]bourse.Reason, len(jobs))}
	queries := f.prepare(jobs, o)
	open := make([]bool, len(jobs)) // may have another alternative
	for i := range open {
		open[i] = true
	}
	parts := 0
	for pass := 0; !r.Cut && (o.Algorithm != Best || pass < bestPasses); pass++ {
		found := false
		w := o.Weights
		if w.Time == 0 && w.Cost == 0 {
			w = rotation[pass%len(rotation)]
			w.Finish = o.Weights.Finish
		}
		for i := range queries {
			if !open[i] {
				continue
			}
			q := &queries[i]
			if !f.find(q, o.Algorithm, w) {
				open[i] = false
				if len(r.Alternatives[i]) == 0 {
					r.Reasons[i] = f.refusal(q, o.Algorithm)
				}
				continue
			}
			found = true
			f.Take()
			r.Alternatives[i] = append(r.Alternatives[i], f.found)
			open[i] = len(r.Alternatives[i]) != o.MaxAlternatives
			if parts += len(f.found.Parts); o.MaxParts > 0 && parts >= o.MaxParts {
				r.Cut = true
				break
			}
			if o.Algorithm != Best {
				// What was not free for the job at an earlier start never will be.
				q.from = f.found.Start
			}
		}
		if !found {
			break
		}
		r.Passes++
	}
	return r
}

func (f *Finder) prepare(jobs []bourse.Request, o Options) []query {
	queries := make([]query, len(jobs))
	n := len(f.list.classes)
	f.tables = f.tables[:0]
	for i := range jobs {
		queries[i] = f.list.prepare(jobs[i], o.Algorithm, o.Notice)
		if n <= maxTable && n*len(jobs) <= maxTables {
			f.tables = queries[i].tabulate(f.list, f.tables)
		}
	}
	return queries
}
