package planning

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/placement"
)

// With a strategy that is not a batch, each job goes whole to one group of one site, by
// choice.Rule over all quotes. Jobs are not weighed against each other, so neither B* nor
// T* binds; budgets, accounts and quotas do.

// findStarts adds, for each job, alternatives at the starts of each group worth a quote.
func (p *Planner) findStarts(d *Draft) {
	for i := range d.Jobs {
		if d.Jobs[i].Over {
			continue
		}
		if d.in.Jobs[i].Request.Composed() || d.divides(i) {
			p.findFirst(d, i)
			continue
		}
		p := &d.Jobs[i]
		if why := p.starts(d, &d.in.Jobs[i]); len(p.Alternatives) == 0 {
			d.postpone(i, why)
		}
	}
}

// starts adds alternatives at starts for which the groups have room, at most
// MaxAlternatives for each group, or says why there are none. For a moldable job they are
// divided among its sizes.
func (p *Plan) starts(d *Draft, j *Job) grid.Reason {
	why := reason(grid.NoNode, "no group of any site has nodes such as it asks for")
	most := d.in.Terms.MaxAlternatives
	sizes, barred := j.Request.Dealt(most), d.in.barredSites(j)
	for at := range d.Groups {
		if !Suits(&d.Groups[at], &j.Request) || barred != nil && barred[d.siteOf[at]] {
			continue
		}
		left := most
		for _, z := range sizes {
			if left == 0 {
				break
			}
			n, r := p.startsAt(d, j, at, z, min(left, max(most/len(sizes), 2)))
			left -= n
			why = nearer(why, r)
		}
	}
	return why
}

// startsAt adds at most most alternatives at starts for which a group has room for a size.
// It returns how many it has added, or why none.
func (p *Plan) startsAt(d *Draft, j *Job, at int, z grid.Size, most int) (int, grid.Reason) {
	r, g := j.Request.At(z), &d.Groups[at]
	from, to := max(d.in.From, r.Ready), min(d.in.Horizon, r.Deadline)
	length := g.Performance.Runtime(r.Length)
	if r.Nodes > g.Nodes {
		return 0, reason(grid.TooLarge, "no group of suited nodes has %d of them", r.Nodes)
	}
	if !g.Allows(length) {
		return 0, reason(grid.TooLarge, "it takes %s on nodes of %s/%s, which allow no window longer than %s", length.Words(), g.Site, g.Name, g.Longest.Words())
	}
	list, why := d.startsOn(at, &r, length, from, to, most)
	for _, s := range list {
		base := g.Cost(s, s.Add(length)).Times(r.Nodes)
		p.Found++
		p.Alternatives = append(p.Alternatives, Alternative{Number: p.Found, Size: z, Time: length, End: s.Add(length), Cost: base, Legs: []Leg{{
			Group: int32(at), Site: d.siteOf[at], Contended: d.clear[at].Min(s, s.Add(length)) < r.Nodes,
			What: grid.Leg{Group: g.Name, Nodes: r.Nodes, Start: s, End: s.Add(length)},
			Base: grid.Fare{Base: base},
		}}})
	}
	return len(list), why
}

// startsOn lists at most most starts of a request on a group that are worth a quote, or
// says why there are none.
func (d *Draft) startsOn(at int, r *grid.Request, length grid.Duration, from, to grid.Time, most int) ([]grid.Time, grid.Reason) {
	g := &d.Groups[at]
	if g.Curve != nil {
		return d.startsUnder(at, r, length, from, to, most)
	}
	list := startsOf(d.admissible[at], d.clear[at], r.Nodes, length, from, to, most)
	if len(list) == 0 {
		return nil, reason(grid.NoWindow, "no group has %s free for it between %v and %v", grid.Count(r.Nodes, "node"), from, to)
	}
	if d.in.Terms.capped() && g.Price > r.MaxPrice {
		return nil, reason(grid.OverBudget, "%s asks for %v credits per node-hour, the price cap is %v", g.Site, g.Price, r.MaxPrice)
	}
	if base := grid.Cost(g.Price, length).Times(r.Nodes); base > r.Budget {
		return nil, reason(grid.OverBudget, "%s asks for %v credits at the least, the budget is %v", g.Site, base, r.Budget)
	}
	return list, grid.Reason{}
}

// startsUnder is startsOn for a group whose price changes over time. There a start after
// the first clear one may be cheaper. So it looks at all starts, including those where the
// price or the free nodes change at the leg's start or end: between two of those the cost is
// a straight line. It always keeps the cheapest.
func (d *Draft) startsUnder(at int, r *grid.Request, length grid.Duration, from, to grid.Time, most int) ([]grid.Time, grid.Reason) {
	g, free, last := &d.Groups[at], d.admissible[at], to.Add(-length)
	instants := []grid.Time{from}
	add := func(t grid.Time) {
		if t > from && t <= last {
			instants = append(instants, t)
		}
	}
	for _, p := range []grid.Profile{free, d.clear[at]} {
		for _, step := range p {
			add(step.At)
			add(step.At.Add(-length)) // nodes may be busy from there on
		}
	}
	for t := g.Curve.Next(from); t < to; t = g.Curve.Next(t) {
		add(min(t, last)) // if the change comes after the last start, that may be the cheapest
		add(t.Add(-length))
	}
	slices.Sort(instants)
	why := reason(grid.NoWindow, "no group has %s free for it between %v and %v", grid.Count(r.Nodes, "node"), from, to)
	var list []grid.Time
	best, cheapest := grid.Time(0), grid.MaxCredits
	for _, t := range thin(slices.Compact(instants), maxInstants) {
		end := t.Add(length)
		if t > last || t < free[0].At || free.Min(t, end) < r.Nodes {
			continue
		}
		if dear := g.Dearest(t, end); d.in.Terms.capped() && dear > r.MaxPrice {
			why = nearer(why, reason(grid.OverBudget, "%s asks for up to %v credits per node-hour, the price cap is %v", g.Site, dear, r.MaxPrice))
			continue
		}
		base := g.Cost(t, end).Times(r.Nodes)
		if base < cheapest {
			best, cheapest = t, base
		}
		if base <= r.Budget {
			list = append(list, t)
		}
	}
	switch {
	case cheapest == grid.MaxCredits:
		return nil, why
	case len(list) == 0:
		return nil, reason(grid.OverBudget, "%s asks for %v credits at the least, the budget is %v", g.Site, cheapest, r.Budget)
	}
	if list = thin(list, most); !slices.Contains(list, best) {
		list[len(list)-1] = best
		slices.Sort(list)
	}
	return list, grid.Reason{}
}

// nearer is the reason from the group that came nearer to serving the job.
func nearer(x, y grid.Reason) grid.Reason {
	order := []grid.Code{grid.NoNode, grid.TooLarge, grid.NoWindow, grid.OverBudget}
	if slices.Index(order, y.Code) > slices.Index(order, x.Code) {
		return y
	}
	return x
}

// startsOf lists the starts of n nodes for d within [from, to) that are worth a quote: the
// earliest, and those at which the number of free nodes changes, up to the first that is
// clear of the queue's plan; later ones are no cheaper. If there are more than most it
// keeps that many, evenly spread, including the first and the last. It sorts the profiles'
// steps and, for each instant, looks at the steps within d.
func startsOf(admissible, clear grid.Profile, n int, d grid.Duration, from, to grid.Time, most int) []grid.Time {
	last := min(clear.EarliestFit(max(from, clear[0].At), n, d), to.Add(-d))
	instants := []grid.Time{from}
	for _, p := range []grid.Profile{admissible, clear} {
		for _, step := range p {
			if step.At > from && step.At <= last {
				instants = append(instants, step.At)
			}
		}
	}
	slices.Sort(instants)
	var list []grid.Time
	fit := grid.Time(-1) // the earliest start at or after the previous instant
	for _, t := range thin(slices.Compact(instants), maxInstants) {
		if fit < t {
			fit = admissible.EarliestFit(max(t, admissible[0].At), n, d)
		}
		if fit == t && t <= last {
			list = append(list, t)
		}
	}
	return thin(list, most)
}

// maxInstants bounds how many instants of a group are considered.
const maxInstants = 4096

// thin keeps at most most elements of a list, evenly spread, including the first and, if
// most is above 1, the last.
func thin(list []grid.Time, most int) []grid.Time {
	n := len(list)
	if n <= most {
		return list
	}
	if most == 1 {
		return list[:1]
	}
	for i := range most {
		list[i] = list[i*(n-1)/(most-1)]
	}
	return list[:most]
}

// dropLost gives up the jobs that lost every start to its price. No second search helps:
// the cheapest start of each group, clear of its queue, was among them.
func (c *chooser) dropLost() {
	for i := range c.o.Jobs {
		if p := &c.o.Jobs[i]; !p.Over && len(p.Alternatives) == 0 {
			c.giveUp(i, p.Why)
		}
	}
}

// takeEach picks, for each candidate, what the strategy prefers of what the accounts cover.
func (c *chooser) takeEach() {
	for _, i := range c.candidates {
		p, user := &c.o.Jobs[i], c.d.in.Jobs[i].User
		p.Choice = c.d.Preferred(i, p.Alternatives, func(a *Alternative) bool {
			return !Covered(a.Cost, c.q.Left, a.Cost, c.q.userLeft(user), user).Refused()
		})
		if p.Choice >= 0 {
			c.o.Time += p.Alternatives[p.Choice].Time
			c.o.Cost = c.o.Cost.Plus(p.Alternatives[p.Choice].Cost)
		}
	}
}

// Preferred is the index of the alternative that the strategy takes for a job among those
// for which can is true, or -1 if there is none. A moldable job first settles on the size
// it prefers of those that can be had (see grid.Request.Preferred).
func (d *Draft) Preferred(job int, alternatives []Alternative, can func(*Alternative) bool) int {
	var list []choice.Candidate
	var index []int
	j, t := &d.in.Jobs[job], &d.in.Terms
	size := preferredSize(&j.Request, alternatives, can)
	for i := range alternatives {
		a := &alternatives[i]
		if a.Size != size || !can(a) {
			continue
		}
		g, w := a.Legs[0].Group, &a.Legs[0].What
		c := choice.Candidate{Site: int(a.Legs[0].Site), Start: a.Start(), End: a.End, Cost: a.Cost,
			Backlog: d.queued[g] / grid.Duration(max(1, d.Groups[g].Nodes))}
		if t.Strategy.Queues() && len(d.clear[g]) > 0 {
			c.Queued = d.clear[g].EarliestFit(max(d.in.From, j.Request.Ready, d.clear[g][0].At), w.Nodes, w.Duration())
		}
		list = append(list, c)
		index = append(index, i)
	}
	rule := choice.Rule{Strategy: t.Strategy, Alpha: t.Alpha, Draw: d.in.draw(j.Name)}
	var ties *placement.Ties
	rule.Tie = func(i, k int) int {
		if ties == nil {
			ties = placement.NewTies(d.market())
			ties.Draw(d.in.seed(j.Name))
		}
		return ties.CompareGroups(alternatives[index[i]].Legs[0].Group, alternatives[index[k]].Legs[0].Group)
	}
	if best := rule.Best(list); best >= 0 {
		return index[best]
	}
	return -1
}

// preferredSize is the preferred size among the alternatives for which can is true, or zero.
func preferredSize(r *grid.Request, alternatives []Alternative, can func(*Alternative) bool) grid.Size {
	if len(r.Sizes) == 0 {
		return r.Preferred()[0]
	}
	for _, z := range r.Preferred() {
		for i := range alternatives {
			if a := &alternatives[i]; a.Size == z && can(a) {
				return z
			}
		}
	}
	return grid.Size{}
}

// seed is a number, different for each job and cycle, that breaks a job's ties.
func (in *Input) seed(job string) uint64 { return in.draw(job) }

// draw is the number that a job draws in this cycle: a function of Terms.Draws,
// the job's name and the cycle, so that a restart and a rerun draw the same.
func (in *Input) draw(job string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", in.Terms.Draws, in.Cycle, job)
	x := h.Sum64() // mix as splitmix64 does, because FNV's low bits are poor
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
