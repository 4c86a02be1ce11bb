package pilots

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// What gathering costs: so much is set aside that all idling which may still come can be paid, and
// the work while no transaction has it.

// record records how far a job is.
func (gs *Gathers) record(x *job, f facts.Gathered, out *agents.Outbox) {
	f.Job, f.State, f.Pending = x.job.Name, x.state, x.aside()
	f.State.Parts, f.State.Pilots = slices.Clone(x.state.Parts), slices.Clone(x.state.Pilots)
	left := x.job.SetAside()
	for i := range f.Idled { // rounding must not take more than was set aside
		f.Idled[i].Posted = min(f.Idled[i].Posted, left)
		left -= f.Idled[i].Posted
	}
	f.Pending = min(f.Pending, max(left, 0)+gs.room(x))
	gs.rec.Record(f, out)
}

// room is what may be set aside beyond what is.
func (gs *Gathers) room(x *job) grid.Credits {
	return max(0, min(gs.rec.Accounts.Left(), gs.rec.Accounts.UserLeft(x.job.User)))
}

// idling is what so many node-seconds cost in a group.
func (gs *Gathers) idling(p grid.Price, nodeSeconds int64) grid.Credits {
	return grid.Cost(p, grid.Duration(nodeSeconds)*grid.Second)
}

// aside is what is to be set aside: at the dearest group's price all idling that may still come,
// and the work while no transaction has it.
func (x *job) aside() grid.Credits {
	most := grid.Price(0)
	for i := range x.state.Parts {
		most = max(most, x.state.Parts[i].Price)
	}
	o := x.order()
	idle := o.Allowance() - x.state.Over
	if !x.job.State.Queued() {
		idle = x.g.Counted() - x.state.Over
	}
	sum := grid.Cost(most, grid.Duration(max(idle, 0))*grid.Second)
	if x.job.State == grid.JobWaiting && !x.state.Commits && x.state.Why == "" {
		sum += x.work()
	}
	return sum
}

// work is the most that is paid for the work: twice what it costs at the groups' prices, and no
// more than the job's budget.
func (x *job) work() grid.Credits { return min(x.job.Budget, 2*x.cost()) }

// cost is what the work costs at the groups' prices.
func (x *job) cost() (sum grid.Credits) {
	for i := range x.state.Parts {
		sum += x.costOf(i)
	}
	return sum
}

func (x *job) costOf(i int) grid.Credits {
	return grid.Cost(x.state.Parts[i].Price, x.job.Parts[i].Length).Times(x.job.Parts[i].Nodes)
}
