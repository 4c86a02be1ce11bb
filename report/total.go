package report

import (
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/weeks"
)

// AllVOs is the owner of the measures of all VOs together. No site or VO has a name with a
// space.
const AllVOs = "all VOs"

// total is what became of all VOs of a run together, nil if there are fewer than two: numbers
// and money are sums, means and quantiles are over all of their jobs. It comes after their
// summaries, which complete their sums.
func total(list []*vo, until grid.Time) *BrokerSummary {
	if len(list) < 2 {
		return nil
	}
	all := &vo{name: AllVOs, aborts: map[grid.Code]int{}, postponements: map[grid.Code]int{}}
	open := 0
	for _, b := range list {
		all.budget = all.budget.Plus(b.budget)
		all.submitted += b.submitted
		all.notTaken += b.notTaken
		all.counts.committed += b.counts.committed
		all.counts.moved += b.counts.moved
		all.counts.aborted += b.counts.aborted
		addCounts(all.aborts, b.aborts)
		addCounts(all.postponements, b.postponements)
		all.fare = grid.Fare{Base: all.fare.Base.Plus(b.fare.Base), Additive: all.fare.Additive.Plus(b.fare.Additive)}
		all.spent, all.refunded = all.spent.Plus(b.spent), all.refunded.Plus(b.refunded)
		all.cycles, all.timed, all.capped = all.cycles+b.cycles, all.timed+b.timed, all.capped+b.capped
		all.looked, all.alternatives = all.looked+b.looked, all.alternatives+b.alternatives
		all.timeLimits += b.timeLimits
		all.budgetLimits, all.regret = all.budgetLimits.Plus(b.budgetLimits), all.regret.Plus(b.regret)
		if all.over.weeks == nil && b.over.weeks != nil {
			all.over.weeks = weeks.NewFigures(weekUnits)
		}
		all.over.merge(&b.over)
		open += b.undecided()
	}
	sum := all.summary(until)
	sum.Transactions.Open, sum.Accounts = open, accounts(nil)
	return &sum
}

// addCounts adds counts to others.
func addCounts(to, from map[grid.Code]int) {
	for _, code := range slices.Sorted(maps.Keys(from)) {
		to[code] += from[code]
	}
}

// merge adds the sums of other jobs.
func (v *voJobs) merge(o *voJobs) {
	v.jobs.Placed += o.jobs.Placed
	v.jobs.CoAllocated += o.jobs.CoAllocated
	v.jobs.Done += o.jobs.Done
	v.jobs.Failed += o.jobs.Failed
	v.jobs.Waiting += o.jobs.Waiting
	v.jobs.Abandoned += o.jobs.Abandoned
	v.jobs.Withdrawn += o.jobs.Withdrawn
	v.jobs.GivenUp += o.jobs.GivenUp
	if v.jobs.Unplaced == nil {
		v.jobs.Unplaced = map[grid.Code]int{}
	}
	addCounts(v.jobs.Unplaced, o.jobs.Unplaced)
	v.wait, v.time, v.response = v.wait+o.wait, v.time+o.time, v.response+o.response
	v.finish = append(v.finish, o.finish...)
	v.nodes += o.nodes
	v.weeks.Merge(o.weeks)
	v.waiting, v.unplaced = v.waiting.Plus(o.waiting), v.unplaced.Plus(o.unplaced)
}
