package broker

import (
	"cmp"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/selection"
)

// selectAll is phase 6: one alternative a job, the combination that is best
// under B*, T* and the accounts. Where they leave nothing for all jobs together,
// some wait: who is served first has the first claim.
func (b *Broker) selectAll(out *agents.Outbox) {
	if b.cfg.oneByOne() {
		b.takeEach(out)
		return
	}
	c := &b.cycle
	c.costLimit, c.timeLimit = bourse.MaxCredits, bourse.MaxDuration
	b.affordable(out)
	for len(c.candidates) > 0 {
		r := b.selectOnce()
		if r.Chosen == nil {
			b.weed(out)
			continue
		}
		for i, p := range c.candidates {
			p.choice = r.Chosen[i]
		}
		if b.withinQuotas() {
			c.summary.Time, c.summary.Cost, c.summary.Fallback = r.Time, r.Cost, r.Grid
			return
		}
	}
}

// weed goes through the candidates in serving order and postpones each that has
// no selection together with those kept before it.
func (b *Broker) weed(out *agents.Outbox) {
	c := &b.cycle
	candidates, options := c.candidates, c.options
	kept := 0
	for i, p := range candidates {
		candidates[kept], options[kept] = p, options[i]
		c.candidates, c.options = candidates[:kept+1], options[:kept+1]
		if r := b.selectOnce(); r.Chosen == nil {
			b.giveUp(p, r.Reason, out)
			continue
		}
		kept++
	}
	c.candidates, c.options = candidates[:kept], options[:kept]
}

// affordable makes the candidates: in serving order, each job whose cheapest
// alternative the accounts of the VO and of its user still cover.
func (b *Broker) affordable(out *agents.Outbox) {
	c := &b.cycle
	c.candidates = c.candidates[:0]
	c.options = c.options[:0]
	var vo bourse.Credits
	users := map[string]bourse.Credits{}
	most := min(b.voLeft(), maxSum/bourse.Credits(max(1, len(c.plans))))
	for i := range c.plans {
		p := &c.plans[i]
		if p.over {
			continue
		}
		least := bourse.MaxCredits
		for k := range p.alternatives {
			least = min(least, p.alternatives[k].cost)
		}
		user := p.job.User
		if r := b.covered(vo.Plus(least), users[user].Plus(least), user); r.Refused() {
			b.giveUp(p, r, out)
			continue
		}
		options := p.options(most)
		if len(options) == 0 {
			b.giveUp(p, reason(bourse.NoMoney, "its cheapest window costs %v credits, more than can be reckoned with", least), out)
			continue
		}
		vo += least
		users[user] += least
		c.candidates = append(c.candidates, p)
		c.options = append(c.options, options)
	}
}

// maxSum bounds the sums of a selection.
const maxSum bourse.Credits = 1 << 61

// covered checks sums that the VO and a user would have to pay against what
// they can still promise.
func (b *Broker) covered(vo, users bourse.Credits, user string) bourse.Reason {
	if left := b.voLeft(); vo > left {
		return reason(bourse.NoMoney, "%v credits are wanted with the jobs served before, the VO's account has %v left", vo, left)
	}
	if left := b.userLeft(user); users > left {
		return reason(bourse.NoMoney, "%v credits are wanted with the jobs served before, %s's quota has %v left", users, user, left)
	}
	return bourse.Reason{}
}

// selectOnce selects among the candidates. The VO's account binds beside B*:
// where it covers less than was chosen, it takes the place of B*.
func (b *Broker) selectOnce() selection.Result {
	c := &b.cycle
	given := selection.Limits{Time: b.cfg.TimeLimit, Cost: b.cfg.BudgetLimit}
	r := c.selector.Select(c.options, b.cfg.Minimize, given)
	limits := r.Limits
	if left := b.voLeft(); r.Chosen != nil && r.Cost > left {
		given.Cost = left
		r = c.selector.Select(c.options, b.cfg.Minimize, given)
		if r.Chosen == nil {
			r.Reason = reason(bourse.NoMoney, "the VO's account has %v credits left; %v", left, r.Reason)
		}
	}
	c.costLimit, c.timeLimit = bourse.MaxCredits, bourse.MaxDuration
	if b.cfg.bindsBudget() && limits.Cost != selection.Auto {
		c.costLimit = limits.Cost
	}
	if b.cfg.bindsTime() {
		c.timeLimit = limits.Time
	}
	c.summary.TimeLimit, c.summary.BudgetLimit = limits.Time, max(0, limits.Cost)
	return r
}

// withinQuotas reports whether no user's chosen windows pass his quota. If one's
// do, the job of his that is furthest above its cheapest alternative loses what
// it was given and all that is as dear; their cheapest together are within, so
// this ends.
func (b *Broker) withinQuotas() bool {
	c := &b.cycle
	if len(b.cfg.Quotas) == 0 {
		return true
	}
	sums := map[string]bourse.Credits{}
	for _, p := range c.candidates {
		sums[p.job.User] += p.alternatives[p.choice].cost
	}
	worst, excess := -1, bourse.Credits(0)
	for i, p := range c.candidates {
		if sums[p.job.User] <= b.userLeft(p.job.User) {
			continue
		}
		least := slices.MinFunc(c.options[i], func(a, b selection.Alternative) int { return cmp.Compare(a.Cost, b.Cost) })
		if e := p.alternatives[p.choice].cost - least.Cost; e > excess {
			worst, excess = i, e
		}
	}
	if worst < 0 {
		return true
	}
	p := c.candidates[worst]
	dear := p.alternatives[p.choice].cost
	p.alternatives = slices.DeleteFunc(p.alternatives, func(a alternative) bool { return a.cost >= dear })
	c.options[worst] = p.options(b.voLeft())
	return false
}

// options drops the alternatives that are dearer than most, and returns what
// selection is to see of the others.
func (p *plan) options(most bourse.Credits) []selection.Alternative {
	p.alternatives = slices.DeleteFunc(p.alternatives, func(a alternative) bool { return a.cost > most })
	list := make([]selection.Alternative, len(p.alternatives))
	for i := range p.alternatives {
		a := &p.alternatives[i]
		list[i] = selection.Alternative{Time: a.time, Cost: a.cost, End: a.end}
	}
	return list
}

// try begins a transaction of the job's chosen alternative or, after a refusal,
// of the next best that fits what is left. It reports false, and postpones the
// job, when there is none or MaxTries are done.
func (b *Broker) try(now bourse.Time, p *plan, out *agents.Outbox) bool {
	if p.tries < b.cfg.MaxTries {
		if a := b.pick(now, p); a != nil {
			b.begin(now, p, a, out)
			return true
		}
	}
	b.giveUp(p, p.why, out)
	return false
}

// pick returns the alternative to try: the chosen one first, then the best of
// those not tried. One that does not fit what B*, T* and the accounts leave, or
// has come too near, or has a leg at a site that has left or is lost, is passed over.
func (b *Broker) pick(now bourse.Time, p *plan) *alternative {
	var best *alternative
	for i := range p.alternatives {
		a := &p.alternatives[i]
		if a.tried {
			continue
		}
		if r := b.fits(now, p, a); r.Refused() {
			if p.tries == 0 && (i == p.choice || p.why.Code == bourse.None) {
				p.why = r
			}
			continue
		}
		if p.tries == 0 && i == p.choice {
			return a
		}
		if best == nil || b.better(a, best) {
			best = a
		}
	}
	if best != nil && b.cfg.oneByOne() {
		best = &p.alternatives[b.preferred(p, func(a *alternative) bool { return !a.tried && !b.fits(now, p, a).Refused() })]
	}
	return best
}

// better is the order in which alternatives are tried after the chosen one: by
// what is minimised, then the cheaper, then the earlier found.
func (b *Broker) better(x, y *alternative) bool {
	first := 0
	switch b.cfg.Minimize {
	case selection.MinTime:
		first = cmp.Compare(x.time, y.time)
	case selection.MinFinish:
		first = cmp.Compare(x.end, y.end)
	}
	return cmp.Or(first, cmp.Compare(x.cost, y.cost), cmp.Compare(x.number, y.number)) < 0
}

// minNotice is the least notice at which a window is still tried where there is
// latency: sites refuse a Hold that starts sooner.
const minNotice = 2 * bourse.Second

// fits says why an alternative cannot be tried now.
func (b *Broker) fits(now bourse.Time, p *plan, a *alternative) bourse.Reason {
	c := &b.cycle
	switch {
	case a.start() < now, b.cfg.Lead > 0 && a.start() <= now.Add(minNotice):
		return reason(bourse.Past, "its window at %v came too near before it could be held", a.start())
	case a.cost > c.costLimit-c.cost:
		return reason(bourse.LimitBudget, "its window costs %v credits, B* leaves %v", a.cost, c.costLimit-c.cost)
	case a.time > c.timeLimit-c.time:
		return reason(bourse.LimitTime, "its window takes %v s, T* leaves %v", a.time, c.timeLimit-c.time)
	}
	for i := range a.legs {
		switch x := b.peers[b.sites[a.legs[i].site]]; {
		case x != nil && !x.member:
			return reason(bourse.NoOffer, "%s, which had offered a part of its window, has left", x.name)
		case x != nil && x.lost != nil:
			return reason(bourse.NoOffer, "%s, which had offered a part of its window, is lost", x.name)
		}
		if name := siteName(b.sites[a.legs[i].site]); b.isShut(now, name, p.job.User) {
			return reason(bourse.NotAllowed, "%s is closed to %s, and is not asked before %v", name, cmp.Or(p.job.User, "users without a name"), b.bars[pair{name, p.job.User}].Until)
		}
	}
	return b.covered(a.cost, a.cost, p.job.User)
}

// limits is the most that is paid for each leg: what the job's budget leaves
// after the quotes of the other legs. What all legs may cost beyond their quotes
// together is capped by what B* and the accounts leave, the first legs having
// the first claim: the pending sum never passes an account, and a price that
// would make the cycle pass B* is refused by its site.
func (b *Broker) limits(p *plan, a *alternative) []bourse.Credits {
	c := &b.cycle
	slack := p.job.Budget - a.cost
	spare := min(c.costLimit-c.cost, b.voLeft(), b.userLeft(p.job.User)) - a.cost
	list := make([]bourse.Credits, len(a.legs))
	for i := range a.legs {
		extra := min(slack, spare)
		spare -= extra
		list[i] = a.legs[i].quote.Fare.Total() + extra
	}
	return list
}
