package pilots

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// round decides what is to be done, records it, and does it.
func (gs *Gathers) round(now grid.Time, x *job, out *agents.Outbox) {
	x.ref, x.waits = 0, nil
	if !gs.ready(now, x, out) {
		if x.job.State.Open() {
			gs.at(x, now.Add(grid.Minute), out)
		} else {
			gs.at(x, now, out)
		}
		return
	}
	x.reconcile(now, gs) // a transaction may have been decided while answers were awaited
	f := facts.Gathered{Job: x.job.Name}
	for _, s := range x.look.Pilots {
		if idle, over := x.g.Idle(s); over {
			f.Idled = append(f.Idled, x.pays(s, idle))
		}
	}
	x.look.At = x.seconds(now)
	acts := x.decide(now)
	x.state.Pilots, x.state.Try = nil, nil
	x.state.Parts = slices.Clone(x.state.Parts)
	x.g.Save(&x.state)
	for _, a := range acts {
		f.Acts = append(f.Acts, facts.GatherAct{Do: a.Do.String(), Part: a.Part, Pilot: a.Pilot, Value: a.Value, Why: string(a.Why)})
	}
	if was := x.job.Gathering(); len(f.Acts)+len(f.Idled) > 0 || was != nil && !was.Same(&x.state) {
		gs.record(x, f, out)
	}
	gs.carryOut(now, x, acts, out)
}

// decide follows the rules. While a transaction or a window is there, it only sees.
func (x *job) decide(now grid.Time) []gather.Act {
	switch j := x.job; {
	case j.State != grid.JobWaiting, x.held():
		x.g.Seen(x.look.Pilots...)
		return nil
	case now.Add(x.parts[0].Length) >= j.Deadline:
		x.g.Seen(x.look.Pilots...)
		return x.g.Withdraw(x.look.At)
	}
	return x.g.Round(x.look)
}

// ready reports whether the rules can be followed: every site has named its group, what is to be
// gathered makes sense there, and there is money.
func (gs *Gathers) ready(now grid.Time, x *job, out *agents.Outbox) bool {
	if x.g != nil {
		return true
	}
	if !x.job.State.Open() {
		return false
	}
	deadline := x.state.Zero.Add(x.job.Gather.Deadline) <= now
	if i := slices.IndexFunc(x.state.Parts, func(p grid.GatheringPart) bool { return p.Group == "" }); i >= 0 {
		if deadline {
			gs.rec.Record(facts.JobPostponed{Job: x.job.Name, Reason: grid.Because(grid.Expired, "its deadline to be gathered has passed, and %s has not answered", x.state.Parts[i].Site), Final: true}, out)
		}
		return false
	}
	o := x.order()
	if err := o.Check(); err != nil {
		gs.rec.Record(facts.JobPostponed{Job: x.job.Name, Reason: grid.Because(grid.Invalid, "gather: %v", err), Final: true}, out)
		return false
	}
	if cost := x.cost(); cost > x.job.Budget {
		gs.rec.Record(facts.JobPostponed{Job: x.job.Name, Reason: grid.Because(grid.OverBudget, "its work costs %v credits, the budget is %v", cost, x.job.Budget), Final: true}, out)
		return false
	}
	x.g = gather.New(o)
	if why := gs.barred(now, x); why.Refused() {
		x.g = nil
		if deadline {
			gs.rec.Record(facts.JobPostponed{Job: x.job.Name, Reason: why, Final: true}, out)
		} else {
			gs.postpone(x, why, out)
		}
		return false
	}
	return true
}

// barred says why the job's user cannot have the window now, if all else were there.
func (gs *Gathers) barred(now grid.Time, x *job) grid.Reason {
	if need, room := x.aside(), gs.room(x); need > room {
		return grid.Because(grid.NoMoney, "its work and what its pilots may idle cost up to %v credits, and %v are left", need, room)
	}
	if !gs.rec.Tenancy.Bound(x.job.User) {
		return grid.Reason{}
	}
	return gs.rec.Tenancy.Over(x.job.User, x.legs(now), x.cost(), grid.Flex{}, "")
}

// carryOut does what was decided, and sets when the next round is.
func (gs *Gathers) carryOut(now grid.Time, x *job, acts []gather.Act, out *agents.Outbox) {
	commit := false
	for _, a := range acts {
		switch a.Do {
		case gather.Commit:
			commit = true
		case gather.GiveUp:
			gs.rec.Record(facts.JobPostponed{Job: x.job.Name, Reason: givenUp(a), Final: true}, out)
		}
	}
	if len(acts) > 0 {
		gs.tell(x, out)
	}
	if commit && !gs.commit(now, x, out) {
		x.g.Aborted(x.seconds(now))
		x.g.Save(&x.state)
		gs.record(x, facts.Gathered{}, out)
	}
	next := now.Add(settleEvery)
	if x.job.State == grid.JobWaiting && !x.held() {
		next = max(x.state.Zero.Add(grid.Duration(x.g.Next())*grid.Second), now.Add(grid.Second))
	}
	gs.at(x, next, out)
}

// givenUp is why a job is abandoned, in words.
func givenUp(a gather.Act) grid.Reason {
	switch a.Why {
	case gather.ByDeadline, gather.ByWithdrawn:
		return grid.Because(grid.Expired, "its deadline to be gathered has passed (deadline)")
	case gather.ByWaste:
		return grid.Because(grid.LimitTime, "its pilots have idled all that they may (waste)")
	}
	return grid.Because(grid.NotAllowed, "its pilots were refused: %s", a.Words)
}

// postpone says why nothing is gathered yet.
func (gs *Gathers) postpone(x *job, why grid.Reason, out *agents.Outbox) {
	if x.job.State == grid.JobWaiting && x.job.Reason != why {
		gs.rec.Record(facts.JobPostponed{Job: x.job.Name, Reason: why}, out)
	}
}
