package planning

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Seen is the record of an Input. If cut, it leaves out what was free and what the jobs
// ask for.
func (in *Input) Seen(cut bool) facts.CycleSeen {
	f := facts.CycleSeen{Cycle: in.Cycle, From: in.From, Horizon: in.Horizon, Terms: in.Terms.seen(), Cut: cut}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		x := facts.CycleJob{Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Gone: j.Gone, Barred: j.Barred, Bound: j.Bound}
		if !cut {
			x.Request = j.Request
		}
		f.Jobs = append(f.Jobs, x)
	}
	for i := range in.Sites {
		f.Sites = append(f.Sites, in.Sites[i].seen(&in.Terms, cut))
	}
	return f
}

// Approximate sizes of what is recorded, in bytes.
const (
	stepSize   = 12
	groupSize  = 120
	openedSize = 50
	jobSize    = 250
	quoteSize  = 60
)

// RecordSize is the approximate size of the record of an Input in bytes, if not cut.
func (in *Input) RecordSize() int {
	size := jobSize * len(in.Jobs)
	for i := range in.Sites {
		for k := range in.Sites[i].Groups {
			g := &in.Sites[i].Groups[k]
			size += groupSize + stepSize*(len(g.Admissible)+len(g.Clear)) + len(g.Group.Curve.String())
			for k := range g.Opened {
				size += openedSize + stepSize*len(g.Opened[k].Free)
			}
		}
	}
	return size
}

// RecordSize is the approximate size of the record of the quotes in bytes.
func (d *Draft) RecordSize(q *Quotes) int {
	size := 0
	for site := range d.Wanted {
		for n := range d.Wanted[site].Legs {
			size += quoteSize + len(d.Wanted[site].quote(q.Sites[site], n).Refusal.Detail)
		}
	}
	for site := range q.Sets {
		for n := range q.Sets[site] {
			size += quoteSize + len(q.Sets[site][n].Refusal.Detail)
		}
	}
	return size
}

// seen is the record of a site's answer. It leaves out offers that are unusable, and all
// offers if cut.
func (s *Site) seen(t *Terms, cut bool) facts.SiteSeen {
	f := facts.SiteSeen{Site: s.Name, Answer: s.Answer.String(), Reason: s.Refusal, Version: s.Version, Now: s.Now}
	if s.Answer != Usable || cut {
		return f
	}
	f.Groups = make([]facts.GroupSeen, len(s.Groups))
	for i := range s.Groups {
		g := &s.Groups[i]
		x := facts.GroupSeen{Group: g.Group.Name, Nodes: g.Group.Nodes, Performance: g.Group.Performance, Price: g.Group.Price,
			Curve: g.Group.Curve.String(), Machine: g.Group.Machine, Shared: g.Shared, Padding: g.Group.Padding, Longest: g.Group.Longest, Free: g.Admissible.Curve()}
		x.Slices, x.Cores = g.Group.Slices, g.Group.Cores
		for k := range g.Opened {
			o := &g.Opened[k]
			x.Opened = append(x.Opened, facts.OpenedSeen{Start: o.Start, End: o.End, Free: o.Free.Curve()})
		}
		if !slices.Equal(g.Admissible, g.Clear) {
			x.Clear = g.Clear.Curve()
		}
		if t.OneByOne() {
			x.Queued = g.Queued
		}
		f.Groups[i] = x
	}
	return f
}

// seen is the record of the terms.
func (t *Terms) seen() facts.Terms {
	f := facts.Terms{Algorithm: t.Algorithm.String(), WeightTime: t.Weights.Time, WeightCost: t.Weights.Cost, WeightFinish: t.Weights.Finish,
		Minimize: t.Minimize.String(), Urgency: t.Urgency, Slowdown: t.Slowdown, Weight: t.Weight, Patience: t.Patience, Wait: t.Wait, MaxAlternatives: t.MaxAlternatives, OfferWait: t.OfferWait}
	if t.OneByOne() || t.Asks() {
		f.Strategy, f.Alpha = t.Strategy.String(), int64(t.Alpha)
	}
	if t.OneByOne() || t.ByValue() || t.Minimize == grid.GoalFinish { // newOrder draws under that too
		f.Draws = t.Draws
	}
	if t.BudgetLimit != selection.Auto {
		f.BudgetLimit, f.BudgetGiven = t.BudgetLimit, true
	}
	if t.TimeLimit != selection.Auto {
		f.TimeLimit, f.TimeGiven = t.TimeLimit, true
	}
	return f
}

// quotasSeen is the record of what the quotas leave to the batch's users, in serving order.
func (in *Input) quotasSeen(q *Quotes) []facts.QuotaSeen {
	var list []facts.QuotaSeen
	for i := range in.Jobs {
		user := in.Jobs[i].User
		left, ok := q.Quotas[user]
		if !ok || slices.ContainsFunc(list, func(x facts.QuotaSeen) bool { return x.User == user }) {
			continue
		}
		list = append(list, facts.QuotaSeen{User: user, Left: max(left, 0), Passed: left < 0})
	}
	return list
}

// quotesSeen is the record of the sites' answers to the requests for quotes. An answer that
// makes no sense counts as none.
func (in *Input) quotesSeen(wanted []Wanted, quotes [][]grid.Quote) []facts.SiteQuotes {
	var list []facts.SiteQuotes
	for site := range wanted {
		w := &wanted[site]
		if len(w.Legs) == 0 {
			continue
		}
		x, answered := facts.SiteQuotes{Site: in.Sites[site].Name, Quotes: make([]facts.QuoteSeen, len(w.Legs))}, false
		for n := range w.Legs {
			a := w.quote(quotes[site], n)
			x.Quotes[n] = facts.QuoteSeen{Fare: a.Fare, Delayed: a.Delayed, Refusal: a.Refusal}
			answered = answered || a.Refusal != unanswered
		}
		if !answered {
			x.Quotes = nil
		}
		list = append(list, x)
	}
	return list
}

// Planned is the record of a choice and of what it depended on besides the Input. If cut,
// it leaves out the quotes.
func (d *Draft) Planned(q *Quotes, o *Outcome, cut bool) facts.CyclePlanned {
	f := facts.CyclePlanned{Cycle: d.in.Cycle, Left: q.Left, Quotas: d.in.quotasSeen(q), Cut: cut}
	if !cut {
		f.Quotes, f.Sets = d.in.quotesSeen(d.Wanted, q.Sites), d.in.quotesSeen(o.together, q.Sets)
	}
	for i := range o.Jobs {
		if a := o.Jobs[i].Chosen(); a != nil {
			f.Chosen = append(f.Chosen, facts.Planned{Job: d.in.Jobs[i].Name, Found: o.Jobs[i].Found,
				Alternative: a.Number, Start: a.Start(), End: a.End, Cost: a.Cost})
		}
	}
	return f
}

// Chosen is the alternative that was chosen, or nil.
func (p *Plan) Chosen() *Alternative {
	if p.Over || p.Choice < 0 {
		return nil
	}
	return &p.Alternatives[p.Choice]
}

// read makes an Input from the record. A site that was not asked appears in it as silent.
func read(f *facts.CycleSeen) (*Input, error) {
	t, err := readTerms(&f.Terms)
	if err != nil {
		return nil, fmt.Errorf("cycle %d: %w", f.Cycle, err)
	}
	in := &Input{Cycle: f.Cycle, From: f.From, Horizon: f.Horizon, Terms: t}
	for i := range f.Jobs {
		x := &f.Jobs[i]
		if why := Unsound(&grid.Job{Name: x.Name, Request: x.Request}); why.Refused() {
			return nil, fmt.Errorf("cycle %d, job %q: %v", f.Cycle, x.Name, why)
		}
		in.Jobs = append(in.Jobs, Job{Name: x.Name, User: x.User, Submit: x.Submit, Priority: x.Priority, Request: x.Request,
			Deadline: x.Request.Deadline, Gone: x.Gone, Barred: x.Barred, Bound: x.Bound})
	}
	for i := range f.Sites {
		s, err := readSite(&f.Sites[i])
		if err != nil {
			return nil, fmt.Errorf("cycle %d, %w", f.Cycle, err)
		}
		in.Sites = append(in.Sites, s)
	}
	return in, in.sortSites()
}

// sortSites puts the sites in order of name. Two sites with one name are an error.
func (in *Input) sortSites() error {
	slices.SortFunc(in.Sites, func(x, y Site) int { return strings.Compare(x.Name, y.Name) })
	for i := 1; i < len(in.Sites); i++ {
		if in.Sites[i].Name == in.Sites[i-1].Name {
			return fmt.Errorf("cycle %d: site %q is on record twice", in.Cycle, in.Sites[i].Name)
		}
	}
	return nil
}

// readSite reads a site's answer and offers.
func readSite(f *facts.SiteSeen) (Site, error) {
	s := Site{Name: f.Site, Answer: Answer(max(0, slices.Index(answerNames[:], f.Answer))), Refusal: f.Reason, Version: f.Version, Now: f.Now}
	if s.Answer != Usable {
		return s, nil
	}
	for i := range f.Groups {
		g := &f.Groups[i]
		free, err := g.Free.Profile()
		clear := free
		if err == nil && g.Clear != "" {
			clear, err = g.Clear.Profile()
		}
		var curve *grid.PriceCurve
		if err == nil {
			curve, err = grid.ParsePriceCurve(g.Curve)
		}
		x := agents.GroupOffer{Admissible: free, Clear: clear, Shared: g.Shared, Queued: g.Queued, Group: grid.Group{Site: f.Site, Name: g.Group,
			Nodes: g.Nodes, Performance: g.Performance, Price: g.Price, Curve: curve, Machine: g.Machine, Padding: g.Padding, Longest: g.Longest, Slices: g.Slices, Cores: g.Cores}}
		for k := 0; k < len(g.Opened) && err == nil; k++ {
			o := grid.Opened{Start: g.Opened[k].Start, End: g.Opened[k].End}
			o.Free, err = g.Opened[k].Free.Profile()
			x.Opened = append(x.Opened, o)
		}
		if err == nil && !sound(&x) {
			err = errors.New("it makes no sense")
		}
		if err != nil {
			return s, fmt.Errorf("offer of %s/%s: %w", f.Site, g.Group, err)
		}
		s.Groups = append(s.Groups, x)
	}
	return s, nil
}

// readTerms reads the terms.
func readTerms(f *facts.Terms) (Terms, error) {
	t := Terms{BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: f.MaxAlternatives, OfferWait: f.OfferWait,
		Weights: search.Weights{Time: f.WeightTime, Cost: f.WeightCost, Finish: f.WeightFinish}}
	var err1, err2, err3 error
	t.Algorithm, err1 = search.ParseAlgorithm(f.Algorithm)
	t.Minimize, err2 = grid.ParseGoal(f.Minimize)
	t.Urgency, t.Slowdown, t.Weight, t.Patience, t.Wait, t.Draws = f.Urgency, f.Slowdown, f.Weight, f.Patience, f.Wait, f.Draws
	if f.Strategy != "" {
		t.Strategy, err3 = choice.ParseStrategy(f.Strategy)
		t.Alpha = choice.Alpha(f.Alpha)
	}
	if f.BudgetGiven {
		t.BudgetLimit = f.BudgetLimit
	}
	if f.TimeGiven {
		t.TimeLimit = f.TimeLimit
	}
	if t.MaxAlternatives < 1 {
		err1 = errors.Join(err1, fmt.Errorf("%d alternatives of a job are too few", t.MaxAlternatives))
	}
	return t, errors.Join(err1, err2, err3)
}
