package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// Change is one thing that would by itself have changed the answer, and the least of
// its kind: the cycle was planned again with it, and with the next smaller one, which
// does not suffice.
type Change struct {
	What    string           `json:"what"`                  // urgency, budget, price, deadline, nodes, performance, account, limit, site, waive, without, part
	Credits grid.Credits     `json:"credits,omitempty"`     // budget, account, limit: more of them
	Price   grid.Price       `json:"price,omitempty"`       // price: a cap so much higher
	Minutes int              `json:"minutes,omitempty"`     // deadline: so much later
	Nodes   int              `json:"nodes,omitempty"`       // so many fewer
	Lowest  grid.Performance `json:"performance,omitempty"` // performance: the job asks for no more than that
	Site    string           `json:"site,omitempty"`
	Part    string           `json:"part,omitempty"` // part: the job without it
	Placed  bool             `json:"placed"`         // what would have come of it
	Start   grid.Time        `json:"start,omitempty"`
	End     grid.Time        `json:"end,omitempty"`
	Cost    grid.Credits     `json:"cost,omitempty"`
	Guess   bool             `json:"guess,omitempty"` // a price in it was not quoted in the cycle: the cost is the least it could be
	Words   string           `json:"words"`           // the change, as in "with ..., it would have"
	Reason  grid.Reason      `json:"reason,omitzero"` // why it would not be placed

}

// whatIf looks for the least changes that would have had the job placed, or had
// it start earlier.
func (x *examiner) whatIf() {
	if x.as.Chosen > 0 && x.waits() {
		x.refusals()
		return
	}
	x.urgency()
	x.budget()
	x.deadline()
	if q := x.request(); q.Composed() {
		x.parts()
	} else {
		x.nodes()
		x.performance()
	}
	x.money()
	x.sites()
	x.without()
	if x.out {
		x.unknown("all that would have changed the answer: cycle %d is so large that it was planned again %d times only", x.on.number, x.spent)
	}
}

// request is the job's as it was in the cycle.
func (x *examiner) request() grid.Request { return x.on.seen.Jobs[x.Cycle.Place-1].Request }

// better reports whether an outcome is what the user would rather have had.
func (x *examiner) better(o *planning.JobOutcome) bool {
	a, was := o.Taken(), x.as.Taken()
	return a != nil && (was == nil || a.Start < was.Start)
}

// goal names what better means.
func (x *examiner) goal() string {
	if x.as.Chosen == 0 {
		return "have it placed"
	}
	return "have it start earlier"
}

// plan plans the cycle again with a change; nil if the bound on reruns is reached, or
// the change makes no sense.
func (x *examiner) plan(c planning.Change) *planning.JobOutcome {
	if x.options.Stop != nil && x.options.Stop() || x.spent >= x.options.Reruns || x.work+x.each > x.options.Work && x.spent > 0 {
		x.out = true
		return nil
	}
	x.spent++
	x.work += x.each
	o, err := x.rerun.With(x.Job, c)
	if err != nil {
		return nil
	}
	return &o
}

// least searches for the least value that makes the outcome better. It tries the few
// values in order until one succeeds, and then bisects between that one and fails. (A
// greater value may fail where a smaller one succeeds: a job that may pay anything is
// offered dear windows first.) hint may name a lower value that the outcome would have
// allowed. At the answer the rerun is better, and one below it is not. It returns false
// if none of the few succeeds, or the bound on reruns is reached.
func (x *examiner) least(fails int64, few []int64, at func(int64) planning.Change, hint func(*planning.JobOutcome) int64) (int64, *planning.JobOutcome, bool) {
	var best *planning.JobOutcome
	var may int64
	for _, may = range few {
		if may <= fails {
			continue
		}
		if best = x.plan(at(may)); best != nil && x.better(best) {
			break
		}
		best = nil
	}
	if best == nil {
		return 0, nil, false
	}
	for round := 0; may-fails > 1; round++ {
		middle := fails + (may-fails)/2
		if round < 8 && hint != nil {
			switch h := hint(best); {
			case h > fails && h < may:
				middle = h
			case h == may:
				middle = may - 1
			}
		}
		o := x.plan(at(middle))
		if o == nil {
			return 0, nil, false
		}
		if x.better(o) {
			may, best = middle, o
		} else {
			fails = middle
		}
	}
	return may, best, true
}

// add notes a change that suffices.
func (x *examiner) add(c Change, o *planning.JobOutcome) {
	if a := o.Taken(); a != nil {
		c.Placed, c.Start, c.End, c.Cost, c.Guess = true, a.Start, a.End, a.Fare.Total(), a.Guessed()
	} else {
		c.Reason = o.Reason
	}
	x.Changes = append(x.Changes, c)
}

// failed notes a kind of change that does not suffice.
func (x *examiner) failed(format string, args ...any) {
	if !x.out {
		x.Tried = append(x.Tried, fmt.Sprintf(format, args...)+" would not "+x.goal())
	}
}

// budget: how many credits more, under ALP also what higher cap on the price.
func (x *examiner) budget() {
	q := x.request()
	with := func(budget int64) planning.Change {
		r := q
		r.Budget = grid.Credits(budget)
		return planning.Change{Request: r}
	}
	cost := func(o *planning.JobOutcome) int64 { return int64(o.Taken().Fare.Total()) }
	capped := x.on.capsPrice()
	if capped {
		r := q
		r.Budget = grid.MaxBudget
		price, _, ok := x.least(int64(q.MaxPrice), upTo(int64(q.MaxPrice), int64(grid.MaxPrice)), func(p int64) planning.Change {
			r.MaxPrice = grid.Price(p)
			return planning.Change{Request: r}
		}, func(o *planning.JobOutcome) int64 { return int64(x.dearest(o)) })
		if ok {
			dear := grid.Price(price) - q.MaxPrice
			q.MaxPrice = grid.Price(price)
			if o := x.plan(with(int64(q.Budget))); o != nil && x.better(o) {
				x.add(Change{What: "price", Price: dear, Words: fmt.Sprintf("a price cap %v credits a node-hour higher", dear)}, o)
				return
			}
			if v, o, ok := x.least(int64(q.Budget), upTo(int64(q.Budget), int64(grid.MaxBudget)), with, cost); ok {
				more := grid.Credits(v) - q.Budget
				x.add(Change{What: "price", Price: dear, Credits: more, Words: fmt.Sprintf("a price cap %v credits a node-hour higher, and %s more", dear, credits(more))}, o)
				return
			}
		}
	}
	if v, o, ok := x.least(int64(q.Budget), upTo(int64(q.Budget), int64(grid.MaxBudget)), with, cost); ok {
		more := grid.Credits(v) - q.Budget
		x.add(Change{What: "budget", Credits: more, Words: credits(more) + " more"}, o)
		return
	}
	if capped {
		x.failed("a higher price cap and budget (any, tenfold, twofold, a quarter more)")
		return
	}
	x.failed("a higher budget (any, tenfold, twofold, a quarter more)")
}

// urgency: how many credits an hour more would have had it start earlier.
func (x *examiner) urgency() {
	y := x.Cycle
	if y.Goal != "value" || y.Chosen == 0 {
		return
	}
	q := x.request()
	with := func(cents int64) planning.Change {
		r := q
		r.Urgency = grid.Hourly(min(y.Urgency.Plus(grid.Credits(cents)*cent), grid.MaxUrgency))
		return planning.Change{Request: r}
	}
	const one = int64(grid.Credit / cent)
	v, o, ok := x.least(0, []int64{one, 10 * one, 100 * one, 10_000 * one}, with, nil)
	if !ok {
		x.failed("more urgency (1, 10, 100 or 10,000 credits an hour)")
		return
	}
	more := grid.Credits(v) * cent
	x.add(Change{What: "urgency", Credits: more, Words: fmt.Sprintf("an urgency %s an hour higher", credits(more))}, o)
}

// otherGoals: what the job would have got if it had wanted something else.
func (x *examiner) otherGoals(y *Cycle) {
	if y.Goal == "" {
		return
	}
	for _, name := range grid.Goals() {
		if name == y.Goal {
			continue
		}
		q := x.request()
		q.Minimize, _ = grid.ParseGoal(name)
		o := x.plan(planning.Change{Request: q})
		if o == nil {
			continue
		}
		g := Goal{Goal: name, Reason: o.Reason}
		if a, was := o.Taken(), x.as.Taken(); a != nil {
			g = Goal{Goal: name, Placed: true, Start: a.Start, End: a.End, Cost: a.Fare.Total(), Guess: a.Guessed()}
			g.Same = was != nil && alike(a, was)
		}
		y.Goals = append(y.Goals, g)
	}
}

// alike reports whether two alternatives are one window.
func alike(a, b *planning.Option) bool {
	return a.Start == b.Start && a.End == b.End && a.Fare == b.Fare && slices.EqualFunc(a.Legs, b.Legs, func(x, y planning.OptionLeg) bool { return x.Site == y.Site && x.Leg == y.Leg })
}

// upTo are the values that are tried first: the greatest, tenfold, twofold and a
// quarter more.
func upTo(v, most int64) []int64 {
	list := []int64{most}
	for _, more := range []int64{v / 4, v, 9 * (v / 10 * 10)} {
		if v < most/10 && more > 0 {
			list = append(list, v+more)
		}
	}
	slices.SortFunc(list, func(a, b int64) int { return cmp.Compare(b, a) })
	return list
}

// dearest is the highest price of a node that an outcome takes.
func (x *examiner) dearest(o *planning.JobOutcome) grid.Price {
	var p grid.Price
	for _, l := range o.Taken().Legs {
		for i := range x.on.seen.Sites {
			s := &x.on.seen.Sites[i]
			for k := range s.Groups {
				if s.Site == l.Site && s.Groups[k].Group == l.Leg.Group {
					g := priced(&s.Groups[k])
					p = max(p, g.Dearest(l.Leg.Start, l.Leg.End))
				}
			}
		}
	}
	return p
}

// deadline: how many minutes later.
func (x *examiner) deadline() {
	q := x.request()
	horizon := x.on.seen.Horizon
	if x.as.Chosen > 0 || q.Deadline >= grid.Never {
		return
	}
	with := func(minutes int64) planning.Change {
		r := q
		r.Deadline = q.Deadline.Add(grid.Duration(minutes) * grid.Minute)
		return planning.Change{Request: r}
	}
	up := func(t grid.Time) int64 { return int64((t.Sub(q.Deadline) + grid.Minute - 1) / grid.Minute) }
	v, o, ok := x.least(0, []int64{up(horizon), up(horizon) / 4, 1}, with, func(o *planning.JobOutcome) int64 { return up(o.Taken().End) })
	if !ok {
		x.failed("a later deadline, within the broker's horizon,")
		return
	}
	x.add(Change{What: "deadline", Minutes: int(v), Words: fmt.Sprintf("a deadline %s later", grid.Count(int(v), "minute"))}, o)
}

// nodes: how many fewer.
func (x *examiner) nodes() {
	q := x.request()
	with := func(fewer int64) planning.Change {
		r := q
		r.Nodes -= int(fewer)
		return planning.Change{Request: r}
	}
	if q.Nodes < 2 || len(q.Sizes) > 0 { // a moldable job has been tried with fewer
		return
	}
	v, o, ok := x.least(0, []int64{int64(q.Nodes - 1), int64(q.Nodes / 2), 1}, with, nil)
	if !ok {
		x.failed("fewer nodes")
		return
	}
	x.add(Change{What: "nodes", Nodes: int(v), Words: fmt.Sprintf("%s in place of %d", grid.Count(q.Nodes-int(v), "node"), q.Nodes)}, o)
}

// maxPerformances bounds the performances that are tried.
const maxPerformances = 8

// performance: nodes of what lower performance, of those that groups have.
func (x *examiner) performance() {
	q := x.request()
	var lower []grid.Performance
	for i := range x.on.seen.Sites {
		for _, g := range x.on.seen.Sites[i].Groups {
			if g.Performance < q.MinPerformance && !slices.Contains(lower, g.Performance) {
				lower = append(lower, g.Performance)
			}
		}
	}
	if len(lower) == 0 {
		return
	}
	slices.Sort(lower)
	slices.Reverse(lower)
	for _, p := range lower[:min(len(lower), maxPerformances)] {
		r := q
		r.MinPerformance = p
		if o := x.plan(planning.Change{Request: r}); o != nil && x.better(o) {
			x.add(Change{What: "performance", Lowest: p, Words: fmt.Sprintf("nodes of performance %v in place of %v", p, q.MinPerformance)}, o)
			return
		}
	}
	x.failed("nodes of lower performance, %v or more,", lower[min(len(lower), maxPerformances)-1])
}

// cent is the step in which money that is not the job's own is looked for.
const cent = grid.Credit / 100

// money: how much more in the accounts, or under a limit that was given.
func (x *examiner) money() {
	what, words := "", ""
	with := func(cents int64) planning.Change { return planning.Change{Money: grid.Credits(cents) * cent} }
	switch code := x.as.Reason.Code; {
	case x.as.Chosen > 0:
		return
	case code == grid.NoMoney:
		what, words = "account", "%s more in the VO's account, and in its user's quota if there is one"
	case code == grid.LimitBudget && x.on.seen.Terms.BudgetGiven:
		what, words = "limit", "%s more under the operator's limit B*"
		with = func(cents int64) planning.Change { return planning.Change{Limit: grid.Credits(cents) * cent} }
	default:
		return
	}
	up := func(o *planning.JobOutcome) int64 { return int64((o.Taken().Fare.Total() + cent - 1) / cent) }
	v, o, ok := x.least(0, []int64{int64(grid.MaxBudget / cent)}, with, up)
	if !ok {
		x.failed("more money of the VO")
		return
	}
	c := Change{What: what, Credits: grid.Credits(v) * cent}
	c.Words = fmt.Sprintf(words, credits(c.Credits))
	x.add(c, o)
}
