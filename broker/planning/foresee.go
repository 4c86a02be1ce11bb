package planning

import (
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/portions"
)

// What jobs would get that nobody has submitted: the plan of a cycle of their own, and two more
// of the same batch beside it. Nothing is held for them.

// Foresight is what such plans need.
type Foresight struct {
	Input Input
	Funds Quotes          // what the accounts leave; of its quotes nothing is read
	After [][]int         // by job: the earlier jobs of the Input that it comes after
	Gaps  []grid.Duration // by job: after the last of them
	Known []grid.Reason   // by job: it gets no window for that, whatever is free
	Queue []bool          // by job: it buys no window, and goes into a site's queue
}

// Foreseen is what a job would get. Without a window now there is nothing later or elsewhere.
type Foreseen struct {
	Now       JobOutcome
	Later     JobOutcome // ready LaterBy after that window begins
	Elsewhere JobOutcome // on none of the sites of that window
	Queue     *Queued    // in a site's best-effort queue instead; nil: not known
	Sites     []AtSite   // of sites that forecast their queues, in order of name
}

// LaterBy is how much later the second plan looks.
const LaterBy = 30 * grid.Minute

// Ask asks sites for quotes of what a Draft wants, each leg by itself or together, and answers
// by site: nil for a site that has not answered, whose base prices are then shown as a guess.
type Ask func(wanted []Wanted, together bool) [][]grid.Quote

// Foresee plans the jobs, those that come after others in a further round, when the windows of
// the earlier ones are taken. It costs three plans of the jobs of each round, each with up to
// two questions to the sites, and a search for each job. ask and queues may be nil:
// nobody is asked.
func (p *Planner) Foresee(f *Foresight, ask Ask, queues InQueues) []Foreseen {
	out := make([]Foreseen, len(f.Input.Jobs))
	in, funds := f.Input, f.Funds
	in.Sites, funds.Quotas = slices.Clone(in.Sites), maps.Clone(funds.Quotas)
	behind := f.behindQueues()
	for _, round := range f.rounds() {
		in.Jobs = nil
		var places []int
		for _, i := range round {
			if why := f.blocked(i, behind, out); why.Refused() {
				out[i].Now = JobOutcome{Job: f.Input.Jobs[i].Name, Reason: why}
				behind[i] = none
				continue
			}
			if behind[i] != none {
				out[i].Now.Job = f.Input.Jobs[i].Name
				continue
			}
			j := f.Input.Jobs[i]
			for _, k := range f.After[i] {
				j.Request.Ready = max(j.Request.Ready, out[k].Now.Taken().End.Add(f.Gaps[i]))
			}
			in.Jobs, places = append(in.Jobs, j), append(places, i)
		}
		if len(in.Jobs) == 0 {
			continue
		}
		now := p.outcomes(&in, funds, ask)
		later, elsewhere := p.variant(&in, funds, ask, now, put), p.variant(&in, funds, ask, now, without)
		for n, i := range places {
			out[i].Queue = p.queued(&in, &in.Jobs[n])
			if out[i].Now = now[n]; now[n].Taken() != nil {
				out[i].Later, out[i].Elsewhere = later[n], elsewhere[n]
			}
		}
		in.take(now)
		funds.spend(&in, now)
	}
	if queues != nil {
		in, funds = f.Input, f.Funds
		in.Jobs = slices.Clone(in.Jobs)
		for i := range in.Jobs { // what waits for others is not queued now
			in.Jobs[i].Gone = f.Known[i].Refused() || len(f.After[i]) > 0
		}
		p.atSites(&in, funds, ask, queues, out)
	}
	for i, first := range behind {
		if first != none {
			out[i].Now.Reason = f.waits(i, first, out)
		}
	}
	return out
}

// none stands for no job.
const none = -1

// behindQueues is, by job, the first job that goes into a queue of those that it comes after, directly
// or by way of others; none: it waits for no queue. It buys its window once that one has begun.
func (f *Foresight) behindQueues() []int {
	list := make([]int, len(f.Input.Jobs))
	for i := range list {
		list[i] = none
		for _, k := range f.After[i] { // earlier in the list
			first := list[k]
			if f.queued(k) {
				first = k
			}
			if list[i] == none {
				list[i] = first
			}
		}
	}
	return list
}

// queued reports whether a job goes into a queue.
func (f *Foresight) queued(i int) bool { return f.Queue[i] && !f.Known[i].Refused() }

// waits says that a job waits for one in a queue, and until when that will probably last.
func (f *Foresight) waits(i, first int, out []Foreseen) grid.Reason {
	const waits = "it waits for %s, which goes into a queue, and buys a window once that has begun"
	name, from := f.Input.Jobs[first].Name, max(f.Input.From, f.Input.Jobs[i].Request.Ready)
	for _, k := range f.After[i] {
		end := f.ends(k, &out[k])
		if end >= grid.Never.Add(-f.Gaps[i]) {
			return reason(grid.After, waits+": when it could start cannot be told", name)
		}
		from = max(from, end.Add(f.Gaps[i]))
	}
	return reason(grid.After, waits+": it could start at about %v, by the forecast of that queue", name, from)
}

// ends is when a job will probably have ended: with its window, or its length after its likely begin in
// the queue where that is soonest. Never: nobody knows.
func (f *Foresight) ends(i int, x *Foreseen) grid.Time {
	if w := x.Now.Taken(); w != nil {
		return w.End
	}
	at := grid.Never
	if f.queued(i) {
		for k := range x.Sites {
			at = min(at, x.Sites[k].Queued.Median)
		}
	}
	if at >= grid.MaxTime {
		return grid.Never
	}
	r := &f.Input.Jobs[i].Request
	return max(at, r.Ready).Add(r.Length)
}

// rounds lists the jobs, each in a later round than those that it comes after.
func (f *Foresight) rounds() [][]int {
	var list [][]int
	of := make([]int, len(f.Input.Jobs))
	for i := range f.Input.Jobs {
		for _, k := range f.After[i] {
			of[i] = max(of[i], of[k]+1)
		}
		for len(list) <= of[i] {
			list = append(list, nil)
		}
		list[of[i]] = append(list[of[i]], i)
	}
	return list
}

// blocked says why a job gets no window whatever is free.
func (f *Foresight) blocked(i int, behind []int, out []Foreseen) grid.Reason {
	switch {
	case f.Known[i].Refused():
		return f.Known[i]
	case f.Queue[i]:
		return reason(grid.NoOffer, "it goes into a queue instead, where it will probably begin first")
	}
	for _, k := range f.After[i] {
		if out[k].Now.Taken() == nil && !f.queued(k) && behind[k] == none {
			return reason(grid.After, "it comes after %s, which gets no window", f.Input.Jobs[k].Name)
		}
	}
	return grid.Reason{}
}

// outcomes plans and chooses once, and asks for quotes where a cycle would.
func (p *Planner) outcomes(in *Input, funds Quotes, ask Ask) []JobOutcome {
	if ask == nil {
		ask = func([]Wanted, bool) [][]grid.Quote { return nil }
	}
	d := p.Plan(in)
	named, known := make([][]grid.Quote, len(in.Sites)), make([]bool, len(in.Sites))
	if slices.ContainsFunc(d.Wanted, func(w Wanted) bool { return len(w.Legs) > 0 }) {
		copy(named, ask(d.Wanted, false))
	}
	for i := range d.Wanted {
		w := &d.Wanted[i]
		if known[i] = len(named[i]) == len(w.Legs); known[i] {
			continue
		}
		named[i] = nil
		for n := range w.Legs {
			named[i] = append(named[i], grid.Quote{Fare: w.base[n]})
		}
	}
	funds.Sites = named
	o := p.Choose(d, &funds)
	if sets := d.Together(o); sets != nil {
		if funds.Sets = ask(sets, true); funds.Sets != nil {
			o = p.Choose(d, &funds)
		}
	}
	return d.show(&funds, o, func(_ int, l *Leg) bool { return l.Contended && !known[l.Site] })
}

// variant plans the jobs once more with other requests, in view of what each gets now.
func (p *Planner) variant(in *Input, funds Quotes, ask Ask, now []JobOutcome, change func(*grid.Request, *Option)) []JobOutcome {
	other := *in
	other.Jobs = slices.Clone(in.Jobs)
	for i := range other.Jobs {
		if got := now[i].Taken(); got != nil {
			change(&other.Jobs[i].Request, got)
		} else {
			other.Jobs[i].Gone = true
		}
	}
	funds.Gone = make([]bool, len(other.Jobs))
	for i := range other.Jobs {
		funds.Gone[i] = other.Jobs[i].Gone
	}
	return p.outcomes(&other, funds, ask)
}

// put has a job ready only some time after the window that it gets now.
func put(r *grid.Request, got *Option) { r.Ready = got.Start.Add(LaterBy) }

// without leaves out the sites of the window that a job gets now, for each of its parts.
func without(r *grid.Request, got *Option) {
	var taken []string
	for i := range got.Legs {
		taken = append(taken, got.Legs[i].Site)
	}
	r.Avoid = joined(r.Avoid, taken)
	r.Parts = slices.Clone(r.Parts)
	for k := range r.Parts {
		r.Parts[k].Avoid = joined(r.Parts[k].Avoid, taken)
	}
}

// joined is a new list of names of two, each once.
func joined(a, b []string) []string {
	list := slices.Concat(a, b)
	slices.Sort(list)
	return slices.Compact(list)
}

// take takes windows out of what the sites have free. The profiles of other Inputs stay.
func (in *Input) take(list []JobOutcome) {
	for i := range list {
		got := list[i].Taken()
		if got == nil {
			continue
		}
		for k := range got.Legs {
			l := &got.Legs[k]
			s := &in.Sites[slices.IndexFunc(in.Sites, func(s Site) bool { return s.Name == l.Site })]
			g := slices.IndexFunc(s.Groups, func(g agents.GroupOffer) bool { return g.Group.Name == l.Leg.Group })
			if g < 0 || l.Leg.Work > 0 { // of time-shared nodes nothing is taken away
				continue
			}
			s.Groups = slices.Clone(s.Groups)
			x := &s.Groups[g]
			x.Admissible = x.Admissible.Clone()
			if l.Leg.Part.Some() {
				x.Opened = cloneOpened(x.Opened)
				ground := portions.Ground{Group: &x.Group, Free: x.Admissible, Opened: x.Opened}
				ground.Lay(&l.Leg)
				x.Admissible, x.Opened = ground.Free, ground.Opened
			} else {
				x.Admissible.Add(l.Leg.Start, l.Leg.End, -l.Leg.Nodes)
			}
			if len(x.Clear) > 0 {
				x.Clear = x.Clear.Least(x.Admissible)
			}
		}
	}
}

// spend takes the price of windows from the accounts.
func (q *Quotes) spend(in *Input, list []JobOutcome) {
	for i := range list {
		got := list[i].Taken()
		if got == nil {
			continue
		}
		cost := got.Fare.Total()
		q.Left -= min(cost, q.Left)
		if left, bound := q.Quotas[in.Jobs[i].User]; bound {
			q.Quotas[in.Jobs[i].User] = max(left, cost) - cost
		}
	}
}
