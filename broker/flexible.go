package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// A job may allow a later start than agreed. The broker then gives the site that carries
// the job's only leg a window. The site places the leg within it, may move it until it is
// fixed or starts, and reports each move. Several legs have a common start and cannot
// move alone, so they get no such window. Rows B70 to B74.

// flexOf is the freedom that a site has with a job's only leg.
func flexOf(r *grid.Request, legs []grid.Leg) grid.Flex {
	if len(legs) != 1 || legs[0].Work > 0 {
		return grid.Flex{}
	}
	w := grid.Flex{Phi: r.Phi}
	l := legs[0]
	if due := min(l.End.Add(r.Flexible), r.Deadline, grid.MaxTime); due > l.End {
		w.Ready, w.Due, w.Fix = l.Start, due, r.Fix
	}
	return w
}

// flexOfLegs is the freedom that a site has with the job's only leg, by its present request.
func flexOfLegs(j *jobs.Job, legs []grid.Leg) grid.Flex {
	r := j.Request()
	return flexOf(&r, legs)
}

// elsewhere adds to the plan, as alternatives, the places that a site has named for a
// refused leg, if the job's times and budget allow them. Row B72.
func (sch *scheduler) elsewhere(t *transaction.Tx, places []grid.Place) {
	c := &sch.cycle
	if c.try != t || len(t.Legs()) != 1 || len(places) == 0 {
		return
	}
	e := &c.entries[c.current]
	p := e.plan
	var was *planning.Alternative
	for i := range p.Alternatives {
		if p.Alternatives[i].Number == e.last {
			was = &p.Alternatives[i]
		}
	}
	if was == nil {
		return
	}
	leg, size, n := was.Legs[0], was.Size, len(p.Alternatives)
	for _, at := range places[:min(len(places), agents.MaxInstead)] {
		l := leg
		l.What.Start, l.What.End = at.Start, at.End
		l.Contended = false
		if !c.suits(&c.input.Jobs[c.current].Request, &l.What, leg.What.Duration(), at.Fare) || lists(p, &l) {
			continue
		}
		p.Found++
		p.Alternatives = append(p.Alternatives, planning.Alternative{Number: p.Found, Size: size, Time: l.What.Duration(), End: at.End,
			Cost: at.Fare.Total(), Legs: []planning.Leg{l}, Quotes: []grid.Quote{{Fare: at.Fare}}})
	}
	if c.input.Terms.ByValue() { // they compete with the others
		c.draft.Lose(c.current, p.Alternatives[n:])
	}
}

// suits reports whether a place named by a site meets the request r, which the job being
// tried has in this cycle.
func (c *cycle) suits(r *grid.Request, l *grid.Leg, d grid.Duration, fare grid.Fare) bool {
	return l.Start >= max(r.Ready, c.from) && l.Start <= grid.MaxTime && l.End == l.Start.Add(d) &&
		l.End <= min(c.entries[c.current].job.Deadline, c.horizon) && planning.SoundFare(fare) && fare.Total() <= r.Budget
}

// lists reports whether a plan has an alternative that is just this leg.
func lists(p *planning.Plan, l *planning.Leg) bool {
	return slices.ContainsFunc(p.Alternatives, func(a planning.Alternative) bool {
		return len(a.Legs) == 1 && a.Legs[0].What == l.What && a.Legs[0].Site == l.Site
	})
}

// lies is the transaction of a job whose window is a single leg, or nil.
func (ers *errands) lies(j *jobs.Job) *transaction.Tx {
	if len(j.Window()) != 1 || len(j.Window()[0].Legs()) != 1 {
		return nil
	}
	return j.Window()[0]
}

// sameButFreedom reports whether two requests differ at most in the freedom they leave,
// in what they may cost, and in how windows are judged.
func sameButFreedom(a, b *grid.Request) bool {
	x := *a
	x.Flexible, x.Fix, x.Phi, x.Budget, x.MaxPrice = b.Flexible, b.Fix, b.Phi, b.Budget, b.MaxPrice
	x.Minimize, x.Urgency = b.Minimize, b.Urgency
	return jobs.SameRequest(&x, b)
}

// reopen asks the site of a job's only leg, without moving it, for another window around
// it: more freedom for less money, or less for more. Like any move it replaces the leg
// atomically, and the old price is refunded. Rows B73, B115.
func (ers *errands) reopen(now grid.Time, t *transaction.Tx, e *errand, out *agents.Outbox) {
	l := &t.Legs()[0]
	if !ers.Peers.Serves(t.Sites()[0]) {
		out.Row("B115")
		ers.moved(now, e, ers.away(t.Sites()[0]), out)
		return
	}
	legs := []grid.Leg{l.What()}
	flex := flexOf(&e.request, legs)
	if r := ers.Tenancy.Over(e.job.User, legs, 0, flex, e.job.Name); r.Refused() {
		ers.moved(now, e, r, out)
		return
	}
	limits, ok := share(min(e.request.Budget, ers.Accounts.Left(), ers.Accounts.UserLeft(e.job.User), ers.Tenancy.Left(e.job.User, legs, flex)), []grid.Credits{0})
	if !ok {
		ers.moved(now, e, reason(grid.NoMoney, "the accounts have nothing left beside the window that it has"), out)
		return
	}
	f := ers.co.NewTx(e.job.Name, 1)
	f.Alternative, f.Limits, f.Request = 1, limits, e.request
	f.Sites, f.Legs = append(f.Sites, t.Sites()[0]), append(f.Legs, l.What())
	f.Replaces, f.Versions = []grid.LegID{t.LegID(0)}, []uint32{max(l.Version(), 1)}
	f.Flex = flex
	out.Row("B73")
	e.try = ers.co.Open(now, f, t.Run(), false, out)
}
