// Package selection takes one alternative for each job of a batch so that a criterion of
// the whole batch is optimal within the limits of the virtual organisation. It is the
// second phase of Toporkov et al. (section 2, formulas 1 to 3). Alternatives never overlap,
// so every combination is possible and the choice is exact.
//
// The package does not search for windows and knows no slots: an alternative is a time, a
// cost and an end. It has no clock and no randomness, and does no I/O.
package selection

import (
	"fmt"
	"math"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
)

// Alternative is what selection knows about a window.
type Alternative struct {
	Time grid.Duration // of the longest part
	Cost grid.Credits  // total cost
	End  grid.Time     // of the longest part
}

// Goal is what to minimise.
type Goal uint8

const (
	MinTime   Goal = iota // the sum of times, within the budget limit
	MinCost               // the sum of costs, within the time limit
	MinFinish             // the latest end, then the sum of ends, within the budget limit
)

// goals is the table of them.
var goals = names.Table[Goal, struct{}]{Kind: "goal", Lines: []names.Line[struct{}]{
	MinTime:   {Name: "time", Means: "the sum of times, within the budget limit"},
	MinCost:   {Name: "cost", Means: "the sum of costs, within the time limit"},
	MinFinish: {Name: "finish", Means: "the latest end, then the sum of ends, within the budget limit"},
}}

// String is the name that ParseGoal reads.
func (g Goal) String() string { return goals.Name(g) }

// ParseGoal reads the name of a goal.
func ParseGoal(s string) (Goal, error) { return goals.Parse(s) }

// Goals returns the goals with what they minimise.
func Goals() []names.Policy { return goals.Policies() }

// Auto in Limits asks for the limit by the paper's formula.
const Auto = -1

// Limits bound a selection. A limit of 0 or more always applies. Auto is T* by formula 2,
// which applies to MinCost, or B* by formula 3, which applies to MinTime and MinFinish.
type Limits struct {
	Time grid.Duration // T*, on the sum of times
	Cost grid.Credits  // B*, on the sum of costs
}

// Result is a selection, or the reason why there is none.
type Result struct {
	Chosen []int  // by job, index of its alternative; -1: none, the job is postponed
	Limits Limits // in force; Cost is Auto if no selection is within Time, as B* is then undefined
	Time   grid.Duration
	Cost   grid.Credits
	Finish grid.Time   // the latest end
	Reason grid.Reason // LimitTime or LimitBudget; Chosen is then nil
	Grid   bool        // the label bound was reached: within the limits, but perhaps not optimal
}

// Selector selects. It reuses its memory from one call to the next; the zero Selector is
// ready. It is not safe for concurrent use.
type Selector struct {
	stages  stages
	vectors vectors
	ends    []grid.Time
	maximum int // bound on labels, 4 or more, for tests; 0: maxLabels
}

// Select takes an alternative for each job that has one. Ties: the best value of the goal,
// then the smaller sum of what the limit bounds (MinFinish with a given time limit: of
// cost, then of time), then the lower alternatives, the first job's first. Times and costs
// must not be negative, and their sums must fit in 62 bits; otherwise it panics.
//
// Beyond 100,000 labels for a job they are rounded to a grid, and Grid of the result is
// set.
func (s *Selector) Select(jobs [][]Alternative, g Goal, given Limits) Result {
	check(jobs)
	r := Result{Limits: given}
	s.vectors.grid = false
	const most = grid.Time(math.MaxInt64)
	if given.Time == Auto {
		r.Limits.Time = TimeLimit(jobs)
	}
	if quickest := sumLeast(jobs, timeOf); quickest > int64(r.Limits.Time) {
		r.Reason = grid.Reason{Code: grid.LimitTime, Detail: fmt.Sprintf(
			"the quickest selection takes %v s in all, the time limit is %v s", grid.Duration(quickest), r.Limits.Time)}
		return r
	}
	if given.Cost == Auto {
		r.Limits.Cost = s.BudgetLimit(jobs, r.Limits.Time)
		r.Grid = s.stages.grid
	}
	if cheapest := grid.Credits(sumLeast(jobs, costOf)); cheapest > r.Limits.Cost {
		r.Reason = grid.Reason{Code: grid.LimitBudget, Detail: fmt.Sprintf(
			"the cheapest selection costs %v credits, the budget limit is %v", cheapest, r.Limits.Cost)}
		return r
	}
	r.Chosen = make([]int, len(jobs))
	ok := true
	switch g {
	case MinTime:
		ok = s.stages.solve(jobs, most, costOf, timeOf, int64(r.Limits.Cost), s.bound(), r.Chosen)
	case MinCost:
		ok = s.stages.solve(jobs, most, timeOf, costOf, int64(r.Limits.Time), s.bound(), r.Chosen)
	case MinFinish:
		ok = s.finish(jobs, given, r.Limits, r.Chosen)
	}
	r.Grid = r.Grid || s.stages.grid || s.vectors.grid
	if ok {
		r.total(jobs)
		ok = (given.Time == Auto || r.Time <= given.Time) && (given.Cost == Auto || r.Cost <= given.Cost)
	}
	if !ok {
		r.refuse(g)
	}
	return r
}

// refuse sets the reason that the limits together allow no choice, though each alone would.
func (r *Result) refuse(g Goal) {
	code := grid.LimitTime
	if g == MinCost {
		code = grid.LimitBudget
	}
	r.Reason = grid.Reason{Code: code, Detail: fmt.Sprintf(
		"no selection is within the time limit of %v s and the budget limit of %v credits together", r.Limits.Time, r.Limits.Cost)}
	if r.Time > 0 {
		r.Reason.Detail += fmt.Sprintf("; the nearest takes %v s and costs %v", r.Time, r.Cost)
	}
	r.Chosen, r.Time, r.Cost, r.Finish = nil, 0, 0, 0
}

func (r *Result) total(jobs [][]Alternative) {
	r.Time, r.Cost, r.Finish = Totals(jobs, r.Chosen)
}

// Totals returns the sums of time and cost and the latest end of a choice.
func Totals(jobs [][]Alternative, chosen []int) (time grid.Duration, cost grid.Credits, finish grid.Time) {
	finish = math.MinInt64
	for j, i := range chosen {
		if i >= 0 {
			a := &jobs[j][i]
			time += a.Time
			cost += a.Cost
			finish = max(finish, a.End)
		}
	}
	if finish == math.MinInt64 {
		finish = 0
	}
	return time, cost, finish
}

func (s *Selector) bound() int {
	if s.maximum > 0 {
		return s.maximum
	}
	return maxLabels
}

// criterion is a value of an alternative that is summed over the batch.
type criterion func(a *Alternative) int64

func timeOf(a *Alternative) int64   { return int64(a.Time) }
func costOf(a *Alternative) int64   { return int64(a.Cost) }
func incomeOf(a *Alternative) int64 { return -int64(a.Cost) }
func endOf(a *Alternative) int64    { return int64(a.End) }

// sumLeast returns the sum of the least values of the jobs that have alternatives.
func sumLeast(jobs [][]Alternative, of criterion) int64 {
	total := int64(0)
	for _, alternatives := range jobs {
		if len(alternatives) == 0 {
			continue
		}
		least := int64(math.MaxInt64)
		for i := range alternatives {
			least = min(least, of(&alternatives[i]))
		}
		total += least
	}
	return total
}

// check panics unless all sums fit.
func check(jobs [][]Alternative) {
	const most = 1 << 62
	time, cost, end := uint64(0), uint64(0), uint64(0)
	for j, alternatives := range jobs {
		t, c, e := uint64(0), uint64(0), uint64(0)
		for i, a := range alternatives {
			if a.Time < 0 || a.Cost < 0 {
				panic(fmt.Sprintf("selection: job %d, alternative %d: time %v, cost %v", j, i, a.Time, a.Cost))
			}
			t, c, e = max(t, uint64(a.Time)), max(c, uint64(a.Cost)), max(e, uint64(max(a.End, -a.End)))
		}
		time, cost, end = time+t, cost+c, end+e
		if time > most || cost > most || end > most {
			panic(fmt.Sprintf("selection: the sums up to job %d pass 62 bits", j))
		}
	}
}
