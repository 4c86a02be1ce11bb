package broker

import (
	"cmp"
	"slices"
	"strings"

	"bourse"
	"bourse/agents"
)

// A site that is closed to a user says so when it is asked for a quote or a Hold, not
// in its offers, which are of nobody in particular. A broker remembers that: for a
// time it leaves the site out of this user's alternatives, repairs and moves. Then it
// asks again, and waits twice as long after the next such refusal; once the site
// holds something for the user, all is forgotten. Rows B127 to B129.

// firstBar is how long a site is left out after its first refusal, longestBar the
// most. maxBars bounds what is remembered: beyond it the one that ends first goes.
const (
	firstBar   = bourse.Hour
	longestBar = 4 * bourse.Hour
	maxBars    = 10_000
)

// pair is a site and a user whom it is closed to.
type pair struct{ site, user string }

// shutOut remembers that a site has refused something for a user's sake, unless it
// does already.
func (b *Broker) shutOut(now bourse.Time, site, user string, why bourse.Reason, out *agents.Outbox) {
	if why.Code != bourse.NotAllowed || b.isShut(now, site, user) {
		return
	}
	wait := firstBar
	if x, again := b.bars[pair{site, user}]; again {
		wait = min(2*x.Wait, longestBar)
	}
	b.record(bourse.UserBarred{Site: site, User: user, Until: now.Add(wait), Wait: wait}, out)
}

// isShut reports whether a site is not asked for anything of a user.
func (b *Broker) isShut(now bourse.Time, site, user string) bool {
	return b.bars[pair{site, user}].Until > now
}

// shutSites lists the sites of the cycle under way, or of other ones, that are not
// asked for anything of a user: by place, nil if there are none.
func (b *Broker) shutSites(now bourse.Time, user string, sites []agents.ID) []bool {
	var list []bool
	if len(b.bars) == 0 {
		return nil
	}
	for i, id := range sites {
		if b.isShut(now, siteName(id), user) {
			if list == nil {
				list = make([]bool, len(sites))
			}
			list[i] = true
		}
	}
	return list
}

// shutGroups lists the groups of those sites.
func (m *market) shutGroups(sites []bool) []bool {
	if sites == nil {
		return nil
	}
	list := make([]bool, len(m.groups))
	for g, site := range m.siteOf {
		list[g] = sites[site]
	}
	return list
}

// leftOut adds to the reason for which a job has no window which sites were left out.
// Where no other site has offered anything, that is the reason.
func (b *Broker) leftOut(p *plan, r bourse.Reason) bourse.Reason {
	var names []string
	others := len(b.cycle.market.groups) == 0
	for i, shut := range p.shut {
		if name := siteName(b.sites[i]); shut {
			names = append(names, string(bourse.Say("%s (asked again at %v)", name, b.bars[pair{name, p.job.User}].Until)))
		} else {
			others = others || b.cycle.market.answers[i] == usable
		}
	}
	words := bourse.Say("closed to %s: %v", cmp.Or(p.job.User, "users without a name"), bourse.Phrase(strings.Join(names, ", ")))
	if !others {
		return reason(bourse.NotAllowed, "%s; no other site offers anything", words)
	}
	return reason(r.Code, "%v; %s", r, words)
}

// applyBarred remembers it, and forgets what has been over for long.
func (b *Broker) applyBarred(f bourse.UserBarred) {
	now := f.Until.Add(-f.Wait)
	for k, x := range b.bars {
		if x.Until.Add(longestBar) <= now {
			delete(b.bars, k)
		}
	}
	b.bars[pair{f.Site, f.User}] = f
	if len(b.bars) > b.most {
		x := slices.MinFunc(b.barred(), func(x, y bourse.UserBarred) int { return cmp.Compare(x.Until, y.Until) })
		delete(b.bars, pair{x.Site, x.User})
	}
}

// barred lists what is remembered, by site and user.
func (b *Broker) barred() []bourse.UserBarred {
	var list []bourse.UserBarred
	for _, x := range b.bars {
		list = append(list, x)
	}
	slices.SortFunc(list, func(x, y bourse.UserBarred) int {
		return cmp.Or(cmp.Compare(x.Site, y.Site), cmp.Compare(x.User, y.User))
	})
	return list
}
