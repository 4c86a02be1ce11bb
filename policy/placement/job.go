package placement

import "github.com/bourse-grid/bourse/grid"

// Job is a request and what its owner wants. Under each goal ties go to the window with
// less loss, then fewer sites, then the earlier end.
type Job struct {
	grid.Request
	User     string // whose quota pays for it
	Priority int    // higher first
	Goal     grid.Goal
	Worth    grid.Credits // credits per hour until its end, under GoalValue, 0..MaxUrgency
	Seed     uint64       // for ties that nothing else settles
	Barred   []bool       // by group: must not be used; nil: none
	Capped   bool         // the price cap applies to each node where prices change over time

	// Patience is how long the job is expected to wait for its next chance. It does not
	// take a window that loses more, compared with the best it could have alone, than such
	// a wait would cost. 0: it takes what there is.
	Patience grid.Duration
	// Latest is the latest acceptable start. What begins later can wait: nothing is lost by
	// that, and something better may come. 0: any start.
	Latest grid.Time
}

// insist is the value of an hour to a job with the goals finish and time: more than any
// window of a batch costs.
const insist = grid.MaxUrgency

// Loss returns what a window costs its owner: its weighed price plus the value of the time
// until its end, in credits, at most MaxCredits.
func (j *Job) Loss(cost grid.Credits, start, end grid.Time) grid.Credits {
	switch j.Goal {
	case grid.GoalCost:
		return cost
	case grid.GoalFinish:
		return cost.Plus(grid.Cost(grid.Price(insist), end.Sub(j.Ready)))
	case grid.GoalTime:
		return cost.Plus(grid.Cost(grid.Price(insist), end.Sub(start)))
	}
	return cost.Plus(grid.Cost(grid.Price(j.Worth), end.Sub(j.Ready)))
}

// worthless reports whether a window loses more than a job's budget if a credit weighs
// weight thousandths. While money is short, it is left to jobs for which it is worth more.
func (j *Job) worthless(w *Window, weight int64) bool {
	if weight < 1000 {
		return false
	}
	wait := grid.Cost(grid.Price(j.Worth), w.End().Sub(j.Ready))
	return Weigh(w.Price, weight).Plus(wait) > j.Budget
}

// Weigh returns an amount at weight thousandths per credit; 0 stands for 1,000.
func Weigh(c grid.Credits, weight int64) grid.Credits {
	if weight <= 1000 {
		return c
	}
	return c.Plus(c.Over(weight-1000, 1000))
}

// Window is a way to run a job: a window of a search with its price and its loss.
type Window struct {
	grid.Window
	Size  grid.Size
	Price grid.Credits // what it costs, including adaptive parts
	Loss  grid.Credits
	Sites int // number of sites that it spans
	// Number is the caller's number of a window with a known price; 0 for a window that was
	// found here.
	Number int
	// Copies is how many further windows were found that differ from it in nothing
	// relevant.
	Copies int

	at    []int32 // the sites, in order
	clear bool    // its price is known, and was for clear nodes
}

// beats reports whether a window with a known price is preferred to another. One that
// delays waiting jobs must be better by a twentieth than one at base price: its price pays
// for those delays, but not for delays of jobs still to come (measured: a VO with more
// alternatives would otherwise lose a little more).
func (w *Window) beats(o *Window) bool {
	if !w.before(o) {
		return false
	}
	return w.atBase() || o.Number > 0 || w.Loss.Plus(w.Loss/20) < o.Loss
}

// atBase reports whether a window costs its base price.
func (w *Window) atBase() bool {
	var sum grid.Credits
	for i := range w.Parts {
		sum = sum.Plus(w.Parts[i].Cost)
	}
	return w.Price == sum
}

// before is the order of preference among windows of one job. Between equal ones the free
// shares of their sites have already decided.
func (w *Window) before(o *Window) bool {
	switch {
	case w.Loss != o.Loss:
		return w.Loss < o.Loss
	case w.Sites != o.Sites:
		return w.Sites < o.Sites
	case w.End() != o.End():
		return w.End() < o.End()
	}
	return w.Start < o.Start
}
