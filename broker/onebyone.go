package broker

import (
	"fmt"
	"hash/fnv"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/choice"
	"bourse/policy/search"
	"bourse/policy/selection"
)

// A broker whose strategy is not a batch takes jobs one by one: each opens a
// cycle of its own as it arrives, and goes whole to one group of one site, by
// choice.Rule over the quotes of all. Jobs are not weighed against each other, so
// neither B* nor T* binds; budgets, accounts and quotas do. What finds no place
// waits for the next multiple of Config.Cycle, and is then tried again by itself.

// oneByOne reports whether jobs are taken one by one.
func (c *Config) oneByOne() bool { return c.Strategy != choice.Batch }

// batch is how many jobs one cycle looks at.
func (c *Config) batch() int {
	if c.oneByOne() {
		return 1
	}
	return c.BatchSize
}

// rounds is how many cycles may follow one another when one fires: as many as
// look at MaxCycles x BatchSize jobs.
func (c *Config) rounds() int {
	if c.oneByOne() {
		return c.MaxCycles * c.BatchSize
	}
	return c.MaxCycles
}

func (c *Config) checkStrategy() error {
	switch {
	case c.Strategy > choice.Random:
		return fmt.Errorf("broker %q: strategy %d is none", c.Name, c.Strategy)
	case c.Alpha < 0 || c.Alpha > choice.One:
		return fmt.Errorf("broker %q: alpha %v is outside 0..1", c.Name, c.Alpha)
	case c.oneByOne() && (c.BudgetLimit != selection.Auto || c.TimeLimit != selection.Auto):
		return fmt.Errorf("broker %q: budget_limit and time_limit bind the jobs of a batch; with strategy %v leave them out", c.Name, c.Strategy)
	}
	return nil
}

// lookEach is phase 3 one by one: the starts of each group worth a quote.
func (b *Broker) lookEach(out *agents.Outbox) {
	for i := range b.cycle.plans {
		p := &b.cycle.plans[i]
		if p.over {
			continue
		}
		if why := b.cycle.starts(p, b.cfg.Algorithm == search.ALP, b.cfg.MaxAlternatives); len(p.alternatives) == 0 {
			b.giveUp(p, why, out)
		}
	}
}

// starts makes alternatives of the starts that the groups have room for, at most
// so many of each group, and says why there are none. Those of a moldable job are
// dealt among its sizes. capped: the job's price cap binds each node.
func (c *cycle) starts(p *plan, capped bool, most int) bourse.Reason {
	m := &c.market
	why := reason(bourse.NoNode, "no group of any site has nodes such as it asks for")
	sizes := p.request.Dealt(most)
	for at := range m.groups {
		g := &m.groups[at]
		if g.Performance < p.request.MinPerformance || !p.request.Require.MetBy(g.Machine) || p.shut != nil && p.shut[m.siteOf[at]] {
			continue
		}
		left := most
		for _, z := range sizes {
			if left == 0 {
				break
			}
			n, r := c.startsAt(p, at, z, capped, min(left, max(most/len(sizes), 2)))
			left -= n
			why = nearer(why, r)
		}
	}
	return why
}

// startsAt makes alternatives of the starts that a group has room for a size at,
// at most so many: how many there are, or why there are none.
func (c *cycle) startsAt(p *plan, at int, z bourse.Size, capped bool, most int) (int, bourse.Reason) {
	r, m := p.request.At(z), &c.market
	g := &m.groups[at]
	from, to := max(c.from, r.Ready), min(c.horizon, r.Deadline)
	d := g.Performance.Runtime(r.Length)
	base := bourse.Cost(g.Price, d).Times(r.Nodes)
	if r.Nodes > g.Nodes {
		return 0, reason(bourse.TooLarge, "no group of suited nodes has %d of them", r.Nodes)
	}
	list := startsOf(m.admissible[at], m.clear[at], r.Nodes, d, from, to, most)
	if len(list) == 0 {
		return 0, reason(bourse.NoWindow, "no group has %d nodes free for it between %v and %v", r.Nodes, from, to)
	}
	if capped && g.Price > r.MaxPrice {
		return 0, reason(bourse.OverBudget, "%s asks for %v credits per node-hour, the price cap is %v", g.Site, g.Price, r.MaxPrice)
	}
	if base > r.Budget {
		return 0, reason(bourse.OverBudget, "%s asks for %v credits at the least, the budget is %v", g.Site, base, r.Budget)
	}
	for _, s := range list {
		p.found++
		p.alternatives = append(p.alternatives, alternative{number: p.found, size: z, time: d, end: s.Add(d), cost: base, legs: []planLeg{{
			group: int32(at), site: m.siteOf[at], contended: m.clear[at].Min(s, s.Add(d)) < r.Nodes,
			what:  bourse.Leg{Group: g.Name, Nodes: r.Nodes, Start: s, End: s.Add(d)},
			quote: bourse.Quote{Fare: bourse.Fare{Base: base}},
		}}})
	}
	return len(list), bourse.Reason{}
}

// nearer is the reason of the group that came nearer to having room.
func nearer(x, y bourse.Reason) bourse.Reason {
	order := []bourse.Code{bourse.NoNode, bourse.TooLarge, bourse.NoWindow, bourse.OverBudget}
	if slices.Index(order, y.Code) > slices.Index(order, x.Code) {
		return y
	}
	return x
}

// startsOf lists the starts of n nodes for d within [from, to) that are worth a
// quote: the earliest, and those at which what is free changes, up to the first
// that is clear of the queue's plan; later ones are no cheaper. Of more than most
// it keeps that many, the first and the last among them, as even as can be. It
// costs a sort of the steps, and for each that is looked at those within d.
func startsOf(admissible, clear bourse.Profile, n int, d bourse.Duration, from, to bourse.Time, most int) []bourse.Time {
	last := min(clear.EarliestFit(max(from, clear[0].At), n, d), to.Add(-d))
	instants := []bourse.Time{from}
	for _, p := range []bourse.Profile{admissible, clear} {
		for _, step := range p {
			if step.At > from && step.At <= last {
				instants = append(instants, step.At)
			}
		}
	}
	slices.Sort(instants)
	var list []bourse.Time
	fit := bourse.Time(-1) // the earliest start at or after the instant before
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

// maxInstants bounds how many instants of a group are looked at.
const maxInstants = 4096

// thin keeps most of a list, the first and the last among them.
func thin(list []bourse.Time, most int) []bourse.Time {
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

// dropLost gives up the jobs whose every start fell to its price: the cheapest of
// each group, clear of its queue, was among them.
func (b *Broker) dropLost(out *agents.Outbox) {
	for i := range b.cycle.plans {
		if p := &b.cycle.plans[i]; !p.over && len(p.alternatives) == 0 {
			b.giveUp(p, p.why, out)
		}
	}
}

// takeEach is phase 6 one by one.
func (b *Broker) takeEach(out *agents.Outbox) {
	c := &b.cycle
	c.costLimit, c.timeLimit = bourse.MaxCredits, bourse.MaxDuration
	b.affordable(out)
	for _, p := range c.candidates {
		p.choice = b.preferred(p, func(a *alternative) bool {
			return !b.covered(a.cost, a.cost, p.job.User).Refused()
		})
		if p.choice >= 0 {
			c.summary.Time += p.alternatives[p.choice].time
			c.summary.Cost = c.summary.Cost.Plus(p.alternatives[p.choice].cost)
		}
	}
}

// preferred is the index of the alternative that the strategy takes among those
// that can be had, -1 if there is none. A moldable job first takes a size: of those
// that can be had the one preferred (see bourse.Request.Preferred).
func (b *Broker) preferred(p *plan, can func(*alternative) bool) int {
	var list []choice.Candidate
	var index []int
	size := p.size(can)
	for i := range p.alternatives {
		a := &p.alternatives[i]
		if a.size != size || !can(a) {
			continue
		}
		g := a.legs[0].group
		list = append(list, choice.Candidate{Site: int(a.legs[0].site), Start: a.start(), End: a.end, Cost: a.cost,
			Backlog: b.cycle.market.queued[g] / bourse.Duration(max(1, b.cycle.market.groups[g].Nodes))})
		index = append(index, i)
	}
	rule := choice.Rule{Strategy: b.cfg.Strategy, Alpha: b.cfg.Alpha, Draw: b.draw(p.job.Name)}
	if best := rule.Best(list); best >= 0 {
		return index[best]
	}
	return -1
}

// draw is the number that a job draws in this cycle: a function of Config.Draws,
// the job's name and the cycle, so that a restart and a rerun draw the same.
func (b *Broker) draw(job string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", b.cfg.Draws, b.cycle.number, job)
	x := h.Sum64() // its low bits are poor: mixed as by splitmix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
