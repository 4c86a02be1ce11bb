package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
)

// Outcome is what a plan comes to for one job.
type Outcome struct {
	Job         string
	Options     []Option // all alternatives that were found, in that order
	Chosen      int      // number of the option, 0: none
	Reason      bourse.Reason
	TimeLimit   bourse.Duration // T* in force, MaxDuration where none binds
	BudgetLimit bourse.Credits  // B* in force, MaxCredits where none binds
}

// Option is one alternative.
type Option struct {
	Number int // from 1, in the order found
	Start  bourse.Time
	End    bourse.Time
	Time   bourse.Duration
	Fare   bourse.Fare
	Legs   []OptionLeg
	Out    bourse.Reason // why it took no part in the selection; None if it did
}

// OptionLeg is one leg of it.
type OptionLeg struct {
	Site      string
	Leg       bourse.Leg
	Fare      bourse.Fare
	Delayed   int // waiting jobs that would start later
	Contended bool
	Refusal   bourse.Reason // of its quote
	Guess     bool          // contended, and not quoted in the cycle: at base price, the site might add to that
}

// Taken returns the option that was chosen, nil if none was.
func (o *Outcome) Taken() *Option {
	i := slices.IndexFunc(o.Options, func(x Option) bool { return x.Number == o.Chosen })
	if i < 0 {
		return nil
	}
	return &o.Options[i]
}

// Guessed reports whether a leg's price is not one that its site has quoted.
func (o *Option) Guessed() bool {
	return slices.ContainsFunc(o.Legs, func(l OptionLeg) bool { return l.Guess })
}

// finishRerun is what is left of a plan once there are quotes.
func (b *Broker) finishRerun(out *agents.Outbox) []Outcome {
	c := &b.cycle
	found := make([][]alternative, len(c.plans))
	for i := range c.plans {
		found[i] = slices.Clone(c.plans[i].alternatives)
	}
	if len(c.market.groups) > 0 {
		b.choose(out)
	} else {
		c.costLimit, c.timeLimit = bourse.MaxCredits, bourse.MaxDuration
	}
	why := map[string]bourse.Reason{}
	for _, f := range out.Facts {
		if p, ok := f.(bourse.JobPostponed); ok {
			why[p.Job] = p.Reason
		}
	}
	list := make([]Outcome, len(c.plans))
	for i := range c.plans {
		p := &c.plans[i]
		o := Outcome{Job: p.job.Name, Reason: why[p.job.Name], TimeLimit: c.timeLimit, BudgetLimit: c.costLimit}
		for k := range found[i] {
			o.Options = append(o.Options, b.option(p, &found[i][k]))
		}
		for k := range p.alternatives {
			if a := &p.alternatives[k]; a.number > len(found[i]) {
				o.Options = append(o.Options, b.option(p, a))
			}
		}
		if p.choice >= 0 && !p.over {
			o.Chosen = p.alternatives[p.choice].number
		}
		list[i] = o
	}
	return list
}

// option shows an alternative, and why it is not among the plan's any more.
func (b *Broker) option(p *plan, a *alternative) Option {
	o := Option{Number: a.number, Start: a.start(), End: a.end, Time: a.time}
	for i := range a.legs {
		l := &a.legs[i]
		site := siteName(b.sites[l.site])
		o.Legs = append(o.Legs, OptionLeg{Site: site, Leg: l.what, Fare: l.quote.Fare, Delayed: l.quote.Delayed,
			Contended: l.contended, Refusal: l.quote.Refusal, Guess: l.guess})
		o.Fare.Base, o.Fare.Additive = o.Fare.Base.Plus(l.quote.Fare.Base), o.Fare.Additive.Plus(l.quote.Fare.Additive)
		if l.quote.Refusal.Refused() && !o.Out.Refused() {
			o.Out = l.quote.Refusal
			o.Out = reason(o.Out.Code, "%s: %v", site, o.Out)
		}
	}
	switch cost := o.Fare.Total(); {
	case o.Out.Refused():
	case cost > p.job.Budget:
		o.Out = reason(bourse.OverBudget, "%v credits, the budget is %v", cost, p.job.Budget)
	case !p.over && !slices.ContainsFunc(p.alternatives, func(x alternative) bool { return x.number == a.number }):
		o.Out = reason(bourse.NoMoney, "%v credits are more than the accounts leave", cost)
	}
	return o
}
