package broker

import (
	"cmp"
	"slices"

	"bourse"
	"bourse/agents"
)

// plan is what a cycle knows of one job: its alternatives, the one chosen, and
// what came of the tries.
type plan struct {
	job          *job
	request      bourse.Request // what it asks for, bounded by those that it comes after or that come after it
	shut         []bool         // by site: it is closed to the job's user; nil if none is
	alternatives []alternative  // that have not been dropped, in the order found
	found        int            // so far, dropped ones included
	choice       int            // index into alternatives, -1 for none
	tries        int            // transactions begun
	last         int            // number of the alternative tried last
	over         bool           // placed or postponed
	why          bourse.Reason  // why an alternative fell out last
}

// alternative is a window with the legs that sites are asked for.
type alternative struct {
	number int         // from 1, in the order found
	size   bourse.Size // of the job
	time   bourse.Duration
	end    bourse.Time
	cost   bourse.Credits // with quotes
	legs   []planLeg      // in the canonical order of sites, then group
	tried  bool
}

// start is the common start of the legs.
func (a *alternative) start() bourse.Time { return a.legs[0].what.Start }

// planLeg is one leg of an alternative.
type planLeg struct {
	group     int32 // index into the market's groups
	site      int32
	what      bourse.Leg
	contended bool
	quote     bourse.Quote // base price where the leg is clear
	guess     bool         // of a rerun: it is contended and was not quoted
}

// add makes alternatives of windows. A leg is clear, and its base price exact,
// iff the group has enough clear nodes all along.
func (p *plan) add(m *market, windows []bourse.Window) {
	parts := 0
	for i := range windows {
		parts += len(windows[i].Parts)
	}
	arena := make([]planLeg, 0, parts)
	p.alternatives = slices.Grow(p.alternatives, len(windows))
	for i := range windows {
		w := &windows[i]
		first := len(arena)
		for _, part := range w.Parts {
			g := &m.groups[part.Group]
			l := planLeg{group: part.Group, site: m.siteOf[part.Group],
				what: bourse.Leg{Group: g.Name, Nodes: int(part.Count), Start: part.Start, End: part.End}}
			l.contended = m.clear[part.Group].Min(part.Start, part.End) < l.what.Nodes
			l.quote.Fare.Base = part.Cost
			arena = append(arena, l)
		}
		legs := arena[first:len(arena):len(arena)]
		slices.SortFunc(legs, func(a, b planLeg) int { return cmp.Compare(a.group, b.group) })
		p.found++
		p.alternatives = append(p.alternatives,
			alternative{number: p.found, size: p.request.SizeOn(w.Nodes()), time: w.Time, end: w.End(), cost: w.Cost, legs: legs})
	}
}

// price reckons the full costs after the quotes and drops the alternatives
// that a site will not carry or that pass the job's budget. It reports false
// if none is left.
func (p *plan) price() bool {
	p.alternatives = slices.DeleteFunc(p.alternatives, func(a alternative) bool {
		a.cost = 0
		for i := range a.legs {
			if r := a.legs[i].quote.Refusal; r.Refused() {
				p.why = r
				return true
			}
		}
		if cost := a.quoted(); cost > p.job.Budget {
			p.why = reason(bourse.OverBudget, "the window at %v costs %v credits with its adaptive part, the budget is %v", a.start(), cost, p.job.Budget)
			return true
		}
		return false
	})
	for i := range p.alternatives {
		p.alternatives[i].cost = p.alternatives[i].quoted()
	}
	return len(p.alternatives) > 0
}

// quoted is the sum of the legs' quotes.
func (a *alternative) quoted() bourse.Credits {
	var sum bourse.Credits
	for i := range a.legs {
		sum = sum.Plus(a.legs[i].quote.Fare.Total())
	}
	return sum
}

// askQuotes is phase 4: one request to each site for all its contended legs.
func (b *Broker) askQuotes(out *agents.Outbox) {
	c := &b.cycle
	for len(c.asked) < len(b.sites) {
		c.asked = append(c.asked, nil)
	}
	c.users = make([][]string, len(b.sites))
	users := c.users
	c.requested = make([]agents.QuoteRequest, len(c.asked))
	for i := range c.asked {
		c.asked[i] = c.asked[i][:0]
	}
	for i := range c.plans {
		p := &c.plans[i]
		for k := range p.alternatives {
			for n := range p.alternatives[k].legs {
				if l := &p.alternatives[k].legs[n]; l.contended {
					c.asked[l.site] = append(c.asked[l.site], l)
					users[l.site] = append(users[l.site], p.job.User)
				}
			}
		}
	}
	c.missing = 0
	for site, legs := range c.asked {
		if len(legs) == 0 {
			continue
		}
		c.missing++
		c.summary.Quoted += len(legs)
		m := agents.QuoteRequest{Ref: c.number, Legs: make([]bourse.Leg, len(legs))}
		if slices.ContainsFunc(users[site], func(u string) bool { return u != "" }) {
			m.Users = users[site]
		}
		for i, l := range legs {
			m.Legs[i] = l.what
			l.quote.Refusal = unanswered
		}
		c.requested[site] = m
		out.Send(b.sites[site], m)
	}
}

// unanswered is the quote of a leg whose site has not answered.
var unanswered = bourse.Reason{Code: bourse.NoOffer, Detail: "its site did not answer the request for a quote in time"}

// quoted takes one site's quotes; the last one ends the wait.
func (b *Broker) quoted(now bourse.Time, from agents.ID, m agents.Quotes, out *agents.Outbox) {
	if p := b.peers[from]; p != nil && p.listed {
		b.stamped(now, p, m.Stamp, out)
	}
	c := &b.cycle
	site, known := b.index[from]
	if c.phase != quoting || m.Ref != c.number || !known || len(c.asked[site]) == 0 || len(m.Quotes) != len(c.asked[site]) {
		return
	}
	for i, l := range c.asked[site] {
		if q := m.Quotes[i]; q.Refusal.Refused() || soundFare(q.Fare) {
			l.quote = q
		}
		b.shutOut(now, siteName(from), c.users[site][i], l.quote.Refusal, out)
	}
	c.asked[site] = c.asked[site][:0]
	if c.missing--; c.missing == 0 {
		b.reckon(now, out)
	}
}

// soundFare reports whether a fare is an amount that can be reckoned with.
func soundFare(f bourse.Fare) bool {
	return f.Base >= 0 && f.Base <= bourse.MaxBudget && f.Additive >= 0 && f.Additive <= bourse.MaxBudget
}

// searchClear looks once more, on what is clear and left over, for those who
// lost all their alternatives to the quotes.
func (b *Broker) searchClear(out *agents.Outbox) {
	c := &b.cycle
	c.market.openClear(c.from, c.horizon, c.plans)
	c.requests = c.requests[:0]
	c.candidates = c.candidates[:0]
	o := b.searchOptions()
	for i := range c.plans {
		if p := &c.plans[i]; !p.over && len(p.alternatives) == 0 {
			c.requests = append(c.requests, p.request)
			c.candidates = append(c.candidates, p)
			o.Barred = append(o.Barred, c.market.shutGroups(p.shut))
		}
	}
	r := c.market.finder.Batch(c.requests, o)
	for i, p := range c.candidates {
		p.add(&c.market, r.Alternatives[i])
		if !p.price() { // a cap on each node's price does not bind the sum
			b.giveUp(p, p.why, out)
		}
	}
}
