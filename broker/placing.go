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

// begin records a try of an alternative and asks its sites to hold it. Row B1.
func (b *Broker) begin(now bourse.Time, e *entry, a *planning.Alternative, out *agents.Outbox) {
	e.tries++
	e.tried, e.last = append(e.tried, a.Number), a.Number
	f := b.co.newTx(e.job, len(a.Legs))
	f.Alternative, f.Limits = a.Number, b.limits(e, a)
	for i := range a.Legs {
		f.Sites, f.Legs = append(f.Sites, siteName(b.sites[a.Legs[i].Site])), append(f.Legs, a.Legs[i].What)
	}
	if len(a.Legs) > 1 {
		f.Spare = b.spares(e, a)
	}
	f.Flex = flexOf(&e.job.Request, f.Legs)
	var run []bourse.Duration
	if e.job.Run > 0 {
		run = make([]bourse.Duration, len(a.Legs))
		for i := range a.Legs {
			if run[i] = e.job.RunAt(a.Size); a.Legs[i].What.Work == 0 {
				run[i] = b.cycle.draft.Groups[a.Legs[i].Group].Performance.Runtime(run[i])
			}
		}
	}
	b.cycle.try = b.co.open(now, f, run, e.tries > 1, out)
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

// refusedTry goes on with the cycle after a try that came to nothing. CAP means:
// the same alternative later.
func (b *Broker) refusedTry(now bourse.Time, r bourse.Reason, out *agents.Outbox) {
	c := &b.cycle
	e := &c.entries[c.turn]
	e.why = r
	if r.Code != bourse.Cap || b.cfg.Lead == 0 || e.over {
		b.proceed(now, out)
		return
	}
	e.tried = slices.DeleteFunc(e.tried, func(n int) bool { return n == e.last })
	out.Alarm(now.Add(capWait), capDue{c.number, c.turn, e.tries})
}

// capWait is how long a broker waits before it asks for the same again where it
// holds too much unconfirmed.
const capWait = 2 * bourse.Second

func (b *Broker) capDue(now bourse.Time, m capDue, out *agents.Outbox) {
	c := &b.cycle
	if c.phase == committing && c.try == nil && c.number == m.Cycle && c.turn == m.Turn && c.entries[c.turn].tries == m.Tries {
		b.proceed(now, out)
	}
}

// maxSpare bounds the legs that are kept for repair.
const maxSpare = 16

// spares lists the legs of the other alternatives of the same size that start when
// this one does: a committed window keeps its size.
func (b *Broker) spares(e *entry, a *planning.Alternative) []bourse.SiteLeg {
	var list []bourse.SiteLeg
	for i := range e.plan.Alternatives {
		o := &e.plan.Alternatives[i]
		if o == a || o.Size != a.Size || o.Start() != a.Start() {
			continue
		}
		for _, l := range o.Legs {
			if len(list) < maxSpare && l.What.Work == 0 {
				list = append(list, bourse.SiteLeg{Site: siteName(b.sites[l.Site]), Leg: l.What})
			}
		}
	}
	return list
}
