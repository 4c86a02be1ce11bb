package broker

import (
	"cmp"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/broker/planning"
)

// entry is a job in a cycle: what is planned for it, and what came of the tries.
type entry struct {
	job   *job
	plan  *planning.Plan // nil before the choice
	tries int            // transactions begun
	tried []int          // numbers of the alternatives that are not tried again
	last  int            // number of the alternative tried last
	over  bool           // placed or postponed
	why   bourse.Reason  // why an alternative fell out last
}

// try begins a transaction of the job's chosen alternative or, after a refusal,
// of the next best that fits what is left. It reports false, and postpones the
// job, when there is none or MaxTries are done.
func (b *Broker) try(now bourse.Time, e *entry, out *agents.Outbox) bool {
	if e.tries < b.cfg.MaxTries {
		if a := b.pick(now, e); a != nil {
			b.begin(now, e, a, out)
			return true
		}
	}
	b.postponed([]planning.Postponed{b.cycle.draft.Judge(b.cycle.turn, e.why, b.someAway())}, out)
	return false
}

// pick returns the alternative to try: the chosen one first, then the best of
// those not tried. One that does not fit what B*, T* and the accounts leave, or
// has come too near, or has a leg at a site that has left or is lost, is passed over.
func (b *Broker) pick(now bourse.Time, e *entry) *planning.Alternative {
	terms := &b.cycle.input.Terms
	var best *planning.Alternative
	for i := range e.plan.Alternatives {
		a := &e.plan.Alternatives[i]
		if slices.Contains(e.tried, a.Number) {
			continue
		}
		chosen := e.tries == 0 && i == e.plan.Choice
		if r := b.fits(now, e, a); r.Refused() {
			if chosen || e.tries == 0 && e.why.Code == bourse.None {
				e.why = r
			}
			continue
		}
		if chosen {
			return a
		}
		if best == nil || terms.Better(a, best) {
			best = a
		}
	}
	if best != nil && terms.OneByOne() {
		best = &e.plan.Alternatives[b.cycle.draft.Preferred(b.cycle.turn, e.plan.Alternatives, func(a *planning.Alternative) bool {
			return !slices.Contains(e.tried, a.Number) && !b.fits(now, e, a).Refused()
		})]
	}
	return best
}

// minNotice is the least notice at which a window is still tried where there is
// latency: sites refuse a Hold that starts sooner.
const minNotice = 2 * bourse.Second

// fits says why an alternative cannot be tried now.
func (b *Broker) fits(now bourse.Time, e *entry, a *planning.Alternative) bourse.Reason {
	c := &b.cycle
	budget, time := c.outcome.BudgetLimit-c.cost, c.outcome.TimeLimit-c.time
	switch {
	case a.Start() < now, b.cfg.Lead > 0 && a.Start() <= now.Add(minNotice):
		return reason(bourse.Past, "its window at %v came too near before it could be held", a.Start())
	case a.Cost > budget:
		return reason(bourse.LimitBudget, "its window costs %v credits, B* leaves %v", a.Cost, budget)
	case a.Time > time:
		return reason(bourse.LimitTime, "its window takes %v s, T* leaves %v", a.Time, time)
	}
	for i := range a.Legs {
		switch x := b.peers.get(b.sites[a.Legs[i].Site]); {
		case x != nil && !x.member:
			return reason(bourse.NoOffer, "%s, which had offered a part of its window, has left", x.name)
		case x != nil && x.lost != nil:
			return reason(bourse.NoOffer, "%s, which had offered a part of its window, is lost", x.name)
		}
		if name := siteName(b.sites[a.Legs[i].Site]); b.bars.closed(now, name, e.job.User) {
			return reason(bourse.NotAllowed, "%s is closed to %s, and is not asked before %v", name, cmp.Or(e.job.User, "users without a name"), b.bars.until(name, e.job.User))
		}
	}
	return planning.Covered(a.Cost, b.accounts.Left(), a.Cost, b.accounts.UserLeft(e.job.User), e.job.User)
}

// limits is the most that is paid for each leg: what the job's budget leaves
// after the quotes of the other legs. What all legs may cost beyond their quotes
// together is capped by what B* and the accounts leave, the first legs having
// the first claim: the pending sum never passes an account, and a price that
// would make the cycle pass B* is refused by its site.
func (b *Broker) limits(e *entry, a *planning.Alternative) []bourse.Credits {
	c := &b.cycle
	slack := e.job.Budget - a.Cost
	spare := min(c.outcome.BudgetLimit-c.cost, b.accounts.Left(), b.accounts.UserLeft(e.job.User)) - a.Cost
	list := make([]bourse.Credits, len(a.Legs))
	for i := range a.Legs {
		extra := min(slack, spare)
		spare -= extra
		list[i] = a.Quotes[i].Fare.Total() + extra
	}
	return list
}
