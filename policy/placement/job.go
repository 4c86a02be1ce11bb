package placement

import "github.com/bourse-grid/bourse"

// Job is a request and what its owner wants. Under each goal ties go to the window
// of less loss, the fewer sites, the earlier end.
type Job struct {
	bourse.Request
	User     string // whose quota it counts against
	Priority int    // higher first
	Goal     bourse.Goal
	Worth    bourse.Credits // an hour until its end, under GoalValue, 0..MaxUrgency
	Seed     uint64         // the job's own, for ties that nothing else settles
	Barred   []bool         // by group: not to be used; nil: none is
	Capped   bool           // the price cap holds for each node where prices change over time

	// Patience is how long the job is expected to wait for its next chance. A window
	// that loses more, against the best that the job could have alone, than that
	// wait would is not taken. 0: it takes what there is.
	Patience bourse.Duration
	// Latest is the latest start that is taken yet: what begins later can wait, for
	// nothing holds it back and something better may come. 0: any start.
	Latest bourse.Time
}

// insist is what an hour is worth to a job with the goals finish and time: more
// than any window of a batch costs.
const insist = bourse.MaxUrgency

// Loss is what a window costs its owner: its price, weighed, and what the time
// until its end is worth. It is in credits, and at most MaxCredits.
func (j *Job) Loss(cost bourse.Credits, start, end bourse.Time) bourse.Credits {
	switch j.Goal {
	case bourse.GoalCost:
		return cost
	case bourse.GoalFinish:
		return cost.Plus(bourse.Cost(bourse.Price(insist), end.Sub(j.Ready)))
	case bourse.GoalTime:
		return cost.Plus(bourse.Cost(bourse.Price(insist), end.Sub(start)))
	}
	return cost.Plus(bourse.Cost(bourse.Price(j.Worth), end.Sub(j.Ready)))
}

// worthless reports whether a window loses more than a job's budget where a credit
// weighs so many thousandths: while money is short it is left to those to whom it
// is worth more.
func (j *Job) worthless(w *Window, weight int64) bool {
	if weight < 1000 {
		return false
	}
	wait := bourse.Cost(bourse.Price(j.Worth), w.End().Sub(j.Ready))
	return Weigh(w.Price, weight).Plus(wait) > j.Budget
}

// Weigh is an amount at so many thousandths a credit; 0 is 1,000.
func Weigh(c bourse.Credits, weight int64) bourse.Credits {
	if weight <= 1000 {
		return c
	}
	return c.Plus(c / 1000 * bourse.Credits(weight-1000))
}

// Window is a way to run a job: a search's window with its price and its loss.
type Window struct {
	bourse.Window
	Size  bourse.Size
	Price bourse.Credits // what it costs, adaptive parts added
	Loss  bourse.Credits
	Sites int // how many it spans
	// Number is the caller's, of a window whose price is known; 0: a window that
	// was found.
	Number int
	// Copies is how many more were found that differ from it in nothing that matters.
	Copies int

	at    []int32 // the sites, in order
	clear bool    // its price is known, and is that of nodes which are clear
}

// beats reports whether a window whose price is known is taken rather than another.
// One that delays those who wait must be better by a twentieth than one at base
// price: its price pays for their delays, not for those of jobs that are still to
// come (measured: with more alternatives a VO would otherwise lose a little more).
func (w *Window) beats(o *Window) bool {
	if !w.before(o) {
		return false
	}
	return w.atBase() || o.Number > 0 || w.Loss.Plus(w.Loss/20) < o.Loss
}

// atBase reports whether a window costs its base price.
func (w *Window) atBase() bool {
	var sum bourse.Credits
	for i := range w.Parts {
		sum = sum.Plus(w.Parts[i].Cost)
	}
	return w.Price == sum
}

// before is the order of preference among windows of one job; which of equal ones
// is taken, their sites' free shares have settled.
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
