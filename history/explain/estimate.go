package explain

import (
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// earliest says when a job that waits could start, by the latest offers.
func (x *examiner) earliest() {
	c := x.past.latest
	if c == nil {
		return
	}
	r := x.rerun
	if c != x.on || r == nil {
		var err error
		if r, err = planning.NewRerun(c.seen, c.planned); err != nil {
			x.unknown("when it could start: %v", err)
			return
		}
	}
	e := &Estimate{AsOf: c.at, Cycle: c.number}
	x.Earliest = e
	rich, late := x.Asked, x.Asked
	rich.Budget, rich.MaxPrice = grid.MaxBudget, grid.MaxPrice
	late.Deadline = grid.Never
	both := rich
	both.Deadline = grid.Never
	for _, y := range []struct {
		request grid.Request
		beyond  string
	}{{x.Asked, ""}, {rich, "its budget"}, {late, "its deadline"}, {both, "its budget and its deadline"}} {
		o, why := r.Earliest(y.request)
		if e.None = why; !why.Refused() {
			e.Start, e.Cost, e.Beyond = o.Start, o.Fare.Total(), y.beyond
			return
		}
	}
}
