package planning

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/placement"
	"github.com/bourse-grid/bourse/policy/selection"
)

// B* and T* bind if an operator sets them; else the papers' other limit binds under their
// goals, and neither by value.
func TestTerms_WhichLimitBinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goal         grid.Goal
		budget, time bool
	}{{grid.GoalTime, true, false}, {grid.GoalCost, false, true}, {grid.GoalFinish, true, false}, {grid.GoalValue, false, false}} {
		auto := Terms{Minimize: c.goal, BudgetLimit: selection.Auto, TimeLimit: selection.Auto}
		if auto.BindsBudget() != c.budget || auto.BindsTime() != c.time {
			t.Errorf("%v: B* binds %t, T* %t", c.goal, auto.BindsBudget(), auto.BindsTime())
		}
		set := Terms{Minimize: c.goal}
		if !set.BindsBudget() || !set.BindsTime() {
			t.Errorf("%v: B* of 0 binds %t, T* of 0 %t", c.goal, set.BindsBudget(), set.BindsTime())
		}
	}
	if one := (&Terms{Minimize: grid.GoalValue, Strategy: choice.Random}); !one.OneByOne() || one.ByValue() {
		t.Error("jobs that are taken one by one are not placed by value")
	}
}

// The alternative to try first once the chosen window is gone: the one with less of the measure
// that is minimised, then the cheaper, then the one found first.
func TestTerms_BetterIsWhatIsMinimisedThenCostThenOrder(t *testing.T) {
	t.Parallel()
	dear := Alternative{Number: 1, Time: 5, End: 5, Loss: 5, Cost: 9}
	for goal, change := range map[grid.Goal]func(*Alternative){
		grid.GoalValue:  func(a *Alternative) { a.Loss = 4 },
		grid.GoalTime:   func(a *Alternative) { a.Time = 4 },
		grid.GoalFinish: func(a *Alternative) { a.End = 4 },
		grid.GoalCost:   func(a *Alternative) { a.Cost = 7 },
	} {
		terms := Terms{Minimize: goal}
		best, cheap, late := dear, dear, dear
		change(&best)
		cheap.Number, cheap.Cost, late.Number = 2, 8, 3
		order := []Alternative{best, cheap, dear, late}
		for i := range order {
			for k := range order {
				if got := terms.Better(&order[i], &order[k]); got != (i < k) {
					t.Errorf("%v: %+v before %+v: %t", goal, order[i], order[k], got)
				}
			}
		}
	}
}

// drafted is a draft of one site with an hour's windows of the given costs for each job; the
// dearer ones are the quicker ones.
func drafted(terms Terms, costs map[string][]grid.Credits) *Draft {
	in := &Input{Horizon: 20_000 * sec, Terms: terms, Sites: []Site{{Name: "s", Answer: Usable, Groups: []agents.GroupOffer{{
		Group: grid.Group{Site: "s", Name: "g", Nodes: 9, Performance: grid.Unit}, Admissible: grid.NewProfile(0, 9), Clear: grid.NewProfile(0, 9)}}}}}
	for _, name := range []string{"a", "b", "c"} {
		if costs[name] != nil {
			in.Jobs = append(in.Jobs, Job{Name: name, User: "ana", Deadline: grid.Never, Request: grid.Request{Nodes: 1, Length: grid.Hour, Budget: grid.MaxBudget, Deadline: grid.Never}})
		}
	}
	d := newDraft(in)
	for i := range in.Jobs {
		var windows []grid.Window
		for _, cost := range costs[in.Jobs[i].Name] {
			end := 5000*sec - grid.Time(cost)*sec
			windows = append(windows, grid.Window{Time: end.Sub(0), Cost: cost, Parts: []grid.Part{{Count: 1, End: end, Cost: cost}}})
		}
		d.Jobs[i].add(d, &in.Jobs[i], windows)
	}
	d.list()
	return d
}

// If the best choice passes a user's quota, the job that is furthest above its cheapest window
// gives that up, again and again, until all is within the quota.
func TestChoose_AQuotaMovesWhoIsFurthestAboveItsCheapest(t *testing.T) {
	t.Parallel()
	terms := Terms{Minimize: grid.GoalTime, BudgetLimit: 1000, TimeLimit: selection.Auto}
	for quota, want := range map[grid.Credits][]grid.Credits{
		100: {10, 6, 3}, 19: {10, 6, 3}, 18: {10, 5, 3}, 17: {10, 2, 3}, 15: {10, 2, 3}, 14: {10, 2, 1}, 13: {10, 2, 1}, 12: {9, 2, 1},
	} {
		d := drafted(terms, map[string][]grid.Credits{"a": {9, 10}, "b": {2, 5, 6}, "c": {1, 3}})
		o := new(Planner).Choose(d, &Quotes{Sites: make([][]grid.Quote, 1), Left: 1000, Quotas: map[string]grid.Credits{"ana": quota}})
		for i, cost := range want {
			if a := o.Jobs[i].Chosen(); a == nil || a.Cost != cost {
				t.Errorf("quota %d: job %d gets %+v, want one for %d", quota, i, a, cost)
			}
		}
	}
}

// Where not all jobs can be had within B* those served first have the first claim, and the
// others are told of the limit.
func TestChoose_WithinTheLimitThoseServedFirstComeFirst(t *testing.T) {
	t.Parallel()
	for limit, want := range map[grid.Credits]string{13: "abc", 12: "ab", 11: "ab", 10: "ac", 9: "ac", 8: "a", 7: "a", 6: "bc", 5: "b", 3: "c", 1: ""} {
		d := drafted(Terms{Minimize: grid.GoalTime, BudgetLimit: limit, TimeLimit: selection.Auto}, map[string][]grid.Credits{"a": {7}, "b": {4}, "c": {2}})
		o := new(Planner).Choose(d, &Quotes{Sites: make([][]grid.Quote, 1), Left: 1000})
		got := ""
		for i := range o.Jobs {
			if o.Jobs[i].Chosen() != nil {
				got += d.in.Jobs[i].Name
			}
		}
		for _, x := range o.Postponed {
			if x.Reason.Code != grid.LimitBudget {
				t.Errorf("B* %d: %s is postponed: %v", limit, d.in.Jobs[x.Job].Name, x.Reason)
			}
		}
		if len(got)+len(o.Postponed) != 3 {
			t.Errorf("B* %d: %q are served, %d told why not", limit, got, len(o.Postponed))
		}
		if want != got {
			t.Errorf("B* %d: %q are served, want %q", limit, got, want)
		}
	}
}

// limited is the choice for two jobs of a credit and 1000 s each, under an operator's limits.
func limited(t *testing.T, change func(*Input, *Quotes)) (*Draft, *Quotes, *Outcome) {
	t.Helper()
	var p Planner
	in := twoJobs()
	q := &Quotes{Left: grid.MaxBudget}
	change(in, q)
	d := p.Plan(in)
	q.Sites = make([][]grid.Quote, 2)
	for n := range d.Wanted[0].Legs {
		q.Sites[0] = append(q.Sites[0], grid.Quote{Fare: d.Wanted[0].base[n]})
	}
	return d, q, p.Choose(d, q)
}

// By value an operator's limits hold for all windows together, and so do the account and the
// quotas; who is left out is told which of them it was. A rerun with as much more as is
// missing serves both, and leaves the record as it was.
func TestChoose_ByValueWithinWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(in *Input, q *Quotes)
		budget grid.Credits
		time   grid.Duration
		code   grid.Code
		more   Change
	}{
		"B*":      {func(in *Input, _ *Quotes) { in.Terms.BudgetLimit = 3 * grid.Credit / 2 }, 3 * grid.Credit / 2, grid.MaxDuration, grid.LimitBudget, Change{Limit: grid.Credit / 2}},
		"T*":      {func(in *Input, _ *Quotes) { in.Terms.TimeLimit = 1500 * grid.Second }, grid.MaxCredits, 1500 * grid.Second, grid.LimitTime, Change{}},
		"account": {func(_ *Input, q *Quotes) { q.Left = 3 * grid.Credit / 2 }, grid.MaxCredits, grid.MaxDuration, grid.NoMoney, Change{Money: grid.Credit / 2}},
		"quota":   {func(_ *Input, q *Quotes) { q.Quotas = map[string]grid.Credits{"": 3 * grid.Credit / 2} }, grid.MaxCredits, grid.MaxDuration, grid.NoMoney, Change{Money: grid.Credit / 2}},
	} {
		d, q, o := limited(t, c.change)
		if got := places(d.in, o); got != "a north 0 1;" || o.BudgetLimit != c.budget || o.TimeLimit != c.time || len(o.Postponed) != 1 || o.Postponed[0].Reason.Code != c.code {
			t.Errorf("%s: %q, B* %v, T* %v, %+v", name, got, o.BudgetLimit, o.TimeLimit, o.Postponed)
		}
		seen, planned := d.in.Seen(false), d.Planned(q, o, false)
		r, err := NewRerun(&seen, &planned)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []Change{{}, c.more, {}} {
			again, err := r.With("b", x)
			if want := x.Limit+x.Money > 0; err != nil || (again.Taken() != nil) != want {
				t.Errorf("%s, with %+v: %+v, %v", name, x, again, err)
			}
		}
	}
}

// Which limits bind is told with them: those that an operator has set, and of the papers' own
// the other one.
func TestChoose_TellsTheLimitsThatBind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		terms  Terms
		budget grid.Credits
		time   grid.Duration
	}{
		{Terms{Minimize: grid.GoalCost, BudgetLimit: selection.Auto, TimeLimit: 9000 * grid.Second}, grid.MaxCredits, 9000 * grid.Second},
		{Terms{Minimize: grid.GoalCost, BudgetLimit: 100, TimeLimit: 9000 * grid.Second}, 100, 9000 * grid.Second},
		{Terms{Minimize: grid.GoalTime, BudgetLimit: 100, TimeLimit: selection.Auto}, 100, grid.MaxDuration},
		{Terms{Minimize: grid.GoalTime, BudgetLimit: 100, TimeLimit: 9999 * grid.Second}, 100, 9999 * grid.Second},
	} {
		d := drafted(c.terms, map[string][]grid.Credits{"a": {7, 9}})
		o := new(Planner).Choose(d, &Quotes{Sites: make([][]grid.Quote, 1), Left: 1000})
		if o.BudgetLimit != c.budget || o.TimeLimit != c.time || o.Jobs[0].Chosen() == nil {
			t.Errorf("%+v: B* %v, T* %v", c.terms, int64(o.BudgetLimit), o.TimeLimit)
		}
	}
}

// A job that is taken by itself goes whole to one group: if that refuses it, it is not put
// together of clear nodes of others.
func TestChoose_OneByOneIsNotPutTogether(t *testing.T) {
	t.Parallel()
	in := twoJobs()
	in.Terms.Strategy, in.Terms.Minimize = choice.Earliest, grid.GoalTime
	in.Jobs = in.Jobs[:1]
	in.Jobs[0].Request.Nodes = 2
	in.Sites[0].Groups[0].Clear = grid.NewProfile(0, 1) // two nodes, one of them clear
	g := &in.Sites[1].Groups[0]
	g.Group.Nodes, g.Admissible, g.Clear = 1, grid.NewProfile(0, 1), grid.NewProfile(0, 1)
	var p Planner
	d := p.Plan(in)
	q := &Quotes{Sites: make([][]grid.Quote, 2), Left: grid.MaxBudget}
	for range d.Wanted[0].Legs {
		q.Sites[0] = append(q.Sites[0], grid.Quote{Refusal: grid.Reason{Code: grid.Busy, Detail: "somebody is there"}})
	}
	o := p.Choose(d, q)
	if len(q.Sites[0]) == 0 || o.Jobs[0].Chosen() != nil || len(o.Postponed) != 1 || o.Postponed[0].Reason.Code != grid.Busy {
		t.Errorf("%d quotes, chosen %+v, %+v", len(q.Sites[0]), o.Jobs[0].Chosen(), o.Postponed)
	}
}

// By value as many slots are searched as by the papers' rules.
func TestPlan_CountsTheSlots(t *testing.T) {
	t.Parallel()
	in := twoJobs()
	in.Sites[0].Groups[0].Admissible.Add(3000*sec, 4000*sec, -1)
	value := new(Planner).Plan(in).Slots
	in.Terms.Minimize = grid.GoalTime
	if paper := new(Planner).Plan(in).Slots; value != paper || value < 2 {
		t.Errorf("%d slots by value, %d by time", value, paper)
	}
}

// An alternative that both choices find is the same one. A new one gets the next number and costs
// its base price.
func TestFound_WhatTheFirstChoiceHadIsNotFoundTwice(t *testing.T) {
	t.Parallel()
	d := drafted(Terms{Minimize: grid.GoalValue, BudgetLimit: selection.Auto, TimeLimit: selection.Auto}, map[string][]grid.Credits{"a": {7, 9}})
	p, j := &d.Jobs[0], &d.in.Jobs[0]
	c := &chooser{Planner: new(Planner), d: d, q: &Quotes{}, o: &Outcome{}, again: true}
	for k := range p.Alternatives {
		known := placement.Window{Window: p.Alternatives[k].window()}
		if i := c.found(p, j, &known); i != k || p.Found != 2 || len(p.Alternatives) != 2 {
			t.Errorf("window %d, which is known, is alternative %d of %d, %d are found", k, i, len(p.Alternatives), p.Found)
		}
	}
	other := placement.Window{Window: p.Alternatives[0].window()}
	other.Parts = []grid.Part{{Count: 1, Start: sec, End: 100 * sec, Cost: 3}}
	i := c.found(p, j, &other)
	if i != 2 || p.Found != 3 || len(p.Alternatives) != 3 {
		t.Fatalf("a new window is alternative %d of %d, %d are found", i, len(p.Alternatives), p.Found)
	}
	if a := p.Alternatives[2]; a.Number != 3 || len(a.Quotes) != 1 || a.Quotes[0].Fare != (grid.Fare{Base: 3}) {
		t.Errorf("%+v", a)
	}
}
