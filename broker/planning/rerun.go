package planning

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Rerun plans a recorded cycle again. Unchanged, it reaches the recorded choice; with one
// thing changed, it says what would have been chosen. It knows no other cycle, and is not
// safe for concurrent use.
type Rerun struct {
	in      *Input
	planned *facts.CyclePlanned
	funds   Quotes // what the accounts left, and which jobs had gone
	quotes  map[quotedLeg]grid.Quote
	mute    map[string]bool // sites that were asked for quotes and did not answer
	sets    []quotedSet
	as      []JobOutcome // as it was
	planner Planner
}

// quotedLeg is what a quote was for.
type quotedLeg struct {
	site, user string
	leg        grid.Leg
}

// quotedSet is a set of legs that a site was asked to quote, and its answer.
type quotedSet struct {
	site   string
	wanted Wanted
	quotes []grid.Quote
}

// Change is what a rerun changes; the zero Change changes nothing.
type Change struct {
	Request grid.Request    // another request of the job in question; without nodes: unchanged
	Without string          // a site to leave out
	With    *facts.SiteSeen // a usable site, in place of one that was not
	Waive   string          // a site whose refused quotes count as quotes at base price
	Money   grid.Credits    // added to the VO's account and to the quota, if any, of the job's user
	Limit   grid.Credits    // added to a limit B* set by an operator
}

// ErrCut says that a cycle's detail was left out of the record because of its size.
var ErrCut = errors.New("what the sites offered in it was left out of the record: the bound on such detail was reached")

// ErrDiffers says that a rerun does not reach the recorded choice, which another version of
// the program must have made.
var ErrDiffers = errors.New("planned again it comes to another choice than the one on record; another version of the program has made that")

// ErrUnfinished says that the broker restarted before the cycle had chosen.
var ErrUnfinished = errors.New("the broker began anew before it had chosen anything in it")

// ErrOutside says that a program outside has chosen, which a rerun cannot ask again.
var ErrOutside = errors.New("a program chose in it (strategy = \"program\"), which cannot be asked again")

// NewRerun prepares the rerun of a cycle, and runs it unchanged. planned is nil if nothing
// was chosen because no site had offered anything. It returns ErrCut, ErrUnfinished,
// ErrDiffers, ErrOutside, or an error if the record cannot be read.
func NewRerun(seen *facts.CycleSeen, planned *facts.CyclePlanned) (*Rerun, error) {
	if seen.Cut || planned != nil && planned.Cut {
		return nil, ErrCut
	}
	in, err := read(seen)
	if err != nil {
		return nil, err
	}
	if in.Terms.Asks() {
		return nil, ErrOutside
	}
	r := &Rerun{in: in, planned: planned, quotes: map[quotedLeg]grid.Quote{}, mute: map[string]bool{}}
	r.readFunds()
	d := r.planner.Plan(in)
	q := r.funds
	q.Sites = make([][]grid.Quote, len(in.Sites))
	if len(d.Groups) > 0 {
		if planned == nil {
			return nil, ErrUnfinished
		}
		if !r.readQuotes(d, &q) {
			return nil, ErrDiffers
		}
	}
	o := r.planner.Choose(d, &q)
	if planned != nil && len(planned.Sets) > 0 {
		if !r.readSets(d.Together(o)) {
			return nil, ErrDiffers
		}
		o = r.chooseAgain(d, &q, o)
	}
	if !r.same(d, &q, o) {
		return nil, ErrDiffers
	}
	r.as = d.show(&q, o, nil)
	return r, nil
}

// readFunds reads what the accounts left when the cycle chose, and which jobs had gone.
func (r *Rerun) readFunds() {
	r.funds.Gone = make([]bool, len(r.in.Jobs))
	if r.planned == nil {
		return
	}
	for i := range r.in.Jobs {
		r.funds.Gone[i] = slices.Contains(r.planned.Gone, r.in.Jobs[i].Name)
	}
	r.funds.Left = r.planned.Left
	r.funds.Quotas = map[string]grid.Credits{}
	for _, x := range r.planned.Quotas {
		r.funds.Quotas[x.User] = x.Left
		if x.Passed {
			r.funds.Quotas[x.User] = -1
		}
	}
}

// readQuotes reads the recorded quotes and remembers what each was for. It reports false if
// they are not for the legs that the draft wants.
func (r *Rerun) readQuotes(d *Draft, q *Quotes) bool {
	open := 0
	for i := range d.Wanted {
		open += min(1, len(d.Wanted[i].Legs))
	}
	for _, s := range r.planned.Quotes {
		i := slices.IndexFunc(r.in.Sites, func(x Site) bool { return x.Name == s.Site })
		if i < 0 || len(d.Wanted[i].Legs) == 0 || len(s.Quotes) > 0 && len(s.Quotes) != len(d.Wanted[i].Legs) || q.Sites[i] != nil || r.mute[s.Site] {
			return false
		}
		open--
		if len(s.Quotes) == 0 {
			r.mute[s.Site] = true
		}
		w := &d.Wanted[i]
		for n, x := range s.Quotes {
			quote := grid.Quote{Fare: x.Fare, Delayed: x.Delayed, Refusal: x.Refusal}
			q.Sites[i] = append(q.Sites[i], quote)
			r.quotes[quotedLeg{s.Site, w.Users[n], w.Legs[n]}] = quote
		}
	}
	return open == 0
}

// readSets reads the recorded quotes of sets. It reports false if they are not for wanted.
func (r *Rerun) readSets(wanted []Wanted) bool {
	for _, s := range r.planned.Sets {
		i := slices.IndexFunc(r.in.Sites, func(x Site) bool { return x.Name == s.Site })
		if i < 0 || i >= len(wanted) || len(s.Quotes) > 0 && len(s.Quotes) != len(wanted[i].Legs) {
			return false
		}
		set := quotedSet{site: s.Site, wanted: wanted[i]}
		for _, x := range s.Quotes {
			set.quotes = append(set.quotes, grid.Quote{Fare: x.Fare, Delayed: x.Delayed, Refusal: x.Refusal})
		}
		r.sets = append(r.sets, set)
	}
	return true
}

// chooseAgain is the second choice, with the recorded quotes of sets. For any other set it
// is not known what its legs cost together, so they keep their single prices.
func (r *Rerun) chooseAgain(d *Draft, q *Quotes, first *Outcome) *Outcome {
	wanted := d.Together(first)
	for i := range wanted {
		for _, s := range r.sets {
			if w := &wanted[i]; s.site == d.in.Sites[i].Name && slices.Equal(s.wanted.Legs, w.Legs) && slices.Equal(s.wanted.Users, w.Users) {
				if q.Sets == nil {
					q.Sets = make([][]grid.Quote, len(wanted))
				}
				q.Sets[i] = s.quotes
			}
		}
	}
	if q.Sets == nil {
		return first
	}
	return r.planner.Choose(d, q)
}

// same reports whether the rerun has reached the recorded choice.
func (r *Rerun) same(d *Draft, q *Quotes, o *Outcome) bool {
	var recorded []facts.Planned
	if r.planned != nil {
		recorded = r.planned.Chosen
	}
	return slices.EqualFunc(d.Planned(q, o, true).Chosen, recorded, func(x, y facts.Planned) bool {
		y.Found = x.Found // an older version counted otherwise
		return x == y
	})
}

// As returns the cycle's unchanged outcome, job by job in serving order.
func (r *Rerun) As() []JobOutcome { return r.as }

// With returns the outcome for a job if something had been different. A contended leg that
// was not quoted in the cycle is taken at its base price, as a guess. With costs one search
// and up to three selections of the whole batch. It returns an error if the job is unknown
// or the request makes no sense.
func (r *Rerun) With(job string, c Change) (JobOutcome, error) {
	at := slices.IndexFunc(r.in.Jobs, func(j Job) bool { return j.Name == job })
	if at < 0 {
		return JobOutcome{}, fmt.Errorf("cycle %d has no job %q", r.in.Cycle, job)
	}
	if c.Request.Nodes > 0 {
		if why := Unsound(&grid.Job{Name: job, Request: c.Request}); why.Refused() {
			return JobOutcome{}, errors.New(why.String())
		}
	}
	in, err := r.changed(at, &c)
	if err != nil {
		return JobOutcome{}, err
	}
	d := r.planner.Plan(in)
	q := r.changedFunds(at, &c)
	q.Sites = make([][]grid.Quote, len(in.Sites))
	for i := range d.Wanted {
		w := &d.Wanted[i]
		for n := range w.Legs {
			q.Sites[i] = append(q.Sites[i], r.requote(quotedLeg{in.Sites[i].Name, w.Users[n], w.Legs[n]}, w.base[n], &c))
		}
	}
	o := r.chooseAgain(d, q, r.planner.Choose(d, q))
	return d.show(q, o, func(job int, l *Leg) bool {
		return l.Contended && r.guesses(quotedLeg{in.Sites[l.Site].Name, in.Jobs[job].User, l.What}, &c)
	})[at], nil
}

// changed is the Input with a change for a job.
func (r *Rerun) changed(job int, c *Change) (*Input, error) {
	in := *r.in
	if c.Request.Nodes > 0 {
		in.Jobs = slices.Clone(in.Jobs)
		in.Jobs[job].Request, in.Jobs[job].Deadline = c.Request, c.Request.Deadline
	}
	if c.Limit != 0 && in.Terms.BudgetLimit != selection.Auto {
		in.Terms.BudgetLimit = min(in.Terms.BudgetLimit.Plus(c.Limit), grid.MaxBudget)
	}
	if c.Without == "" && c.With == nil {
		return &in, nil
	}
	in.Sites = slices.DeleteFunc(slices.Clone(in.Sites), func(s Site) bool {
		return s.Name == c.Without || c.With != nil && s.Name == c.With.Site
	})
	if c.With != nil {
		s, err := readSite(c.With)
		if err != nil {
			return nil, fmt.Errorf("cycle %d, %w", in.Cycle, err)
		}
		in.Sites = append(in.Sites, s)
	}
	return &in, in.sortSites()
}

// changedFunds is what the accounts would have left with a change for a job.
func (r *Rerun) changedFunds(job int, c *Change) *Quotes {
	q := r.funds
	q.Left = min(q.Left.Plus(c.Money), grid.MaxBudget)
	user := r.in.Jobs[job].User
	if left, ok := q.Quotas[user]; ok && c.Money != 0 {
		q.Quotas = map[string]grid.Credits{}
		for name, x := range r.funds.Quotas {
			q.Quotas[name] = x
		}
		q.Quotas[user] = min(left+c.Money, grid.MaxBudget)
	}
	return &q
}

// guesses reports whether a leg would have been quoted at a price that is not on record.
func (r *Rerun) guesses(l quotedLeg, c *Change) bool {
	if q, known := r.quotes[l]; known && !(q.Refusal.Refused() && l.site == c.Waive) {
		return false
	}
	return !r.mute[l.site] || l.site == c.Waive
}

// requote is the recorded quote for a leg, or else its base price, as a guess, if its site
// answered at all.
func (r *Rerun) requote(l quotedLeg, base grid.Fare, c *Change) grid.Quote {
	if r.guesses(l, c) {
		return grid.Quote{Fare: base}
	}
	if q, known := r.quotes[l]; known {
		return q
	}
	return grid.Quote{Fare: base, Refusal: unanswered}
}

// Earliest finds the earliest window for a request in what was offered, limited only by the
// request's own budget: it ignores other jobs, limits and accounts. It costs one search.
func (r *Rerun) Earliest(want grid.Request) (Option, grid.Reason) {
	if why := Unsound(&grid.Job{Name: "x", Request: want}); why.Refused() {
		return Option{}, why
	}
	in := *r.in
	in.Jobs = []Job{{Request: want, Deadline: want.Deadline}}
	in.Terms = Terms{MaxAlternatives: max(1, len(want.Sizes)), Algorithm: search.AMP, OfferWait: in.Terms.OfferWait}
	d, why := r.planner.Windows(&in)
	switch {
	case len(d.Groups) == 0:
		return Option{}, in.silence()
	case len(d.Jobs[0].Alternatives) == 0:
		return Option{}, why
	}
	a := slices.MinFunc(d.Jobs[0].Alternatives, func(x, y Alternative) int { return cmp.Compare(x.Start(), y.Start()) })
	a.Quotes = make([]grid.Quote, len(a.Legs))
	for i := range a.Legs {
		a.Quotes[i].Fare = a.Legs[i].Base
	}
	a.Number = 1
	o := d.option(&in.Jobs[0], &d.Jobs[0], &a)
	for i := range a.Legs {
		o.Legs[i].Guess = a.Legs[i].Contended
	}
	return o, grid.Reason{}
}
