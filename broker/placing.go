package broker

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
)

// entry is a job in a cycle: what is planned for it, and what came of the tries.
type entry struct {
	job   *job
	plan  *planning.Plan // nil before the choice
	tries int            // transactions begun
	tried []int          // numbers of the alternatives that are not tried again
	last  int            // number of the alternative tried last
	over  bool           // placed or postponed
	ready bourse.Time    // a bound of its user or tenant allows no window sooner,
	bound bourse.Reason  // this one
	why   bourse.Reason  // why an alternative fell out last
}

// notBefore is when a bound allows a window, 0 if none stands in the way.
func (e *entry) notBefore() bourse.Time {
	if !e.bound.Refused() {
		return 0
	}
	return e.ready
}

// postponed leaves jobs that a plan has no window for to a later cycle, but for those
// that have gone since.
func (sch *scheduler) postponed(list []planning.Postponed, out *agents.Outbox) {
	for i := range list {
		e := &sch.cycle.entries[list[i].Job]
		if e.over {
			continue
		}
		e.over = true
		if e.bound.Refused() { // it was looked for only from then on, and may have had a window before
			list[i].Reason, list[i].Final = e.bound, false
		}
		sch.postpone(e.job, list[i].Reason, list[i].Final, out)
	}
}

// postpone leaves a job to a later cycle, or to none if final.
func (sch *scheduler) postpone(j *job, r bourse.Reason, final bool, out *agents.Outbox) {
	sch.cycle.summary.Postponed++
	if r.Code == bourse.Waits {
		sch.cycle.summary.Deferred++
	}
	sch.record(bourse.JobPostponed{Job: j.Name, Reason: r, Final: final}, out)
}

// try begins a transaction of the job's chosen alternative or, after a refusal,
// of the next best that fits what is left. It reports false, and postpones the
// job, when there is none or MaxTries are done.
func (sch *scheduler) try(now bourse.Time, e *entry, out *agents.Outbox) bool {
	if e.tries < sch.cfg.MaxTries {
		if a := sch.pick(now, e); a != nil {
			sch.begin(now, e, a, out)
			return true
		}
	}
	sch.postponed([]planning.Postponed{sch.cycle.draft.Judge(sch.cycle.current, e.why, sch.someAway())}, out)
	return false
}

// begin records a try of an alternative and asks its sites to hold it. Row B1.
func (sch *scheduler) begin(now bourse.Time, e *entry, a *planning.Alternative, out *agents.Outbox) {
	e.tries++
	e.tried, e.last = append(e.tried, a.Number), a.Number
	f := sch.co.newTx(e.job, len(a.Legs))
	f.Alternative, f.Limits = a.Number, sch.mostPaid(e, a)
	for i := range a.Legs {
		f.Sites, f.Legs = append(f.Sites, siteName(sch.sites[a.Legs[i].Site])), append(f.Legs, a.Legs[i].What)
	}
	if len(a.Legs) > 1 {
		f.Spare = e.spares(sch.sites, a)
	}
	f.Flex = e.job.flex(f.Legs)
	var run []bourse.Duration
	if e.job.Run > 0 {
		whole := e.job.whole()
		run = make([]bourse.Duration, len(a.Legs))
		for i := range a.Legs {
			if run[i] = whole.RunAt(a.Size); a.Legs[i].What.Work == 0 {
				run[i] = sch.cycle.draft.Groups[a.Legs[i].Group].Performance.Runtime(run[i])
			}
		}
	}
	sch.cycle.try = sch.co.open(now, f, run, e.tries > 1, out)
}

// pick returns the alternative to try: the chosen one first, then the best of
// those not tried. One that does not fit what B*, T* and the accounts leave, or
// has come too near, or has a leg at a site that has left or is lost, is passed over.
func (sch *scheduler) pick(now bourse.Time, e *entry) *planning.Alternative {
	terms := &sch.cycle.input.Terms
	var best *planning.Alternative
	for i := range e.plan.Alternatives {
		a := &e.plan.Alternatives[i]
		if slices.Contains(e.tried, a.Number) {
			continue
		}
		chosen := e.tries == 0 && i == e.plan.Choice
		if r := sch.fits(now, e, a); r.Refused() {
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
		best = &e.plan.Alternatives[sch.cycle.draft.Preferred(sch.cycle.current, e.plan.Alternatives, func(a *planning.Alternative) bool {
			return !slices.Contains(e.tried, a.Number) && !sch.fits(now, e, a).Refused()
		})]
	}
	return best
}

// minNotice is the least notice at which a window is still tried where there is
// latency: sites refuse a Hold that starts sooner.
const minNotice = 2 * bourse.Second

// fits says why an alternative cannot be tried now.
func (sch *scheduler) fits(now bourse.Time, e *entry, a *planning.Alternative) bourse.Reason {
	c := &sch.cycle
	budget, time := c.outcome.BudgetLimit-c.cost, c.outcome.TimeLimit-c.time
	switch {
	case a.Start() < now, sch.cfg.Lead > 0 && a.Start() <= now.Add(minNotice):
		return reason(bourse.Past, "its window at %v came too close before it could be held", a.Start())
	case a.Cost > budget:
		return reason(bourse.LimitBudget, "its window costs %v credits, B* leaves %v", a.Cost, budget)
	case a.Time > time:
		return reason(bourse.LimitTime, "its window takes %v s, T* leaves %v", a.Time, time)
	}
	for i := range a.Legs {
		switch x := sch.peers.get(sch.sites[a.Legs[i].Site]); {
		case x != nil && !x.member:
			return reason(bourse.NoOffer, "%s, which had offered a part of its window, has left", x.name)
		case x != nil && x.lost != nil:
			return reason(bourse.NoOffer, "%s, which had offered a part of its window, is lost", x.name)
		}
		if name := siteName(sch.sites[a.Legs[i].Site]); sch.bars.closed(now, name, e.job.User) {
			return reason(bourse.NotAllowed, "%s is closed to %s, and is not asked before %v%v", name, cmp.Or(e.job.User, "users without a name"), sch.bars.until(name, e.job.User), sch.bars.why(name, e.job.User))
		}
	}
	if r := planning.Covered(a.Cost, sch.accounts.Left(), a.Cost, sch.accounts.UserLeft(e.job.User), e.job.User); r.Refused() {
		return r
	}
	if !sch.limits.bound(e.job.User) {
		return bourse.Reason{}
	}
	legs := a.What()
	return sch.limits.overBounds(e.job.User, legs, a.Cost, e.job.flex(legs), nil)
}

// premium is what may be paid for a window beyond its quotes before another one, or
// to wait for the next cycle, is better. Only where the cycle minimises value is that
// known.
func (e *entry) premium(in *planning.Input, j *planning.Job, cycle bourse.Duration, a *planning.Alternative) bourse.Credits {
	if !in.Terms.ByValue() {
		return bourse.MaxCredits
	}
	most := bourse.MaxCredits
	if j.Request.Deadline == bourse.Never || a.End.Add(2*cycle) <= j.Request.Deadline {
		most = in.Waiting(j, cycle)
	}
	for i := range e.plan.Alternatives {
		if o := &e.plan.Alternatives[i]; o != a && !slices.Contains(e.tried, o.Number) {
			most = min(most, max(0, o.Loss-a.Loss))
		}
	}
	return most
}

// mostPaid is the most that is paid for each leg: what the job's budget leaves
// after the quotes of the other legs, and its premium. What all legs together may cost beyond
// their quotes is capped by what B* and the accounts leave; earlier legs come
// first. So the pending sum never passes an account, and a site refuses a price
// that would make the cycle pass B*.
func (sch *scheduler) mostPaid(e *entry, a *planning.Alternative) []bourse.Credits {
	c := &sch.cycle
	slack := min(e.job.Budget-a.Cost, e.premium(&c.input, &c.input.Jobs[c.current], sch.cfg.Cycle, a))
	spare := min(c.outcome.BudgetLimit-c.cost, sch.accounts.Left(), sch.accounts.UserLeft(e.job.User)) - a.Cost
	if sch.limits.bound(e.job.User) {
		legs := a.What()
		spare = min(spare, sch.limits.boundLeft(e.job.User, legs, e.job.flex(legs))-a.Cost)
	}
	list := make([]bourse.Credits, len(a.Legs))
	for i := range a.Legs {
		extra := min(slack, spare)
		spare -= extra
		list[i] = a.Quotes[i].Fare.Total() + extra
	}
	return list
}

// refusedTry goes on with the cycle after a try that came to nothing. After CAP
// the same alternative is tried again later.
func (sch *scheduler) refusedTry(now bourse.Time, r bourse.Reason, out *agents.Outbox) {
	c := &sch.cycle
	e := &c.entries[c.current]
	e.why = r
	if r.Code != bourse.Cap || sch.cfg.Lead == 0 || e.over {
		sch.proceed(now, out)
		return
	}
	e.tried = slices.DeleteFunc(e.tried, func(n int) bool { return n == e.last })
	out.Alarm(now.Add(capWait), capDue{c.number, c.current, e.tries})
}

// capWait is how long a broker that holds too much unconfirmed waits before it
// asks for the same again.
const capWait = 2 * bourse.Second

func (sch *scheduler) capDue(now bourse.Time, m capDue, out *agents.Outbox) {
	c := &sch.cycle
	if c.phase == committing && c.try == nil && c.number == m.Cycle && c.current == m.Entry && c.entries[c.current].tries == m.Tries {
		sch.proceed(now, out)
	}
}

// maxSpare bounds the legs that are kept for repair.
const maxSpare = 16

// spares lists the legs of the other alternatives of the same size that start when
// this one does: a committed window keeps its size.
func (e *entry) spares(sites []agents.ID, a *planning.Alternative) []bourse.SiteLeg {
	var list []bourse.SiteLeg
	for i := range e.plan.Alternatives {
		o := &e.plan.Alternatives[i]
		if o == a || o.Size != a.Size || o.Start() != a.Start() {
			continue
		}
		for _, l := range o.Legs {
			if len(list) < maxSpare && l.What.Work == 0 {
				list = append(list, bourse.SiteLeg{Site: siteName(sites[l.Site]), Leg: l.What})
			}
		}
	}
	return list
}

// trying reports whether a transaction is the one of the cycle under way.
func (sch *scheduler) trying(t *transaction) bool { return sch.cycle.try == t }

// decided goes on with the cycle if a transaction was its; false if it was not.
func (sch *scheduler) decided(now bourse.Time, t *transaction, out *agents.Outbox) bool {
	c := &sch.cycle
	if c.try != t {
		return false
	}
	c.try = nil
	if t.state != bourse.TxCommitted {
		sch.refusedTry(now, t.reason, out)
		return true
	}
	c.cost += t.price()
	c.time += t.time()
	c.entries[c.current].over = true
	sch.proceed(now, out)
	return true
}

// entryOf is the place of a job in the cycle under way; -1 if it has none, or none
// any more.
func (c *cycle) entryOf(j *job) int {
	if c.phase == idle || !j.taken {
		return -1
	}
	return slices.IndexFunc(c.entries, func(e entry) bool { return e.job == j && !e.over })
}

// endPlan ends what the cycle under way does for a job.
func (sch *scheduler) endPlan(j *job) {
	c := &sch.cycle
	for i := range c.entries {
		if c.phase != idle && c.entries[i].job == j {
			c.entries[i].over = true
		}
	}
}

// putBack has a job wait if the cycle under way has planned it for too early: it
// may start only at the instant, or, if it is not placed, not at all yet. It
// reports whether the job is in the cycle.
func (sch *scheduler) putBack(j *job, at bourse.Time, placed bool, out *agents.Outbox) bool {
	c := &sch.cycle
	i := c.entryOf(j)
	if i < 0 {
		return false
	}
	if !placed || c.phase != gathering && c.input.Jobs[i].Request.Ready < at { // while it gathers, nothing is planned yet
		c.entries[i].over = true
		sch.postpone(j, j.slipped(at, placed), false, out)
		j.again = placed
	}
	return true
}
