package web

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
	"github.com/bourse-grid/bourse/web/api"
)

// Bounds of what is remembered for the live page beside the steps.
const (
	mostOutages = 64               // of each site, the latest
	purseEvery  = 30 * grid.Minute // between two looks at the accounts
	mostPurses  = 2*24 + 1         // a day of them
	shortest    = 10 * grid.Second // of an outage: a site is silent until it first answers
)

// outage is a time in which a site took nothing new. until is 0 while it goes on.
type outage struct {
	what, why   string // the site's state, and its reason
	from, until grid.Time
}

// purse is what each account that has an end had used at an instant: the VO's is "".
type purse struct {
	at   grid.Time
	used map[string]grid.Credits
}

// stand remembers how the sites stand now, and what has been spent.
func (p *past) stand(list []api.Site, b *broker.Broker, now grid.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stood(list, now)
	if n := len(p.purse); n == 0 || now >= p.purse[n-1].at.Add(purseEvery) {
		p.purse = append(p.purse, purse{now, used(b, now)})
		p.purse = p.purse[max(0, len(p.purse)-mostPurses):]
	}
}

// stood begins and ends the outages of the sites; the lock is held.
func (p *past) stood(list []api.Site, now grid.Time) {
	for i := range list {
		s := &list[i]
		away := p.away[s.Name]
		last := outage{until: 1}
		if n := len(away); n > 0 {
			last = away[n-1]
		}
		out := s.State != "usable" && s.State != "not-asked"
		if last.until == 0 && (!out || last.what != s.State) {
			away[len(away)-1].until = now
			last.until = now
		}
		if out && last.until != 0 {
			away = append(away, outage{what: s.State, why: whyAway(s), from: now})
		}
		away = slices.DeleteFunc(away, func(o outage) bool {
			return o.until != 0 && (o.until < now.Add(-pastSpan) || o.until < o.from.Add(shortest))
		})
		if p.away[s.Name] = away; len(away) > mostOutages {
			p.away[s.Name] = away[len(away)-mostOutages:]
		}
	}
}

// standings are the sites without their nodes.
func standings(b *broker.Broker) (list []api.Site) {
	for v := range b.Sites() {
		x := api.Site{Name: v.Name, State: siteState(&v), Refusal: api.ReasonOf(v.Refusal)}
		if v.Lost != nil {
			x.Lost = &api.SiteLoss{Reason: v.Lost.Reason.String()}
		}
		list = append(list, x)
	}
	return list
}

// whyAway is why a site takes nothing, "" if nobody has said.
func whyAway(s *api.Site) string {
	switch {
	case s.Lost != nil:
		return s.Lost.Reason
	case s.Refusal != nil:
		return cmp.Or(s.Refusal.Detail, s.Refusal.Code)
	}
	return ""
}

// used is what is spent or promised of the accounts that have an end.
func used(b *broker.Broker, now grid.Time) map[string]grid.Credits {
	a := accountsOf(b, Caller{Role: Operator}, now)
	list := map[string]grid.Credits{"": a.Money.Spent.Plus(a.Money.Pending.Credits)}
	for i := range a.Users {
		if u := &a.Users[i]; u.Quota != nil {
			list[u.User] = u.Spent.Plus(u.Pending.Credits)
		}
	}
	return list
}

// outs are the outages of a site in the form for a view.
func (p *past) outs(site string, epoch grid.Time) (list []view.Out) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.away[site] {
		x := view.Out{What: o.what, Why: o.why, Start: int64(o.from - epoch)}
		if o.until != 0 {
			end := int64(o.until - epoch)
			x.End = &end
		}
		list = append(list, x)
	}
	return list
}

// since is when the outage began that a site is in; 0: it is in none.
func (p *past) since(site string) grid.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.away[site]); n > 0 && p.away[site][n-1].until == 0 {
		return p.away[site][n-1].from
	}
	return 0
}

// lasts is how long what is left of an account lasts at the pace of the last day, and for
// how long that pace has been seen. false: less than one look back, or nothing was used.
func (p *past) lasts(account string, use, left grid.Credits, now grid.Time) (lasts, seen grid.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.purse {
		then, known := x.used[account]
		if seen = now.Sub(x.at); !known || seen > pastSpan || seen < purseEvery {
			continue
		}
		if use <= then {
			return 0, seen, false
		}
		hours := left.Float() / (use - then).Float() * seen.Hours()
		return grid.Duration(min(hours, 1e6) * float64(grid.Hour)), seen, true
	}
	return 0, 0, false
}
