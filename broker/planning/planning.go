// Package planning decides what a cycle of a broker does, as a function of the cycle's
// input (Toporkov et al., sections 2 and 3):
//
//	Plan(Input)            -> Draft: alternatives for each job, and the quotes it wants
//	Choose(Draft, Quotes)  -> Outcome: one alternative a job, or why it has none
//
// Between the two the broker asks the sites for the quotes. Under GoalValue it may then
// ask for quotes of sets (Draft.Together) and choose again. Neither function reads a
// clock, draws a random number or knows about other cycles. They read only what the
// journal keeps of a cycle (facts.CycleSeen, facts.CyclePlanned; record.go). So a Rerun
// can repeat the decision, or find the one that another budget or site would have led to.
//
// Times are instants in milliseconds, durations are milliseconds, credits are
// whole millionths: grid.Time, grid.Duration, grid.Credits. Sites, groups and
// jobs are referred to by their index in the Input.
package planning

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/placement"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Planner plans. From one call to the next it only reuses allocated memory: results
// depend on the arguments alone, and share nothing with the Planner. The zero Planner is
// ready to use. It is not safe for concurrent use.
type Planner struct {
	list     *search.List
	finder   *search.Finder
	requests []grid.Request
	rest     []grid.Profile // by group: what a second search may use
	selector selection.Selector
	options  [][]selection.Alternative
	placer   *placement.Placer // by value only, for drafted
	drafted  *Draft
	which    []int // the jobs of the Input that placer places

	// Outside chooses where the strategy asks somebody outside: an index into the Windows of
	// each job of the Question, -1 for none; see Question.Choice. nil: nobody can be asked,
	// and the batch's own rule chooses.
	Outside func(*Question) []int
}

// open lists the free slots on the groups of a draft.
func (p *Planner) open(d *Draft, free []grid.Profile) {
	if p.list == nil {
		p.list = new(search.List)
		p.finder = search.NewFinder(p.list)
	}
	d.order = newOrder(d)
	p.list.ResetFungible(arrange(&d.order, d.Groups), arrange(&d.order, free), d.in.From, d.in.Horizon)
	for place, opened := range arrange(&d.order, d.opened) {
		for i := range opened {
			if o, any := opened[i].Within(d.in.From, d.in.Horizon); any {
				o.Group = int32(place)
				p.list.Open(o)
			}
		}
	}
}

// windows searches for windows for some of a draft's jobs, at most most for each.
func (p *Planner) windows(d *Draft, jobs []int, most int) search.Result {
	o := d.in.Terms.search(d.in.From)
	o.MaxAlternatives = most
	p.requests = p.requests[:0]
	for _, i := range jobs {
		p.requests = append(p.requests, d.in.Jobs[i].Request)
		o.Barred = append(o.Barred, arrange(&d.order, d.barredGroups(&d.in.Jobs[i])))
	}
	r := p.finder.Batch(p.requests, o)
	for i := range r.Alternatives {
		d.order.back(r.Alternatives[i])
	}
	return r
}

// Plan finds alternatives for each job in what the sites have offered, and lists the legs
// whose price only their sites can quote. Jobs without an alternative are postponed. Plan
// does not change the Input, which must stay unchanged while the Draft is used.
func (p *Planner) Plan(in *Input) *Draft {
	d := newDraft(in)
	if !in.Terms.ByValue() {
		p.open(d, d.admissible)
		d.Slots = p.list.Len()
	}
	switch {
	case len(d.Groups) == 0:
		why := in.silence()
		for i := range in.Jobs {
			if !in.Jobs[i].Gone {
				d.postpone(i, why)
			}
		}
	case in.Terms.OneByOne():
		p.findStarts(d)
	case in.Terms.ByValue():
		p.findValue(d)
	default:
		p.findWindows(d)
	}
	d.list()
	return d
}

// Choose drops the alternatives that a site refuses or that cost too much, searches once
// more for jobs that have lost all of theirs, and picks one alternative for each job: the
// best combination under B*, T* and the accounts. With quotes of sets it chooses twice;
// see together.go. The Draft is not changed, so Choose may be called on it again.
func (p *Planner) Choose(d *Draft, q *Quotes) *Outcome {
	o := &Outcome{BudgetLimit: grid.MaxCredits, TimeLimit: grid.MaxDuration}
	o.Jobs = d.quoted(q)
	if len(d.Groups) == 0 {
		return o
	}
	c := &chooser{Planner: p, d: d, q: q, o: o}
	lost := 0
	for i := range o.Jobs {
		if j := &o.Jobs[i]; !j.Over && !j.price(&d.in.Jobs[i]) {
			lost++
		}
	}
	switch {
	case lost > 0 && d.in.Terms.OneByOne():
		c.dropLost()
	case lost > 0 && !d.in.Terms.ByValue():
		c.searchClear()
	}
	for i := range o.Jobs {
		o.Alternatives += len(o.Jobs[i].Alternatives)
	}
	if d.in.Terms.ByValue() {
		c.placeAll()
		for i := range o.Jobs {
			d.Lose(i, o.Jobs[i].Alternatives)
		}
		if q.Sets != nil {
			return p.chooseAgain(d, q, o)
		}
		return o
	}
	if d.in.Terms.Asks() && p.Outside != nil {
		c.askOutside()
		return o
	}
	if c.affordable(); d.in.Terms.OneByOne() {
		c.takeEach()
	} else {
		c.selectAll()
	}
	return o
}

// Windows finds windows for the only job of an Input, at base price and ignoring the
// sites' queues and all accounts. If there are none it says why.
func (p *Planner) Windows(in *Input) (*Draft, grid.Reason) {
	d := newDraft(in)
	if in.Terms.ByValue() {
		if p.valuable(d); len(d.Jobs[0].Alternatives) == 0 {
			return d, p.whyNone(d, 0)
		}
		return d, grid.Reason{}
	}
	p.open(d, d.admissible)
	found := p.windows(d, []int{0}, in.Terms.MaxAlternatives)
	d.Jobs[0].add(d, &in.Jobs[0], found.Alternatives[0])
	return d, found.Reasons[0]
}

// reason makes a reason.
func reason(code grid.Code, format string, args ...any) grid.Reason {
	return grid.Because(code, format, args...)
}
