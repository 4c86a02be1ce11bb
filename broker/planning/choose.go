package planning

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/selection"
)

// chooser is the state of one choice.
type chooser struct {
	*Planner
	d          *Draft
	q          *Quotes
	o          *Outcome
	candidates []int // jobs, in serving order
	again      bool  // the second choice, by value with the prices of sets
}

// unanswered is the refusal of a leg whose site has not answered.
var unanswered = grid.Reason{Code: grid.NoOffer, Detail: "its site did not answer the request for a quote in time"}

// SoundFare reports whether both parts of a fare are within 0..grid.MaxBudget.
func SoundFare(f grid.Fare) bool {
	return f.Base >= 0 && f.Base <= grid.MaxBudget && f.Additive >= 0 && f.Additive <= grid.MaxBudget
}

// answered reports whether a site has given a sensible answer for the nth leg.
func answered(answers []grid.Quote, n int) bool {
	return n < len(answers) && answers[n].Refusal != unanswered && (answers[n].Refusal.Refused() || SoundFare(answers[n].Fare))
}

// quote is a site's answer for the nth leg that it was asked for. An answer that makes no
// sense counts as none.
func (w *Wanted) quote(answers []grid.Quote, n int) grid.Quote {
	if answered(answers, n) {
		return answers[n]
	}
	return grid.Quote{Fare: w.base[n], Refusal: unanswered}
}

// quoted copies the plans of a draft and adds the quotes for their legs.
func (d *Draft) quoted(q *Quotes) []Plan {
	windows, legs := 0, 0
	for i := range d.Jobs {
		windows += len(d.Jobs[i].Alternatives)
		for k := range d.Jobs[i].Alternatives {
			legs += len(d.Jobs[i].Alternatives[k].Legs)
		}
	}
	plans, alternatives, quotes := slices.Clone(d.Jobs), make([]Alternative, windows), make([]grid.Quote, legs)
	next := make([]int, len(d.Wanted)) // by site: the leg whose quote is next
	for i := range plans {
		p := &plans[i]
		p.Over = p.Over || q.Gone != nil && q.Gone[i]
		n := copy(alternatives, p.Alternatives)
		p.Alternatives, alternatives = alternatives[:n:n], alternatives[n:]
		for k := range p.Alternatives {
			a := &p.Alternatives[k]
			n := len(a.Legs)
			a.Quotes, quotes = quotes[:n:n], quotes[n:]
			for x := range a.Legs {
				l := &a.Legs[x]
				if !l.Contended {
					a.Quotes[x].Fare = l.Base
					continue
				}
				a.Quotes[x] = d.Wanted[l.Site].quote(q.Sites[l.Site], next[l.Site])
				next[l.Site]++
			}
		}
	}
	return plans
}

// price sets the cost of each alternative as quoted, and drops those that a site refuses
// or that exceed the job's budget. It reports false if none is left.
func (p *Plan) price(j *Job) bool {
	p.Alternatives = slices.DeleteFunc(p.Alternatives, func(a Alternative) bool {
		for i := range a.Quotes {
			if r := a.Quotes[i].Refusal; r.Refused() {
				p.Why = r
				return true
			}
		}
		if cost := a.quoted(); cost > j.Request.Budget {
			p.Why = reason(grid.OverBudget, "the window at %v costs %v credits with its adaptive part, the budget is %v", a.Start(), cost, j.Request.Budget)
			return true
		}
		return false
	})
	for i := range p.Alternatives {
		p.Alternatives[i].Cost = p.Alternatives[i].quoted()
	}
	return len(p.Alternatives) > 0
}

// quoted is the sum of the legs' quotes.
func (a *Alternative) quoted() grid.Credits {
	var sum grid.Credits
	for i := range a.Quotes {
		sum = sum.Plus(a.Quotes[i].Fare.Total())
	}
	return sum
}

// affordable makes the candidates: in serving order, each job whose cheapest
// alternative the accounts of the VO and of its user still cover.
func (c *chooser) affordable() {
	c.candidates = nil
	c.options = c.options[:0]
	var vo grid.Credits
	users := map[string]grid.Credits{}
	most := min(c.q.Left, maxSum/grid.Credits(max(1, len(c.o.Jobs))))
	for i := range c.o.Jobs {
		p := &c.o.Jobs[i]
		if p.Over {
			continue
		}
		least := grid.MaxCredits
		for k := range p.Alternatives {
			least = min(least, p.Alternatives[k].Cost)
		}
		user := c.d.in.Jobs[i].User
		if r := Covered(vo.Plus(least), c.q.Left, users[user].Plus(least), c.q.userLeft(user), user); r.Refused() {
			c.giveUp(i, r)
			continue
		}
		options := p.options(most)
		if len(options) == 0 {
			c.giveUp(i, reason(grid.NoMoney, "its cheapest window costs %v credits, more than a selection can add up", least))
			continue
		}
		vo += least
		users[user] += least
		c.candidates = append(c.candidates, i)
		c.options = append(c.options, options)
	}
}

// maxSum bounds the sums of a selection.
const maxSum grid.Credits = 1 << 61

// Covered checks that the VO has vo credits left, and its user name user credits under the
// quota; no reason: both have.
func Covered(vo, left, user, quota grid.Credits, name string) grid.Reason {
	if vo > left {
		return reason(grid.NoMoney, "%v credits needed with the jobs served before, the VO's account has %v left", vo, left)
	}
	if user > quota {
		return reason(grid.NoMoney, "%v credits needed with the jobs served before, %s's quota has %v left", user, name, quota)
	}
	return grid.Reason{}
}

// options drops the alternatives that cost more than most, and returns the others as the
// selection sees them.
func (p *Plan) options(most grid.Credits) []selection.Alternative {
	p.Alternatives = slices.DeleteFunc(p.Alternatives, func(a Alternative) bool { return a.Cost > most })
	list := make([]selection.Alternative, len(p.Alternatives))
	for i := range p.Alternatives {
		a := &p.Alternatives[i]
		list[i] = selection.Alternative{Time: a.Time, Cost: a.Cost, End: a.End}
	}
	return list
}

// selectAll picks one alternative a job: the best combination under B*, T* and the
// accounts. If no combination of all jobs is within them, some jobs are postponed; those
// served first have the first claim.
func (c *chooser) selectAll() {
	for len(c.candidates) > 0 {
		r := c.selectOnce()
		if r.Chosen == nil {
			c.dropUnfit()
			continue
		}
		for i, job := range c.candidates {
			c.o.Jobs[job].Choice = r.Chosen[i]
		}
		if c.withinQuotas() && c.laid() {
			c.o.Time, c.o.Cost, c.o.Bounded = r.Time, r.Cost, r.Grid
			return
		}
	}
}

// dropUnfit goes through the candidates in serving order and postpones each one for which
// there is no selection together with those kept before it. It selects once for each.
func (c *chooser) dropUnfit() {
	candidates, options := c.candidates, c.options
	kept := 0
	for i, job := range candidates {
		candidates[kept], options[kept] = job, options[i]
		c.candidates, c.options = candidates[:kept+1], options[:kept+1]
		if r := c.selectOnce(); r.Chosen == nil {
			c.giveUp(job, r.Reason)
			continue
		}
		kept++
	}
	c.candidates, c.options = candidates[:kept], options[:kept]
}

// selectOnce selects among the candidates. The VO's account limits the cost too: if it
// does not cover the selection, it selects again with the account's balance as B*.
func (c *chooser) selectOnce() selection.Result {
	t := &c.d.in.Terms
	given := selection.Limits{Time: t.TimeLimit, Cost: t.BudgetLimit}
	r := c.selector.Select(c.options, t.paper(), given)
	limits := r.Limits
	if left := c.q.Left; r.Chosen != nil && r.Cost > left {
		given.Cost = left
		r = c.selector.Select(c.options, t.paper(), given)
		if r.Chosen == nil {
			r.Reason = reason(grid.NoMoney, "the VO's account has %v credits left; %v", left, r.Reason)
		}
	}
	c.o.BudgetLimit, c.o.TimeLimit = grid.MaxCredits, grid.MaxDuration
	if t.BindsBudget() && limits.Cost != selection.Auto {
		c.o.BudgetLimit = limits.Cost
	}
	if t.BindsTime() {
		c.o.TimeLimit = limits.Time
	}
	c.o.Formula = Limits{Time: limits.Time, Budget: max(0, limits.Cost)}
	return r
}

// withinQuotas reports whether no user's chosen windows exceed the user's quota. If some
// do, it takes the job furthest above its cheapest alternative, among those users' jobs,
// and drops the chosen alternative and all that cost as much or more. The cheapest
// alternatives together are within the quotas, so repeating this ends.
func (c *chooser) withinQuotas() bool {
	if len(c.q.Quotas) == 0 {
		return true
	}
	sums := map[string]grid.Credits{}
	chosen := func(job int) grid.Credits {
		p := &c.o.Jobs[job]
		return p.Alternatives[p.Choice].Cost
	}
	for _, job := range c.candidates {
		sums[c.d.in.Jobs[job].User] += chosen(job)
	}
	worst, excess := -1, grid.Credits(0)
	for i, job := range c.candidates {
		if user := c.d.in.Jobs[job].User; sums[user] <= c.q.userLeft(user) {
			continue
		}
		least := slices.MinFunc(c.options[i], func(a, b selection.Alternative) int { return cmp.Compare(a.Cost, b.Cost) })
		if e := chosen(job) - least.Cost; e > excess {
			worst, excess = i, e
		}
	}
	if worst < 0 {
		return true
	}
	p, dear := &c.o.Jobs[c.candidates[worst]], chosen(c.candidates[worst])
	p.Alternatives = slices.DeleteFunc(p.Alternatives, func(a Alternative) bool { return a.Cost >= dear })
	c.options[worst] = p.options(c.q.Left)
	return false
}
