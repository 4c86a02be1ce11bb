package planning

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/placement"
)

// Under the goal value policy/placement places a batch together, to minimise the sum of
// cost + urgency x (end - ready). B* and T* bind only if an operator has set them. A job
// may have a goal and an urgency of its own.

// market is what the sites offer, as placement sees it.
func (d *Draft) market() *placement.Market {
	return &placement.Market{Groups: d.Groups, Admissible: d.admissible, Clear: d.clear, From: d.in.From, To: d.in.Horizon}
}

// placing lists the jobs that take part as placement sees them, and the index of each in
// the Input.
func (d *Draft) placing(plans []Plan) (jobs []placement.Job, which []int) {
	in := d.in
	for i := range in.Jobs {
		if plans[i].Over || d.divides(i) {
			continue
		}
		j := &in.Jobs[i]
		x := placement.Job{Request: j.Request, User: j.User, Priority: j.Priority, Goal: in.goal(j), Worth: in.worth(j),
			Seed: in.seed(j.Name), Barred: d.barredGroups(j)}
		if in.mayWait(j, d) {
			x.Patience, x.Latest = in.Terms.Wait, max(in.From, j.Request.Ready).Add(in.Terms.Patience)
		}
		if in.Terms.capped() {
			x.Barred, x.Capped = d.withoutDear(x.Barred, j.Request.MaxPrice), true
		}
		jobs, which = append(jobs, x), append(which, i)
	}
	return jobs, which
}

// goal is what a job minimises.
func (in *Input) goal(j *Job) grid.Goal { return cmp.Or(j.Request.Minimize, grid.GoalValue) }

// worth is what ending an hour earlier is worth to a job. To one that does not say, where an
// hour is worth anything at all, it is worth so much at least that a wait as long as its run
// costs it a share of its budget: the bounded slowdown (Feitelson and others, Theory and
// practice in parallel job scheduling, 1997), with runs under a minute taken as a minute. An
// hour's share of a budget for some seconds would let it wait for hours for a cheaper node.
func (in *Input) worth(j *Job) grid.Credits {
	w := j.Request.Urgency.Else(in.Terms.Urgency).Of(j.Request.Budget)
	if j.Request.Urgency != 0 || w == 0 || in.Terms.Slowdown == 0 {
		return w
	}
	run := int64(max(j.Request.Length, shortest))
	return max(w, min(grid.MaxUrgency, grid.Credits(grid.MulDiv(int64(j.Request.Budget), in.Terms.Slowdown*int64(grid.Hour), 1000*run))))
}

// shortest is the least run time by which a wait is judged.
const shortest = grid.Minute

// Waiting is what waiting for d costs a job; MaxCredits if its goal is to be early.
func (in *Input) Waiting(j *Job, d grid.Duration) grid.Credits {
	if g := in.goal(j); g == grid.GoalFinish || g == grid.GoalTime {
		return grid.MaxCredits
	}
	return grid.Cost(grid.Price(in.worth(j)), d)
}

// mayWait reports whether a job may pass over the windows there are and wait for a better
// one: it has not waited too long, its goal is not to be early, and its deadline leaves
// time.
func (in *Input) mayWait(j *Job, d *Draft) bool {
	t := in.Terms.Patience
	if t == 0 || in.From.Sub(j.Submit) >= t {
		return false
	}
	if g := in.goal(j); g != grid.GoalValue && g != grid.GoalCost {
		return false
	}
	r := &j.Request
	soonest := d.soonest(r)
	return r.Deadline == grid.Never || soonest < grid.Never && soonest.Add(2*t) <= r.Deadline
}

// withoutDear adds to the groups that a job may not use those with a price above its cap.
// For prices that change over time the search checks the cap.
func (d *Draft) withoutDear(barred []bool, most grid.Price) []bool {
	for g := range d.Groups {
		if d.Groups[g].Curve == nil && d.Groups[g].Price > most {
			if barred == nil {
				barred = make([]bool, len(d.Groups))
			}
			barred[g] = true
		}
	}
	return barred
}

// bounds are the limits that an operator has set for a placement.
func (t *Terms) bounds() placement.Limits {
	l := placement.Unlimited
	if t.BudgetLimit >= 0 {
		l.Cost = t.BudgetLimit
	}
	if t.TimeLimit >= 0 {
		l.Time = t.TimeLimit
	}
	l.Weight = t.Weight
	return l
}

// place returns a placer for the jobs that take part, and the index of each in the Input.
// The lists of slots are made once a cycle and reused.
func (p *Planner) place(d *Draft, plans []Plan, limits placement.Limits) (*placement.Placer, []int) {
	jobs, which := d.placing(plans)
	switch {
	case p.placer == nil:
		p.placer = placement.New(d.market(), jobs, limits)
	case p.drafted != d:
		p.placer = p.placer.On(d.market(), jobs, limits)
	case slices.Equal(which, p.which):
		p.placer = p.placer.Again(limits)
	default:
		p.placer = p.placer.With(jobs, limits)
	}
	p.drafted, p.which = d, which
	return p.placer, which
}

// findValue is the search under the goal value, including time-shared nodes.
func (p *Planner) findValue(d *Draft) {
	for _, i := range p.valuable(d) {
		plan, j := &d.Jobs[i], &d.in.Jobs[i]
		n := len(plan.Alternatives)
		plan.addShares(d, j)
		d.Lose(i, plan.Alternatives[n:])
		if len(plan.Alternatives) == 0 {
			d.postpone(i, p.whyNone(d, i))
		}
	}
}

// valuable adds, for each job that takes part, the windows worth a quote, least loss first.
// They may overlap. It returns those jobs.
func (p *Planner) valuable(d *Draft) []int {
	in := d.in
	placer, which := p.place(d, d.Jobs, in.Terms.bounds())
	d.Slots = placer.Slots()
	windows := placer.Plan(in.Terms.MaxAlternatives)
	for k, i := range which {
		plan, j := &d.Jobs[i], &in.Jobs[i]
		list := make([]grid.Window, len(windows[k]))
		for n := range list {
			list[n] = windows[k][n].Window
		}
		plan.add(d, j, list)
		for n := range list {
			plan.Alternatives[n].Copies = windows[k][n].Copies
		}
		d.Lose(i, plan.Alternatives)
	}
	return append(which, p.valuableParts(d)...)
}

// whyNone says why a job would have no window even alone.
func (p *Planner) whyNone(d *Draft, job int) grid.Reason {
	j := &d.in.Jobs[job]
	p.open(d, d.admissible)
	if why := p.windows(d, []int{job}, max(1, len(j.Request.Sizes))).Reasons[0]; why.Refused() {
		return why
	}
	return reason(grid.NoWindow, "it has no window before the horizon %v within T*", d.in.Horizon)
}

// Lose sets the loss of each of a job's alternatives, at its present price.
func (d *Draft) Lose(job int, list []Alternative) {
	for i := range list {
		list[i].Loss = d.loss(&d.in.Jobs[job], list[i].Cost, list[i].Start(), list[i].End)
	}
}

// loss is what a job loses by a window, with the cost weighted.
func (d *Draft) loss(j *Job, cost grid.Credits, start, end grid.Time) grid.Credits {
	x := placement.Job{Request: j.Request, Goal: d.in.goal(j), Worth: d.in.worth(j)}
	return x.Loss(placement.Weigh(cost, d.in.Terms.Weight), start, end)
}

// placeAll picks a window for each job that takes part: a priced alternative, or a window
// that is clear of every queue, at base price.
func (c *chooser) placeAll() {
	d, in := c.d, c.d.in
	limits := in.Terms.bounds()
	given := limits.Cost
	limits.Cost = min(limits.Cost, c.q.Left)
	limits.Users = c.q.Quotas
	placer, which := c.place(d, c.o.Jobs, limits)
	quoted := make([][]placement.Window, len(which))
	for k, i := range which {
		p := &c.o.Jobs[i]
		quoted[k] = make([]placement.Window, 0, len(p.Alternatives))
		for n := range p.Alternatives {
			a := &p.Alternatives[n]
			quoted[k] = append(quoted[k], placer.Quoted(k, a.Number, a.Size, a.window(), a.Cost))
		}
	}
	choices := placer.Choose(quoted)
	for k, i := range which {
		c.take(i, &choices[k])
		if choices[k].Behind() {
			c.o.Behind++
		}
		if in.goal(&in.Jobs[i]) == grid.GoalValue {
			c.o.Regret = c.o.Regret.Plus(choices[k].Regret())
		}
	}
	if given < grid.MaxCredits {
		c.o.BudgetLimit = given
	}
	c.o.TimeLimit = limits.Time
	c.placeParts()
	users := map[string]grid.Credits{}
	for k, i := range which {
		if choices[k].Placed {
			users[in.Jobs[i].User] += choices[k].Window.Price
		}
	}
	for k, i := range which {
		if !choices[k].Placed {
			c.giveUp(i, c.whyNot(i, &choices[k], users[in.Jobs[i].User]))
		}
	}
}

// take notes the window that a job gets.
func (c *chooser) take(job int, choice *placement.Choice) {
	if !choice.Placed {
		return
	}
	p, j := &c.o.Jobs[job], &c.d.in.Jobs[job]
	w := &choice.Window
	p.Choice = slices.IndexFunc(p.Alternatives, func(a Alternative) bool { return a.Number == w.Number })
	if p.Choice < 0 {
		p.Choice = c.found(p, j, w)
	}
	c.o.Time += w.Time
	c.o.Cost = c.o.Cost.Plus(w.Price)
}

// found adds a window found by the choice to a job's alternatives, unless the first choice
// has already found it, and returns its index.
func (c *chooser) found(p *Plan, j *Job, w *placement.Window) int {
	n := len(p.Alternatives)
	p.add(c.d, j, []grid.Window{w.Window})
	a := &p.Alternatives[n]
	if c.again {
		if old := slices.IndexFunc(p.Alternatives[:n], func(x Alternative) bool { return slices.Equal(x.Legs, a.Legs) }); old >= 0 {
			p.Alternatives, p.Found = p.Alternatives[:n], p.Found-1
			return old
		}
	}
	a.Quotes = make([]grid.Quote, len(a.Legs))
	for l := range a.Legs {
		a.Quotes[l].Fare = a.Legs[l].Base
	}
	return n
}

// whyNot says why a job that has windows gets none. spent is what its user's other jobs
// cost.
func (c *chooser) whyNot(job int, choice *placement.Choice, spent grid.Credits) grid.Reason {
	p, j := &c.o.Jobs[job], &c.d.in.Jobs[job]
	least := grid.MaxCredits
	for n := range p.Alternatives {
		least = min(least, p.Alternatives[n].Cost)
	}
	if choice.Possible {
		least = min(least, choice.Alone.Price)
	}
	switch w := &choice.Left; choice.Wait {
	case placement.TooFar:
		return reason(grid.Waits, "its best window starts only at %v: nothing is lost by waiting for a better one, until %v", w.Start, j.Submit.Add(c.d.in.Terms.Patience))
	case placement.TooDear:
		return reason(grid.Waits, "money is short, a credit weighs %v: its best window costs %v, more than it is worth to it", grid.Credits(c.d.in.Terms.Weight*1000), w.Price)
	case placement.Crowded:
		return reason(grid.Waits, "the jobs of its batch leave it a window that ends at %v for %v credits, which is worth less than to wait %v s for the next chance", w.End(), w.Price, c.d.in.Terms.Wait)
	}
	if least == grid.MaxCredits {
		if p.Why.Refused() {
			return p.Why
		}
		return reason(grid.NoWindow, "no site has a window for it that it may use")
	}
	if r := Covered(c.o.Cost.Plus(least), c.q.Left, spent.Plus(least), c.q.userLeft(j.User), j.User); r.Refused() {
		return r
	}
	if left := c.o.BudgetLimit - c.o.Cost; least > left {
		return reason(grid.LimitBudget, "its cheapest window costs %v credits, B* leaves %v", least, left)
	}
	if left := c.o.TimeLimit - c.o.Time; choice.Possible && choice.Alone.Time > left {
		return reason(grid.LimitTime, "its best window takes %v s, T* leaves %v", choice.Alone.Time, left)
	}
	return reason(grid.NoWindow, "the other jobs of its batch leave it no window")
}

// window is an alternative as placement sees it. Work on time-shared nodes takes no slots.
func (a *Alternative) window() grid.Window {
	w := grid.Window{Start: a.Start(), Time: a.Time, Cost: a.Cost, Bounded: a.Bounded}
	for i := range a.Legs {
		l := &a.Legs[i]
		if l.What.Work == 0 {
			w.Parts = append(w.Parts, grid.Part{Group: l.Group, Count: int32(l.What.Nodes), Start: l.What.Start, End: l.What.End, Cost: l.Base.Base, Of: l.Part})
		}
	}
	return w
}

// soonest is the earliest end that a request could have if everything were free.
func (d *Draft) soonest(r *grid.Request) grid.Time {
	if r.Composed() {
		return d.soonestOf(r)
	}
	fastest := d.fastest
	if !r.Require.None() { // most require nothing: the fastest group decides
		fastest = d.reach().fastest(r)
	}
	if fastest < max(1, r.MinPerformance) {
		return grid.Never
	}
	return max(d.in.From, r.Ready).Add(fastest.Runtime(r.Shortest()))
}

// soonestOf is soonest for a job of parts.
func (d *Draft) soonestOf(r *grid.Request) (end grid.Time) {
	for i := range r.Parts {
		p := r.Parts[i].Request(r)
		p.Ready = max(d.in.From, r.Ready).Add(r.Parts[i].Offset)
		end = max(end, d.soonest(&p))
	}
	return end
}
