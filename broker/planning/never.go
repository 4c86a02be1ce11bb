package planning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// What can never run, and what cannot run yet. A request that nothing of what the sites have
// could ever serve, were all of it free, is refused at submission, with the figures; it is
// abandoned if that is known only later. What the sites could serve, and cannot now, waits.
// The same rule holds for every reason, and Verdicts is its one table: Reach.Never asks all of
// it before a submission or a dry run, Draft.Judge what a plan has left open.

// Reach is what all sites have, free or not.
type Reach struct {
	Groups  []grid.Group  // of all sites, those of one site one after the other
	Shared  []bool        // by group: its nodes are time-shared, and it prices work and not nodes
	Horizon grid.Duration // the longest window that the broker plans
	Capped  bool          // the price of each node is held to the job's price cap
	Alone   bool          // a window lies on one group
	Planned bool          // a plan has looked for windows, and so for shares of nodes by the rules of their own
}

// ReachOf is what the groups of sites make up.
func ReachOf(horizon grid.Duration, t Terms) Reach {
	return Reach{Horizon: horizon, Capped: t.Algorithm.CapsPrice() && !t.OneByOne(), Alone: t.OneByOne()}
}

// reach is what the sites that have answered have.
func (d *Draft) reach() *Reach {
	if d.has == nil {
		x := ReachOf(d.in.Horizon.Sub(d.in.From), d.in.Terms)
		x.Groups, x.Shared, x.Planned = d.Groups, d.shared, true
		d.has = &x
	}
	return d.has
}

// Add adds the groups that a site has offered.
func (x *Reach) Add(site string, list []agents.GroupOffer) {
	for i := range list {
		x.Groups, x.Shared = append(x.Groups, groupOf(site, &list[i])), append(x.Shared, list[i].Shared)
	}
}

// Verdict is a reason for which a job is not placed: when it never can be, and when it waits.
type Verdict struct {
	Code  grid.Code
	Never string // when the job is refused or abandoned; "": it never is
	Waits string // when it waits; "": it never does
	never func(*Reach, *grid.Request, grid.Time) grid.Reason
	open  grid.Code // for this reason a plan has no window and has not looked for that one; "": it always looks
}

// Verdicts returns the table, in the order in which a request is judged.
func Verdicts() []Verdict { return slices.Clone(verdicts) }

var verdicts = []Verdict{
	{grid.NoNode, "no node of any site has what is required, or the performance", "a site that could have it is away, or does not answer", noNode, ""},
	{grid.TooLarge, "it asks for more nodes than all suited ones together, or than any site has with `spread = \"one-site\"`; nodes whose group allows no window as long as the job are not suited", "so many nodes exist, and are not free at once: `no-window`", tooLarge, ""},
	{grid.Expired, "it would end after its deadline even if all suited nodes were free from its ready time on", "", tooLate, grid.NoWindow},
	{grid.TooLong, "it takes longer than the broker plans ahead (`horizon`), even on the fastest suited nodes", "", tooLong, grid.NoWindow},
	{grid.OverBudget, "its budget, or its price cap where each node is held to it, is below the least that the suited nodes cost at any time by their price curves", "windows cost more now, and prices by delay or over time may fall", tooDear, grid.OverBudget},
	{grid.NoWindow, "", "the nodes are taken until the horizon or its deadline", nil, ""},
	{grid.NoOffer, "", "no site answered in time", nil, ""},
	{grid.NotAllowed, "its user may not have that priority", "a site is closed to the user", nil, ""},
	{grid.Bound, "it asks for more nodes than its user or tenant may ever have at once", "others of their jobs hold the nodes or credits that they may have", nil, ""},
	{grid.NoMoney, "", "the account or the quota does not cover it now; a deposit or a new period may", nil, ""},
	{grid.After, "a job that it comes after cannot end any more as it must", "a job that it comes after is not placed, or not over, yet", nil, ""},
	{grid.LimitTime, "", "other jobs of its batch needed the VO's limits", nil, ""},
	{grid.LimitBudget, "", "other jobs of its batch needed the VO's limits", nil, ""},
	{grid.Waits, "", "something better than the present windows may come", nil, ""},
	{grid.QueueFull, "", "it is not taken while as many wait as may; submit it again", nil, ""},
}

// Never says why a request can never be served by what the sites have, with the figures; no
// reason: it may be. Its cost is linear in the groups, and in the sizes of a moldable job. A
// job of parts is judged part by part.
func (x *Reach) Never(r *grid.Request, now grid.Time) grid.Reason {
	return x.behind("", r, now)
}

// behind is Never as far as a plan has not looked, which has found no window for a reason. "":
// nothing was planned.
func (x *Reach) behind(open grid.Code, r *grid.Request, now grid.Time) grid.Reason {
	if r.Composed() {
		return x.neverParts(open, r, now)
	}
	for i := range verdicts {
		if v := &verdicts[i]; v.never != nil && (open == "" || v.open == open) {
			if why := v.never(x, r, now); why.Refused() {
				return why
			}
		}
	}
	return grid.Reason{}
}

// noNode judges what is required of each node.
func noNode(x *Reach, r *grid.Request, _ grid.Time) grid.Reason {
	fastest, lacks, barred := grid.Performance(0), "", false
	for i := range x.Groups {
		g := &x.Groups[i]
		if Suits(g, r) {
			return grid.Reason{}
		}
		if !grid.May(g.Site, r.Sites, r.Avoid) {
			barred = true
			continue
		}
		unmet := r.Require.Unmet(g.Machine)
		if unmet == "" {
			_, unmet = r.Portion.On(g)
		}
		if unmet != "" {
			lacks = cmp.Or(lacks, unmet)
		} else {
			fastest = max(fastest, g.Performance)
		}
	}
	where := ""
	if barred {
		where = " at the sites it allows"
	}
	switch {
	case fastest > 0:
		return reason(grid.NoNode, "no node%s has performance %v; the fastest that meets the requirements has %v", where, r.MinPerformance, fastest)
	case lacks != "":
		return reason(grid.NoNode, "no node of any site%s has what is required (%s)", strings.TrimPrefix(where, " at the sites"), lacks)
	case barred:
		return reason(grid.NoNode, "there are no nodes%s", where)
	}
	return grid.Reason{}
}

// most is the most nodes that a window of a request in a size may have: of all groups that
// suit and allow it, or of the site that has most of them.
func (x *Reach) most(r *grid.Request, length grid.Duration) (most int, site string) {
	for i, sum := 0, 0; i < len(x.Groups); i++ {
		g := &x.Groups[i]
		if x.Alone || r.OneSite && i > 0 && g.Site != x.Groups[i-1].Site {
			sum = 0
		}
		if Suits(g, r) && g.Allows(g.Performance.Runtime(length)) {
			sum += g.Nodes
		}
		if sum > most {
			most, site = sum, g.Site
		}
	}
	return most, site
}

// tooLarge judges the number of nodes.
func tooLarge(x *Reach, r *grid.Request, _ grid.Time) grid.Reason {
	most, fewest, site, any := 0, 0, "", 0
	for _, z := range r.Preferred() {
		n, at := x.most(r, z.Length)
		if n >= z.Nodes {
			return grid.Reason{}
		}
		if fewest == 0 || z.Nodes < fewest {
			fewest, most, site = z.Nodes, n, at
		}
		free, _ := x.most(r, 0)
		any = max(any, free)
	}
	short := grid.Phrase("")
	if any > most {
		short = grid.Say("; %d more allow no window of that length", any-most)
	}
	switch {
	case r.OneSite && most > 0:
		return reason(grid.TooLarge, "asks for %s on one site; the most that suit it has %s, %d%v", grid.Count(fewest, "node"), site, most, short)
	case r.OneSite:
		return reason(grid.TooLarge, "asks for %s on one site; no site has any that suit%v", grid.Count(fewest, "node"), short)
	}
	return reason(grid.TooLarge, "asks for %s; the sites have %d that suit%v", grid.Count(fewest, "node"), most, short)
}

// tooLong judges how long the request takes on the fastest nodes. Most need no look at the
// groups: their nodes are no slower than they ask for.
func tooLong(x *Reach, r *grid.Request, _ grid.Time) grid.Reason {
	if r.MinPerformance > 0 && r.MinPerformance.Runtime(r.Longest()) <= x.Horizon {
		return grid.Reason{}
	}
	if takes := x.quickest(r); takes > x.Horizon {
		return reason(grid.TooLong, "takes %v, the horizon allows %v: no window can be that long; it needs a longer horizon or faster nodes",
			grid.Phrase(takes.Words()), grid.Phrase(x.Horizon.Words()))
	}
	return grid.Reason{}
}

// quickest is the shortest time that the request takes on as many nodes as it needs: of one
// group, of one site or of all.
func (x *Reach) quickest(r *grid.Request) grid.Duration {
	pools := map[string]int{}
	return r.Quickest(x.Groups, func(g int) int {
		switch {
		case x.Alone:
			return g
		case !r.OneSite:
			return 0
		}
		site := x.Groups[g].Site
		if _, known := pools[site]; !known {
			pools[site] = len(pools)
		}
		return pools[site]
	})
}

// tooLate judges the deadline, as if the fastest suited nodes sufficed.
func tooLate(x *Reach, r *grid.Request, now grid.Time) grid.Reason {
	if r.Deadline >= grid.Never || !x.Planned && slices.Contains(x.Shared, true) {
		return grid.Reason{}
	}
	end := max(now, r.Ready)
	if fastest := x.fastest(r); fastest > 0 {
		end = end.Add(fastest.Runtime(r.Shortest()))
	}
	if end > r.Deadline {
		return reason(grid.Expired, "it would end at %v at the soonest, after its deadline %v", end, r.Deadline)
	}
	return grid.Reason{}
}

// fastest is the performance of the fastest nodes that suit a request; 0: none do.
func (x *Reach) fastest(r *grid.Request) (fastest grid.Performance) {
	for i := range x.Groups {
		if g := &x.Groups[i]; g.Performance > fastest && serves(g, r) {
			fastest = g.Performance
		}
	}
	return fastest
}

// tooDear judges the money. A site takes something off for freedom that it is given, and prices
// shares of nodes by their work: there is no least price then.
func tooDear(x *Reach, r *grid.Request, _ grid.Time) grid.Reason {
	if r.Flexible > 0 || slices.Contains(x.Shared, true) {
		return grid.Reason{}
	}
	least, said, where := grid.MaxCredits, grid.Credits(0), ""
	cheapest := grid.MaxPrice
	for _, z := range r.Preferred() {
		if cost, about, sites, ok := x.least(r, z); ok && cost < least {
			least, said, where = cost, about, sites
		}
	}
	for i := range x.Groups {
		if g := &x.Groups[i]; Suits(g, r) {
			cheapest = min(cheapest, r.Portion.Price(g, g.Cheapest(-grid.MaxTime, grid.MaxTime)))
		}
	}
	switch {
	case x.Capped && r.MaxPrice < cheapest:
		return reason(grid.OverBudget, "the cheapest suited node never costs less than %v credits per node-hour, the job's price cap is %v", cheapest, r.MaxPrice)
	case where != "" && !x.Capped && r.Budget < least:
		return reason(grid.OverBudget, "costs at least %v credits, on %s at the lowest base price that they ever have, and the budget is %v", said, where, r.Budget)
	}
	return grid.Reason{}
}

// least is the least that a window of a size can cost: on its cheapest nodes, each at the
// lowest price that its curve ever has. A rounding is in the job's favour; about is without it,
// for people.
func (x *Reach) least(r *grid.Request, z grid.Size) (cost, about grid.Credits, sites string, ok bool) {
	type node struct {
		cost, about grid.Credits
		at          *grid.Group
	}
	var list []node
	for i := range x.Groups {
		g := &x.Groups[i]
		takes := g.Performance.Runtime(z.Length)
		if Suits(g, r) && g.Allows(takes) {
			price := g.Cheapest(-grid.MaxTime, grid.MaxTime)
			costs := func(p grid.Price) grid.Credits {
				if x := r.Portion.Part(g); x.Some() {
					return grid.CostOfSlices(p, takes, int(x.Slices), int(x.Of))
				}
				return grid.Cost(p, takes)
			}
			list = append(list, node{max(0, costs(max(0, price-1))-1), costs(price), g})
		}
	}
	slices.SortStableFunc(list, func(a, b node) int { return cmp.Compare(a.cost, b.cost) })
	var names []string
	left := z.Nodes
	for _, n := range list {
		if left == 0 {
			break
		}
		take := min(left, n.at.Nodes)
		left -= take
		cost, about = cost.Plus(n.cost.Times(take)), about.Plus(n.about.Times(take))
		if !slices.Contains(names, n.at.Site) {
			names = append(names, n.at.Site)
		}
	}
	return cost, about, strings.Join(names, ", "), left == 0
}
