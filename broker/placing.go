package broker

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// entry is a job in a cycle, with its plan and the outcome of its tries.
type entry struct {
	job   *jobs.Job
	plan  *planning.Plan // nil before the choice
	tries int            // transactions begun
	tried []int          // numbers of the alternatives not to be tried again
	last  int            // number of the alternative tried last
	over  bool           // placed or postponed
	ready grid.Time      // a bound of its user or tenant allows no earlier window
	bound grid.Reason    // that bound, if there is one
	why   grid.Reason    // why an alternative was last ruled out
}

// notBefore is when a bound first allows a window, or 0 if no bound matters.
func (e *entry) notBefore() grid.Time {
	if !e.bound.Refused() {
		return 0
	}
	return e.ready
}

// postponed leaves jobs for which a plan has no window to a later cycle. It skips jobs
// that are no longer in this cycle.
func (sch *scheduler) postponed(list []planning.Postponed, out *agents.Outbox) {
	for i := range list {
		e := &sch.cycle.entries[list[i].Job]
		if e.over {
			continue
		}
		e.over = true
		if e.bound.Refused() { // the search began only at ready, so an earlier window may exist
			list[i].Reason, list[i].Final = e.bound, false
		}
		sch.postpone(e.job, list[i].Reason, list[i].Final, out)
	}
}

// postpone leaves a job to a later cycle, or abandons it if final.
func (sch *scheduler) postpone(j *jobs.Job, r grid.Reason, final bool, out *agents.Outbox) {
	sch.cycle.summary.Postponed++
	if r.Code == grid.Waits {
		sch.cycle.summary.Deferred++
	}
	if r.Code == grid.Bound {
		out.Row("B140")
	}
	sch.Record(facts.JobPostponed{Job: j.Name, Reason: r, Final: final}, out)
}

// try begins a transaction for the job's chosen alternative or, after a refusal, for
// the next best that still fits. If there is none, or after MaxTries, it postpones the
// job and reports false.
func (sch *scheduler) try(now grid.Time, e *entry, out *agents.Outbox) bool {
	if e.tries < sch.cfg.MaxTries {
		if a := sch.pick(now, e); a != nil {
			sch.begin(now, e, a, out)
			return true
		}
	}
	sch.postponed([]planning.Postponed{sch.cycle.draft.Judge(sch.cycle.current, e.why, sch.someAway())}, out)
	return false
}

// begin begins a transaction for an alternative and asks its sites to hold it. Row B1.
func (sch *scheduler) begin(now grid.Time, e *entry, a *planning.Alternative, out *agents.Outbox) {
	e.tries++
	e.tried, e.last = append(e.tried, a.Number), a.Number
	f := sch.co.NewTx(e.job.Name, len(a.Legs))
	f.Alternative, f.Limits = a.Number, sch.mostPaid(e, a)
	for i := range a.Legs {
		f.Sites, f.Legs = append(f.Sites, transaction.SiteName(sch.sites[a.Legs[i].Site])), append(f.Legs, a.Legs[i].What)
	}
	if len(e.job.Parts) > 1 {
		out.Row("B150")
	}
	if f.Parts = partNames(e.job, a); len(a.Legs) > 1 {
		f.Spare = e.spares(sch.sites, a)
	}
	f.Flex = flexOfLegs(e.job, f.Legs)
	sch.cycle.try = sch.co.Open(now, f, runsOf(e.job, a, sch.cycle.draft.Groups), e.tries > 1, out)
}

// pick returns the alternative to try: first the chosen one, then the best of those not
// yet tried. It skips any that fits says cannot be tried now.
func (sch *scheduler) pick(now grid.Time, e *entry) *planning.Alternative {
	terms := &sch.cycle.input.Terms
	var best *planning.Alternative
	for i := range e.plan.Alternatives {
		a := &e.plan.Alternatives[i]
		if slices.Contains(e.tried, a.Number) {
			continue
		}
		chosen := e.tries == 0 && i == e.plan.Choice
		if r := sch.fits(now, e, a); r.Refused() {
			if chosen || e.tries == 0 && e.why.Code == grid.None {
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

// minNotice is the shortest notice at which a window is still tried where there is
// latency: sites refuse a Hold that starts sooner.
const minNotice = 2 * grid.Second

// fits says why an alternative cannot be tried now: it starts too soon, it exceeds what
// B*, T*, the accounts or a bound leave, or one of its sites has left, is lost, or is
// closed to the user. No reason: it can be tried.
func (sch *scheduler) fits(now grid.Time, e *entry, a *planning.Alternative) grid.Reason {
	c := &sch.cycle
	budget, time := c.outcome.BudgetLimit-c.cost, c.outcome.TimeLimit-c.time
	switch {
	case a.Start() < now, sch.cfg.Lead > 0 && a.Start() <= now.Add(minNotice):
		return reason(grid.Past, "its window at %v came too close before it could be held", a.Start())
	case a.Cost > budget:
		return reason(grid.LimitBudget, "its window costs %v credits, B* leaves %v", a.Cost, budget)
	case a.Time > time:
		return reason(grid.LimitTime, "its window takes %v s, T* leaves %v", a.Time, time)
	}
	for i := range a.Legs {
		switch x := sch.Peers.Get(sch.sites[a.Legs[i].Site]); {
		case x != nil && !x.Member():
			return reason(grid.NoOffer, "%s, which had offered a part of its window, has left", x.Name())
		case x != nil && x.Lost() != nil:
			return reason(grid.NoOffer, "%s, which had offered a part of its window, is lost", x.Name())
		}
		if name := transaction.SiteName(sch.sites[a.Legs[i].Site]); sch.Trust.Closed(now, name, e.job.User) {
			return reason(grid.NotAllowed, "%s is closed to %s, and is not asked before %v%v", name, cmp.Or(e.job.User, "users without a name"), sch.Trust.Until(name, e.job.User), sch.Trust.Why(name, e.job.User))
		}
	}
	if r := planning.Covered(a.Cost, sch.Accounts.Left(), a.Cost, sch.Accounts.UserLeft(e.job.User), e.job.User); r.Refused() {
		return r
	}
	if !sch.Tenancy.Bound(e.job.User) {
		return grid.Reason{}
	}
	legs := a.What()
	return sch.Tenancy.Over(e.job.User, legs, a.Cost, flexOfLegs(e.job, legs), "")
}

// premium is how much more than its quotes a window may cost before another window, or
// waiting for the next cycle, is better. That is known only if the cycle minimises
// value; otherwise there is no limit.
func (e *entry) premium(in *planning.Input, j *planning.Job, cycle grid.Duration, a *planning.Alternative) grid.Credits {
	if !in.Terms.ByValue() {
		return grid.MaxCredits
	}
	most := grid.MaxCredits
	if j.Request.Deadline == grid.Never || a.End.Add(2*cycle) <= j.Request.Deadline {
		most = in.Waiting(j, cycle)
	}
	for i := range e.plan.Alternatives {
		if o := &e.plan.Alternatives[i]; o != a && !slices.Contains(e.tried, o.Number) {
			most = min(most, max(0, o.Loss-a.Loss))
		}
	}
	return most
}

// mostPaid is the limit of each leg: its quote, plus what the job's budget leaves after
// all quotes, at most the premium. What all legs together may cost beyond their quotes
// is capped by what B*, the accounts and the bounds leave, and earlier legs come first.
// So pending payments never exceed an account, and a price that would take the cycle
// over B* is refused by the site.
func (sch *scheduler) mostPaid(e *entry, a *planning.Alternative) []grid.Credits {
	c := &sch.cycle
	slack := min(e.job.Budget-a.Cost, e.premium(&c.input, &c.input.Jobs[c.current], sch.cfg.Cycle, a))
	spare := min(c.outcome.BudgetLimit-c.cost, sch.Accounts.Left(), sch.Accounts.UserLeft(e.job.User)) - a.Cost
	if sch.Tenancy.Bound(e.job.User) {
		legs := a.What()
		spare = min(spare, sch.Tenancy.Left(e.job.User, legs, flexOfLegs(e.job, legs))-a.Cost)
	}
	list := make([]grid.Credits, len(a.Legs))
	for i := range a.Legs {
		extra := min(slack, spare)
		spare -= extra
		list[i] = a.Quotes[i].Fare.Total() + extra
	}
	return list
}

// refusedTry goes on with the cycle after a failed try. After a refusal with Cap the
// same alternative is tried again after capWait. Where nodes are pinned, another one is tried
// once the other jobs have what was planned for them: tried at once, it would take nodes that the
// plan meant for others, who would be refused in turn.
func (sch *scheduler) refusedTry(now grid.Time, r grid.Reason, out *agents.Outbox) {
	c := &sch.cycle
	e := &c.entries[c.current]
	e.why = r
	if r.Code != grid.Cap || sch.cfg.Lead == 0 || e.over {
		if c.pinned {
			c.order, c.turn = append(c.order, c.current), c.turn+1
		}
		sch.proceed(now, out)
		return
	}
	e.tried = slices.DeleteFunc(e.tried, func(n int) bool { return n == e.last })
	out.Alarm(now.Add(capWait), capDue{c.number, c.current, e.tries})
}

// capWait is how long to wait after a refusal with Cap (too much held unconfirmed)
// before asking for the same again.
const capWait = 2 * grid.Second

func (sch *scheduler) capDue(now grid.Time, m capDue, out *agents.Outbox) {
	c := &sch.cycle
	if c.phase == committing && c.try == nil && c.number == m.Cycle && c.current == m.Entry && c.entries[c.current].tries == m.Tries {
		sch.proceed(now, out)
	}
}

// maxSpare bounds the legs that a transaction keeps for repairs.
const maxSpare = 16

// spares lists, for repairs, the legs of the other alternatives with the same size and
// start as this one: a committed window keeps both.
func (e *entry) spares(sites []agents.ID, a *planning.Alternative) []facts.SiteLeg {
	var list []facts.SiteLeg
	for i := range e.plan.Alternatives {
		o := &e.plan.Alternatives[i]
		if o == a || o.Size != a.Size || o.Start() != a.Start() {
			continue
		}
		parts := partNames(e.job, o)
		for k, l := range o.Legs {
			if len(list) < maxSpare && l.What.Work == 0 {
				s := facts.SiteLeg{Site: transaction.SiteName(sites[l.Site]), Leg: l.What}
				if parts != nil {
					s.Part = parts[k]
				}
				list = append(list, s)
			}
		}
	}
	return list
}

// trying reports whether the current cycle is carrying out this transaction.
func (sch *scheduler) trying(t *transaction.Tx) bool { return sch.cycle.try == t }

// decided goes on with the cycle after its transaction is decided. It reports false if t
// is not the cycle's.
func (sch *scheduler) decided(now grid.Time, t *transaction.Tx, out *agents.Outbox) bool {
	c := &sch.cycle
	if c.try != t {
		return false
	}
	c.try = nil
	if t.State() != grid.TxCommitted {
		sch.refusedTry(now, t.Reason(), out)
		return true
	}
	c.cost += t.Price()
	c.time += t.Time()
	c.entries[c.current].over = true
	sch.proceed(now, out)
	return true
}

// entryOf is the index of a job's entry in the current cycle, or -1 if it has none or
// its entry is over.
func (c *cycle) entryOf(j *jobs.Job) int {
	if c.phase == idle || !j.Taken {
		return -1
	}
	return slices.IndexFunc(c.entries, func(e entry) bool { return e.job == j && !e.over })
}

// endPlan makes the current cycle do nothing more for a job.
func (sch *scheduler) endPlan(j *jobs.Job) {
	c := &sch.cycle
	for i := range c.entries {
		if c.phase != idle && c.entries[i].job == j {
			c.entries[i].over = true
		}
	}
}

// putBack postpones a job if the current cycle may have planned it too early. If placed
// (all the jobs it comes after have windows) it may start at the instant; otherwise it
// may not start yet. putBack reports whether the job is in the cycle.
func (sch *scheduler) putBack(j *jobs.Job, at grid.Time, placed bool, out *agents.Outbox) bool {
	c := &sch.cycle
	i := c.entryOf(j)
	if i < 0 {
		return false
	}
	if !placed || c.phase != gathering && c.input.Jobs[i].Request.Ready < at { // while gathering, nothing is planned yet
		c.entries[i].over = true
		sch.postpone(j, j.Slipped(at, placed), false, out)
		j.Again = placed
	}
	return true
}
