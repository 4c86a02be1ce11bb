package broker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/choice"
	"bourse/policy/search"
	"bourse/policy/selection"
)

// Rerun plans a cycle on record again, by the very functions that planned it:
// phases 3 to 6, from the search to the selection. As it was recorded it comes to
// the recorded choice; with one thing changed it says what would have come of
// that. It is pure, knows no other cycle, and is not safe for concurrent use.
type Rerun struct {
	seen    *bourse.CycleSeen
	planned *bourse.CyclePlanned
	offers  map[string]agents.Offers // by site, usable ones
	quotes  map[quoted]bourse.Quote
	mute    map[string]bool // sites that were asked for quotes and did not answer
	as      []Outcome       // as it was
}

// quoted is what a quote was for.
type quoted struct {
	site, user string
	leg        bourse.Leg
}

// Change is what is otherwise in a rerun; the zero Change is nothing.
type Change struct {
	Request bourse.Request   // of the job that is asked about; without nodes: as it was
	Without string           // a site that is left out
	With    *bourse.SiteSeen // a usable site, in place of one that was not
	Waive   string           // a site whose refusals of quotes are taken for its base price
	Money   bourse.Credits   // more in the VO's account and, where he has one, in the quota of the job's user
	Limit   bourse.Credits   // more under the limit B* that an operator has given
}

// ErrCut says that a cycle's detail was left out of the record, for its size.
var ErrCut = errors.New("what the sites offered in it was left out of the record: the bound on such detail was reached")

// ErrDiffers says that a rerun does not come to what is on record: another
// version of the program has made the choice.
var ErrDiffers = errors.New("planned again it comes to another choice than the one on record; another version of the program has made that")

// ErrUnfinished says that the broker began anew before the cycle had chosen.
var ErrUnfinished = errors.New("the broker began anew before it had chosen anything in it")

// NewRerun prepares the rerun of a cycle, and runs it as it was. planned is nil
// if nothing was chosen, because no site had offered anything. What cannot be read,
// ErrCut, ErrUnfinished and ErrDiffers are errors.
func NewRerun(seen *bourse.CycleSeen, planned *bourse.CyclePlanned) (*Rerun, error) {
	if seen.Cut || planned != nil && planned.Cut {
		return nil, ErrCut
	}
	r := &Rerun{seen: seen, planned: planned, offers: map[string]agents.Offers{}, quotes: map[quoted]bourse.Quote{}, mute: map[string]bool{}}
	for i := range seen.Sites {
		if err := r.offer(&seen.Sites[i]); err != nil {
			return nil, err
		}
	}
	for i := range seen.Jobs {
		j := &seen.Jobs[i]
		if why := unsound(&bourse.Job{Name: j.Name, Request: j.Request}); why.Refused() {
			return nil, fmt.Errorf("cycle %d, job %q: %v", seen.Cycle, j.Name, why)
		}
	}
	b, err := r.replica(&Change{}, "")
	if err != nil {
		return nil, err
	}
	var out agents.Outbox
	if b.look(&out) {
		if planned == nil {
			return nil, ErrUnfinished
		}
		b.askQuotes(&out)
		if !r.answer(b) {
			return nil, ErrDiffers
		}
	}
	r.as = b.finishRerun(&out)
	if !r.same() {
		return nil, ErrDiffers
	}
	return r, nil
}

// offer reads what a site has offered.
func (r *Rerun) offer(s *bourse.SiteSeen) error {
	if s.Answer != usable.String() {
		return nil
	}
	o := agents.Offers{Cycle: r.seen.Cycle, Now: s.Now, Version: s.Version}
	for i := range s.Groups {
		g := &s.Groups[i]
		free, err := g.Free.Profile()
		clear := free
		if err == nil && g.Clear != "" {
			clear, err = g.Clear.Profile()
		}
		x := agents.GroupOffer{Admissible: free, Clear: clear, Shared: g.Shared, Queued: g.Queued, Group: bourse.Group{Site: s.Site, Name: g.Group, Nodes: g.Nodes,
			Performance: g.Performance, Price: g.Price, Machine: g.Machine}}
		if err == nil && !sound(&x) {
			err = errors.New("it makes no sense")
		}
		if err != nil {
			return fmt.Errorf("cycle %d, offer of %s/%s: %w", r.seen.Cycle, s.Site, g.Group, err)
		}
		o.Groups = append(o.Groups, x)
	}
	r.offers[s.Site] = o
	return nil
}

// replica is a broker that stands where the one on record stood when the search
// began, but for what is changed for a job.
func (r *Rerun) replica(c *Change, name string) (*Broker, error) {
	cfg, err := r.config()
	if err != nil {
		return nil, err
	}
	cfg.Budget = min(cfg.Budget.Plus(c.Money), bourse.MaxBudget)
	if cfg.BudgetLimit != selection.Auto {
		cfg.BudgetLimit = min(cfg.BudgetLimit.Plus(c.Limit), bourse.MaxBudget)
	}
	sites := r.sites(c)
	for _, s := range sites {
		cfg.Sites = append(cfg.Sites, siteID(s.Site))
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := New(cfg)
	b.Replay(0, bourse.LifeBegun{Incarnation: 1})
	cy := &b.cycle
	cy.number, cy.opened, cy.from, cy.horizon, cy.phase = r.seen.Cycle, r.seen.Opened, r.seen.From, r.seen.Horizon, gathering
	for i := range r.seen.Jobs {
		j := r.seen.Jobs[i]
		if j.Name == name && c.Request.Nodes > 0 {
			j.Request = c.Request
		}
		if left, ok := b.cfg.Quotas[j.User]; j.Name == name && ok {
			b.cfg.Quotas[j.User] = min(left+c.Money, bourse.MaxBudget)
		}
		b.Replay(r.seen.Opened, bourse.JobSubmitted{Job: bourse.Job{Request: j.Request, Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority}})
		for _, x := range j.Barred {
			b.Replay(r.seen.Opened, x)
		}
		cy.plans = append(cy.plans, plan{job: b.names[j.Name], request: j.Request, choice: -1, over: j.Gone, shut: shutIn(j.Barred, b.sites)})
	}
	m := &cy.market
	for i := range sites {
		s := &sites[i]
		at := b.index[siteID(s.Site)]
		m.answers[at] = answer(max(0, slices.Index(answerNames[:], s.Answer)))
		m.offers[at] = agents.Offers{Refusal: s.Reason, Now: s.Now}
		if m.answers[at] != silent {
			m.told++
		}
		if m.answers[at] == usable {
			m.offers[at] = r.offers[s.Site]
			m.answered++
		}
	}
	return b, nil
}

// shutIn lists the sites, by place, that are on record as closed; nil if none is.
func shutIn(barred []bourse.UserBarred, sites []agents.ID) []bool {
	if len(barred) == 0 {
		return nil
	}
	list := make([]bool, len(sites))
	for i, id := range sites {
		list[i] = slices.ContainsFunc(barred, func(x bourse.UserBarred) bool { return x.Site == siteName(id) })
	}
	return list
}

// config is that of the broker on record, as far as a plan follows from it. The
// budget and the quotas are what was left of them.
func (r *Rerun) config() (Config, error) {
	t := &r.seen.Terms
	cfg := Defaults("rerun")
	var err1, err2 error
	cfg.Algorithm, err1 = search.ParseAlgorithm(t.Algorithm)
	cfg.Minimize, err2 = selection.ParseGoal(t.Minimize)
	if err := errors.Join(err1, err2); err != nil {
		return cfg, err
	}
	if t.Strategy != "" {
		if cfg.Strategy, err1 = choice.ParseStrategy(t.Strategy); err1 != nil {
			return cfg, err1
		}
		cfg.Alpha, cfg.Draws = choice.Alpha(t.Alpha), t.Draws
	}
	cfg.Weights = search.Weights{Time: t.WeightTime, Cost: t.WeightCost, Finish: t.WeightFinish}
	if t.BudgetGiven {
		cfg.BudgetLimit = t.BudgetLimit
	}
	if t.TimeGiven {
		cfg.TimeLimit = t.TimeLimit
	}
	cfg.MaxAlternatives, cfg.Lead, cfg.OfferWait = t.MaxAlternatives, t.Lead, t.OfferWait
	cfg.Horizon = max(cfg.Horizon, cfg.Lead+1) // of no matter: the cycle has its own
	cfg.MaxQueue = max(cfg.MaxQueue, len(r.seen.Jobs))
	if r.planned == nil {
		return cfg, nil
	}
	cfg.Budget = r.planned.Left
	cfg.Quotas = map[string]bourse.Credits{}
	for _, q := range r.planned.Quotas {
		cfg.Quotas[q.User] = q.Left
		if q.Passed {
			cfg.Quotas[q.User] = -1
		}
	}
	return cfg, nil
}

// sites are those on record, as changed.
func (r *Rerun) sites(c *Change) []bourse.SiteSeen {
	list := slices.Clone(r.seen.Sites)
	if c.Without != "" {
		list = slices.DeleteFunc(list, func(s bourse.SiteSeen) bool { return s.Site == c.Without })
	}
	if c.With != nil {
		list = slices.DeleteFunc(list, func(s bourse.SiteSeen) bool { return s.Site == c.With.Site })
		list = append(list, *c.With)
	}
	return list
}

// answer hands a rerun of the cycle as it was the quotes on record, leg by leg,
// and remembers what each was for. It reports false if they are not for these
// legs.
func (r *Rerun) answer(b *Broker) bool {
	byLeg := map[*planLeg]quoted{}
	for i := range b.cycle.plans {
		p := &b.cycle.plans[i]
		for k := range p.alternatives {
			for n := range p.alternatives[k].legs {
				l := &p.alternatives[k].legs[n]
				byLeg[l] = quoted{siteName(b.sites[l.site]), p.job.User, l.what}
			}
		}
	}
	open := 0
	for _, legs := range b.cycle.asked {
		open += min(1, len(legs))
	}
	for _, s := range r.planned.Quotes {
		site, ok := b.index[siteID(s.Site)]
		if !ok || len(s.Quotes) > 0 && len(s.Quotes) != len(b.cycle.asked[site]) || len(b.cycle.asked[site]) == 0 {
			return false
		}
		open--
		if len(s.Quotes) == 0 {
			r.mute[s.Site] = true
		}
		for i, q := range s.Quotes {
			l := b.cycle.asked[site][i]
			l.quote = bourse.Quote{Fare: q.Fare, Delayed: q.Delayed, Refusal: q.Refusal}
			r.quotes[byLeg[l]] = l.quote
		}
	}
	for _, name := range r.planned.Gone {
		for i := range b.cycle.plans {
			if b.cycle.plans[i].job.Name == name {
				b.cycle.plans[i].over = true
			}
		}
	}
	return open == 0
}

// same reports whether the rerun has chosen what is on record.
func (r *Rerun) same() bool {
	if r.planned == nil {
		return !slices.ContainsFunc(r.as, func(o Outcome) bool { return o.Chosen > 0 })
	}
	k := 0
	for i := range r.as {
		o := &r.as[i]
		if o.Chosen == 0 {
			continue
		}
		if k == len(r.planned.Chosen) {
			return false
		}
		x, a := &r.planned.Chosen[k], o.Taken()
		if x.Job != o.Job || x.Alternative != o.Chosen || x.Start != a.Start || x.End != a.End || x.Cost != a.Fare.Total() {
			return false
		}
		k++
	}
	return k == len(r.planned.Chosen)
}

// As returns what the cycle came to as it was, job by job in serving order.
func (r *Rerun) As() []Outcome { return r.as }

// With returns what the cycle would have come to for a job with a change. A
// contended leg that was not quoted in the cycle is taken at its base price, as
// a guess. It costs a search and a selection of the whole batch. An unknown job
// and a request that makes no sense are errors.
func (r *Rerun) With(job string, c Change) (Outcome, error) {
	at := slices.IndexFunc(r.seen.Jobs, func(j bourse.CycleJob) bool { return j.Name == job })
	if at < 0 {
		return Outcome{}, fmt.Errorf("cycle %d has no job %q", r.seen.Cycle, job)
	}
	if c.Request.Nodes > 0 {
		if why := unsound(&bourse.Job{Name: job, Request: c.Request}); why.Refused() {
			return Outcome{}, errors.New(why.String())
		}
	}
	if c.With != nil {
		if before, ok := r.offers[c.With.Site]; ok {
			defer func() { r.offers[c.With.Site] = before }()
		} else {
			defer delete(r.offers, c.With.Site)
		}
		if err := r.offer(c.With); err != nil {
			return Outcome{}, err
		}
	}
	b, err := r.replica(&c, job)
	if err != nil {
		return Outcome{}, err
	}
	var out agents.Outbox
	if b.look(&out) {
		b.askQuotes(&out)
		r.answerChanged(b, &c)
	}
	return b.finishRerun(&out)[at], nil
}

// answerChanged hands a rerun the quotes that are on record, and a guess where
// there is none.
func (r *Rerun) answerChanged(b *Broker, c *Change) {
	gone := map[string]bool{}
	if r.planned != nil {
		for _, name := range r.planned.Gone {
			gone[name] = true
		}
	}
	for i := range b.cycle.plans {
		p := &b.cycle.plans[i]
		p.over = p.over || gone[p.job.Name]
		for k := range p.alternatives {
			for n := range p.alternatives[k].legs {
				l := &p.alternatives[k].legs[n]
				if !l.contended {
					continue
				}
				site := siteName(b.sites[l.site])
				q, known := r.quotes[quoted{site, p.job.User, l.what}]
				switch {
				case known && !(q.Refusal.Refused() && site == c.Waive):
					l.quote = q
				case r.mute[site] && site != c.Waive: // would not have answered for this one either
				default:
					l.quote.Refusal, l.guess = bourse.Reason{}, true
				}
			}
		}
	}
}

// Earliest looks for the earliest window of a request in what was offered, for it
// alone: no other job, no limit and no account is in the way but its own budget.
// It costs one search.
func (r *Rerun) Earliest(want bourse.Request) (Option, bourse.Reason) {
	if why := unsound(&bourse.Job{Name: "x", Request: want}); why.Refused() {
		return Option{}, why
	}
	b, err := r.replica(&Change{}, "")
	if err != nil {
		return Option{}, reason(bourse.Invalid, "%v", err)
	}
	m := &b.cycle.market
	m.open(r.seen.From, r.seen.Horizon)
	if len(m.groups) == 0 {
		return Option{}, m.silence(r.seen.Terms.OfferWait)
	}
	found := m.finder.Batch([]bourse.Request{want}, search.Options{MaxAlternatives: max(1, len(want.Sizes)), Notice: r.seen.From})
	if len(found.Alternatives[0]) == 0 {
		return Option{}, found.Reasons[0]
	}
	p := plan{job: &job{Job: bourse.Job{Request: want}}, request: want}
	first := slices.MinFunc(found.Alternatives[0], func(x, y bourse.Window) int { return cmp.Compare(x.Start, y.Start) })
	p.add(m, []bourse.Window{first})
	for i := range p.alternatives[0].legs {
		l := &p.alternatives[0].legs[i]
		l.guess = l.contended
	}
	return b.option(&p, &p.alternatives[0]), bourse.Reason{}
}
