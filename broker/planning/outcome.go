package planning

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// JobOutcome is the result of a plan for one job, with all alternatives that were found.
type JobOutcome struct {
	Job         string
	Options     []Option      // all alternatives, in the order found
	Chosen      int           // number of the option, 0: none
	Reason      grid.Reason   // why the job was postponed
	TimeLimit   grid.Duration // T* in force, MaxDuration if none binds
	BudgetLimit grid.Credits  // B* in force, MaxCredits if none binds
	Wants       Wants         // under GoalValue
}

// Wants is what a job minimises in a cycle by value, and what ending an hour earlier is
// worth to it.
type Wants struct {
	Goal  grid.Goal
	Worth grid.Credits
}

// Option is one alternative.
type Option struct {
	Number  int // from 1, in the order found
	Start   grid.Time
	End     grid.Time
	Time    grid.Duration
	Fare    grid.Fare
	Loss    grid.Credits // under GoalValue: its loss by the job's goal and urgency
	Copies  int          // under GoalValue: how many more windows are like it
	Bounded bool         // the search for it reached its bound: there may be a better one
	Legs    []OptionLeg
	Out     grid.Reason // why it took no part in the selection; no reason if it did
}

// OptionLeg is one leg of an option.
type OptionLeg struct {
	Site      string
	Part      string // of a job of parts, the one that it carries
	Leg       grid.Leg
	Fare      grid.Fare
	Delayed   int // waiting jobs that would start later
	Contended bool
	Refusal   grid.Reason // in its quote
	Guess     bool        // contended but not quoted in the cycle: the fare is its base price, to which the site might add
}

// Taken returns the option that was chosen, or nil.
func (o *JobOutcome) Taken() *Option {
	i := slices.IndexFunc(o.Options, func(x Option) bool { return x.Number == o.Chosen })
	if i < 0 {
		return nil
	}
	return &o.Options[i]
}

// Guessed reports whether the price of any leg is a guess.
func (o *Option) Guessed() bool {
	return slices.ContainsFunc(o.Legs, func(l OptionLeg) bool { return l.Guess })
}

// show lists the outcome of a choice, job by job. guess says which legs' quotes were
// guessed; nil: none.
func (d *Draft) show(q *Quotes, o *Outcome, guess func(job int, l *Leg) bool) []JobOutcome {
	why := make([]grid.Reason, len(o.Jobs))
	for _, list := range [][]Postponed{d.Postponed, o.Postponed} {
		for i := range list {
			why[list[i].Job] = list[i].Reason
		}
	}
	found := d.quoted(q)
	shown := make([]JobOutcome, len(o.Jobs))
	for i := range o.Jobs {
		p := &o.Jobs[i]
		s := JobOutcome{Job: d.in.Jobs[i].Name, Reason: why[i], TimeLimit: o.TimeLimit, BudgetLimit: o.BudgetLimit}
		if d.in.Terms.ByValue() {
			s.Wants = Wants{d.in.goal(&d.in.Jobs[i]), d.in.worth(&d.in.Jobs[i])}
		}
		show := func(a *Alternative) {
			x := d.option(&d.in.Jobs[i], p, a)
			for n := range a.Legs {
				x.Legs[n].Guess = guess != nil && guess(i, &a.Legs[n])
			}
			s.Options = append(s.Options, x)
		}
		set := Alternative{}
		if o.sets != nil {
			set = o.sets[i]
		}
		for k := range found[i].Alternatives {
			if a := &found[i].Alternatives[k]; a.Number == set.Number {
				show(&set)
			} else {
				show(a)
			}
		}
		for k := range p.Alternatives {
			if a := &p.Alternatives[k]; a.Number > len(found[i].Alternatives) { // from the second search
				show(a)
			}
		}
		if a := p.Chosen(); a != nil {
			s.Chosen = a.Number
		}
		shown[i] = s
	}
	return shown
}

// option shows an alternative and, if the plan no longer has it, why.
func (d *Draft) option(j *Job, p *Plan, a *Alternative) Option {
	o := Option{Number: a.Number, Start: a.Start(), End: a.End, Time: a.Time, Copies: a.Copies, Bounded: a.Bounded}
	for i := range a.Legs {
		l, q := &a.Legs[i], &a.Quotes[i]
		site := d.in.Sites[l.Site].Name
		o.Legs = append(o.Legs, OptionLeg{Site: site, Leg: l.What, Fare: q.Fare, Delayed: q.Delayed, Contended: l.Contended, Refusal: q.Refusal})
		if j.Request.Composed() {
			o.Legs[i].Part = j.Request.Parts[l.Part].Name
		}
		o.Fare.Base, o.Fare.Additive = o.Fare.Base.Plus(q.Fare.Base), o.Fare.Additive.Plus(q.Fare.Additive)
		if q.Refusal.Refused() && !o.Out.Refused() {
			o.Out = q.Refusal
			o.Out = reason(o.Out.Code, "%s: %v", site, o.Out)
		}
	}
	if d.in.Terms.ByValue() {
		o.Loss = d.loss(j, o.Fare.Total(), o.Start, o.End)
	}
	switch cost := o.Fare.Total(); {
	case o.Out.Refused():
	case cost > j.Request.Budget:
		o.Out = reason(grid.OverBudget, "%v credits, the budget is %v", cost, j.Request.Budget)
	case !p.Over && !slices.ContainsFunc(p.Alternatives, func(x Alternative) bool { return x.Number == a.Number }):
		o.Out = reason(grid.NoMoney, "%v credits are more than the accounts leave", cost)
	}
	return o
}
