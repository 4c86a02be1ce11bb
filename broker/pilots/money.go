package pilots

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
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

// pays is what is paid for a pilot that is over: what its site charges, and at most what it was
// granted costs. A site may count an idling that the job does not, as of a window that was
// committed and never confirmed there.
func (x *job) pays(s gather.Sight, idle int64) facts.PilotIdled {
	p, id := &x.state.Parts[s.Part], x.pilot(s.Part, s.Pilot)
	granted := idle
	for _, y := range x.state.Pilots {
		if y.Part == s.Part && y.Number == s.Pilot {
			granted = max(granted, y.Granted*int64(x.parts[s.Part].Nodes))
		}
	}
	is := x.owes[id]
	most := grid.Duration(granted) * grid.Second
	idle = max(idle, seconds(min(is.idled, most)))
	return facts.PilotIdled{Pilot: id, Site: p.Site, Idle: idle, Posted: max(0, min(is.cost, grid.Cost(p.Price, grid.Duration(idle)*grid.Second)))}
}

// dearer takes the price of a part that has risen, if what is set aside may grow so. Otherwise no
// new pilot comes there: its cluster denies one at the old price.
func (gs *Gathers) dearer(x *job, part int, price grid.Price) {
	p := &x.state.Parts[part]
	was := p.Price
	if x.g == nil || price <= was {
		return
	}
	p.Price = price
	if x.aside() > x.job.SetAside()+gs.room(x) || x.cost() > x.job.Budget {
		p.Price = was
	}
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
	return grid.Cost(x.state.Parts[i].Price, x.parts[i].Length).Times(x.parts[i].Nodes)
}
