package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/policy/selection"
)

// What a cycle saw and chose goes on record as two facts, where Config.Explain
// asks for it: CycleSeen when the search begins, CyclePlanned when the choice is
// made. They hold all that the plan is a function of, so that Rerun makes the
// same one, or the one that another budget or another site would have led to.
// No state follows from them.

// detail is how much was recorded in the hour under way.
type detail struct {
	hour  int64
	bytes int
}

// Sizes of what is recorded, in bytes, roughly.
const (
	stepSize  = 12
	groupSize = 120
	jobSize   = 250
	quoteSize = 60
)

// affords reports whether so many bytes may still be recorded in this hour, and
// counts them if so. A restart begins afresh.
func (d *detail) affords(now bourse.Time, bytes, most int) bool {
	if h := int64(now) / int64(bourse.Hour); h != d.hour {
		*d = detail{hour: h}
	}
	if bytes > most-d.bytes {
		return false
	}
	d.bytes += bytes
	return true
}

// recordSeen records what a cycle has before it. Beyond the bound it is the
// names only.
func (b *Broker) recordSeen(now bourse.Time, out *agents.Outbox) {
	if b.cfg.Explain == 0 {
		return
	}
	c := &b.cycle
	m := &c.market
	size := jobSize * len(c.plans)
	for i := range m.offers {
		for k := range m.offers[i].Groups {
			g := &m.offers[i].Groups[k]
			size += groupSize + stepSize*(len(g.Admissible)+len(g.Clear))
		}
	}
	f := bourse.CycleSeen{Cycle: c.number, Opened: c.opened, From: c.from, Horizon: c.horizon, Terms: b.terms(),
		Cut: !b.detail.affords(now, size, b.cfg.Explain)}
	for i := range c.plans {
		j := c.plans[i].job
		x := bourse.CycleJob{Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Gone: c.plans[i].over}
		if !f.Cut {
			x.Request = c.plans[i].request
		}
		for k, shut := range c.plans[i].shut {
			if shut {
				x.Barred = append(x.Barred, b.bars[pair{siteName(b.sites[k]), j.User}])
			}
		}
		f.Jobs = append(f.Jobs, x)
	}
	for i, id := range m.sites {
		s := siteSeen(id, m.answers[i], &m.offers[i], f.Cut)
		for k := range s.Groups {
			if b.cfg.oneByOne() {
				s.Groups[k].Queued = m.offers[i].Groups[k].Queued
			}
		}
		f.Sites = append(f.Sites, s)
	}
	for _, id := range b.known {
		if p := b.peers[id]; !slices.Contains(b.sites, id) {
			s := bourse.SiteSeen{Site: siteName(id), Answer: "unlisted"}
			if !p.member {
				s.Answer = "left"
			}
			f.Sites = append(f.Sites, s)
		}
	}
	out.Record(f)
}

// siteSeen is how a site answered. What it offered is left out where it cannot
// be used, or there is no room.
func siteSeen(id agents.ID, a answer, o *agents.Offers, cut bool) bourse.SiteSeen {
	s := bourse.SiteSeen{Site: siteName(id), Answer: a.String(), Reason: o.Refusal, Version: o.Version, Now: o.Now}
	if a != usable || cut {
		return s
	}
	s.Groups = make([]bourse.GroupSeen, len(o.Groups))
	for i := range o.Groups {
		g := &o.Groups[i]
		x := bourse.GroupSeen{Group: g.Group.Name, Nodes: g.Group.Nodes, Performance: g.Group.Performance, Price: g.Group.Price,
			Machine: g.Group.Machine, Shared: g.Shared, Free: g.Admissible.Curve()}
		if !slices.Equal(g.Admissible, g.Clear) {
			x.Clear = g.Clear.Curve()
		}
		s.Groups[i] = x
	}
	return s
}

// terms are the settings that a plan follows from.
func (b *Broker) terms() bourse.Terms {
	c := &b.cfg
	t := bourse.Terms{Algorithm: c.Algorithm.String(), WeightTime: c.Weights.Time, WeightCost: c.Weights.Cost, WeightFinish: c.Weights.Finish,
		Minimize: c.Minimize.String(), MaxAlternatives: c.MaxAlternatives, Lead: c.Lead, Cycle: c.Cycle, OfferWait: c.OfferWait}
	if c.oneByOne() {
		t.Strategy, t.Alpha, t.Draws = c.Strategy.String(), int64(c.Alpha), c.Draws
	}
	if c.BudgetLimit != selection.Auto {
		t.BudgetLimit, t.BudgetGiven = c.BudgetLimit, true
	}
	if c.TimeLimit != selection.Auto {
		t.TimeLimit, t.TimeGiven = c.TimeLimit, true
	}
	return t
}

// quotasSeen is what the quotas of the batch's users leave, in serving order.
func (b *Broker) quotasSeen() []bourse.QuotaSeen {
	var list []bourse.QuotaSeen
	if b.cfg.Explain == 0 || len(b.cfg.Quotas) == 0 {
		return nil
	}
	for i := range b.cycle.plans {
		user := b.cycle.plans[i].job.User
		if _, ok := b.cfg.Quotas[user]; !ok || slices.ContainsFunc(list, func(q bourse.QuotaSeen) bool { return q.User == user }) {
			continue
		}
		left := b.userLeft(user)
		list = append(list, bourse.QuotaSeen{User: user, Left: max(left, 0), Passed: left < 0})
	}
	return list
}

// quotesSeen is what the sites have answered to the requests for quotes, in the
// order of the requests' legs; size is what they take on record.
func (b *Broker) quotesSeen() (list []bourse.SiteQuotes, size int) {
	by := make([][]bourse.QuoteSeen, len(b.sites))
	answered := make([]bool, len(b.sites))
	for i := range b.cycle.plans {
		p := &b.cycle.plans[i]
		for k := range p.alternatives {
			for n := range p.alternatives[k].legs {
				l := &p.alternatives[k].legs[n]
				if !l.contended {
					continue
				}
				q := &l.quote
				by[l.site] = append(by[l.site], bourse.QuoteSeen{Fare: q.Fare, Delayed: q.Delayed, Refusal: q.Refusal})
				answered[l.site] = answered[l.site] || q.Refusal != unanswered
				size += quoteSize + len(q.Refusal.Detail)
			}
		}
	}
	for i, quotes := range by {
		switch {
		case answered[i]:
			list = append(list, bourse.SiteQuotes{Site: siteName(b.sites[i]), Quotes: quotes})
		case len(quotes) > 0:
			list = append(list, bourse.SiteQuotes{Site: siteName(b.sites[i])})
		}
	}
	return list, size
}

// planned begins the record of what a cycle chooses: it is made before the
// choice, of what that depends on.
func (b *Broker) planned(now bourse.Time) bourse.CyclePlanned {
	c := &b.cycle
	f := bourse.CyclePlanned{Cycle: c.number, Left: b.voLeft(), Quotas: b.quotasSeen()}
	for i := range c.plans {
		if j := c.plans[i].job; j.state == bourse.JobWithdrawn {
			f.Gone = append(f.Gone, j.Name)
		}
	}
	quotes, size := b.quotesSeen()
	if f.Quotes = quotes; !b.detail.affords(now, size, b.cfg.Explain) {
		f.Quotes, f.Cut = nil, true
	}
	return f
}

// chosen is what a cycle has chosen, job by job.
func (b *Broker) chosen() []bourse.Planned {
	var list []bourse.Planned
	for i := range b.cycle.plans {
		p := &b.cycle.plans[i]
		if p.over || p.choice < 0 {
			continue
		}
		a := &p.alternatives[p.choice]
		list = append(list, bourse.Planned{Job: p.job.Name, Found: p.found, Alternative: a.number, Start: a.start(), End: a.end, Cost: a.cost})
	}
	return list
}
