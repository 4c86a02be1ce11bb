package placement

import (
	"fmt"

	"bourse"
)

// Goal is what a job wants of a window.
type Goal uint8

// The goals. Under each of them ties go to the window that the next would take:
// less loss, the earlier end, the fewer sites.
const (
	Value  Goal = iota // least cost + urgency x (end - ready)
	Cost               // least cost
	Finish             // the earliest end
	Time               // the shortest window
)

var goalNames = [...]string{Value: "value", Cost: "cost", Finish: "finish", Time: "time"}

func (g Goal) String() string { return goalNames[g] }

// ParseGoal reads "value", "cost", "finish" or "time".
func ParseGoal(s string) (Goal, error) {
	for g, name := range goalNames {
		if s == name {
			return Goal(g), nil
		}
	}
	return 0, fmt.Errorf("goal %q is unknown; choose value, cost, finish or time", s)
}

// Job is a request and what its owner wants.
type Job struct {
	bourse.Request
	User     string // whose quota it counts against
	Priority int    // higher first
	Goal     Goal
	Urgency  bourse.Credits // what an hour until its end is worth, 0..MaxUrgency
	Seed     uint64         // the job's own, for ties that nothing else settles
	Barred   []bool         // by group: not to be used; nil: none is

	// Patience is how long the job would wait for the next chance: a window that
	// loses more against the best that it could have alone than its urgency over
	// that time is not taken. 0: it takes what there is.
	Patience bourse.Duration
}

// MaxUrgency bounds what an hour is worth: 10^9 credits.
const MaxUrgency = 1_000_000_000 * bourse.Credit

// insist is what an hour is worth to a job with the goals Finish and Time: more
// than any window of a batch costs.
const insist = MaxUrgency

// Loss is what a window costs its owner: its price, weighed, and what the time
// until its end is worth. It is in credits, and at most MaxCredits.
func (j *Job) Loss(cost bourse.Credits, start, end bourse.Time) bourse.Credits {
	switch j.Goal {
	case Cost:
		return cost
	case Finish:
		return cost.Plus(bourse.Cost(bourse.Price(insist), end.Sub(j.Ready)))
	case Time:
		return cost.Plus(bourse.Cost(bourse.Price(insist), end.Sub(start)))
	}
	return cost.Plus(bourse.Cost(bourse.Price(j.Urgency), end.Sub(j.Ready)))
}

// Window is a way to run a job: a search's window with its price and its loss.
type Window struct {
	bourse.Window
	Size  bourse.Size
	Price bourse.Credits // what it costs, adaptive parts added
	Loss  bourse.Credits
	Sites int // how many it spans
	// Copies is how many more were found that differ from it in nothing that matters.
	Copies int

	at []int32 // the sites, in order
}

// before is the order of preference among windows of one job; which of equal ones
// is taken, their sites' free shares have settled.
func (w *Window) before(o *Window) bool {
	switch {
	case w.Loss != o.Loss:
		return w.Loss < o.Loss
	case w.End() != o.End():
		return w.End() < o.End()
	case w.Sites != o.Sites:
		return w.Sites < o.Sites
	}
	return w.Start < o.Start
}
