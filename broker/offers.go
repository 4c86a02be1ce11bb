package broker

import (
	"bourse"
	"bourse/agents"
	"bourse/policy/search"
)

// market is what the sites have offered in a cycle: the groups of those that
// answered, in the canonical order of their sites, and what is free on them. An
// offer is data of the moment and of a stranger: one that makes no sense counts
// as a site closed to us.
type market struct {
	sites    []agents.ID
	offers   []agents.Offers // by site
	answers  []answer        // by site
	away     []bool          // by site: it has left before it said anything
	spared   []bool          // by site: nobody waits for it, see silent.go
	answered int             // sites whose offers can be used
	told     int             // sites that said anything

	groups     []bourse.Group
	siteOf     []int32 // by group
	admissible []bourse.Profile
	clear      []bourse.Profile
	queued     []bourse.Duration
	shared     []bool
	list       *search.List
	finder     *search.Finder
	rest       []bourse.Profile // scratch of searchClear
}

// answer is how a site answered a request for offers.
type answer uint8

const (
	silent answer = iota
	closed        // to us, or its offers cannot be used
	skewed        // its clock is off
	usable
)

var answerNames = [...]string{"silent", "closed", "skewed", "usable"}

// String names the answer.
func (a answer) String() string { return answerNames[a] }

// maxSkew is how far a site's clock may be off before its offers, which are in
// absolute time, can not be used. An offer was made between request and receipt.
const maxSkew = bourse.ClockSkew

func (m *market) init(sites []agents.ID) {
	m.sites = sites
	m.offers = make([]agents.Offers, len(sites))
	m.answers = make([]answer, len(sites))
	m.away, m.spared = make([]bool, len(sites)), make([]bool, len(sites))
	m.list = new(search.List)
	m.finder = search.NewFinder(m.list)
}

// reset forgets the offers of the cycle before.
func (m *market) reset() {
	clear(m.offers)
	clear(m.answers)
	clear(m.away)
	m.answered, m.told = 0, 0
}

// take keeps a site's offers, asked for and received at these instants, unless
// there are some already, or the site has left meanwhile. It reports whether one
// less is waited for.
func (m *market) take(asked, now bourse.Time, site int32, o agents.Offers) bool {
	if m.answers[site] != silent || m.away[site] {
		return false
	}
	m.told++
	m.offers[site] = o
	if m.answers[site] = judge(asked, now, &o); m.answers[site] == usable {
		m.answered++
	}
	return !m.spared[site]
}

// judge says what offers are good for.
func judge(asked, now bourse.Time, o *agents.Offers) answer {
	switch {
	case o.Refusal.Refused():
		return closed
	case o.Now > now.Add(maxSkew) || o.Now < asked.Add(-maxSkew):
		return skewed
	case len(o.Groups) > maxGroups:
		return closed
	}
	for i := range o.Groups {
		if !sound(&o.Groups[i]) {
			return closed
		}
	}
	return usable
}

// leave notes that a site has left; it reports whether one less is waited for.
func (m *market) leave(site int32) bool {
	if m.answers[site] != silent || m.away[site] {
		return false
	}
	m.away[site] = true
	return !m.spared[site]
}

// maxGroups and maxSteps bound what one site may offer.
const (
	maxGroups = 1024
	maxSteps  = 1 << 17
)

// sound reports whether a group's offer is one that can be reckoned with.
func sound(o *agents.GroupOffer) bool {
	g := &o.Group
	return g.Nodes >= 0 && g.Nodes <= maxNodes &&
		g.Performance > 0 && g.Performance <= bourse.MaxPerformance &&
		g.Price >= 0 && g.Price <= bourse.MaxPrice && o.Queued >= 0 && o.Queued <= bourse.MaxDuration &&
		soundProfile(o.Admissible, g.Nodes) && soundProfile(o.Clear, g.Nodes)
}

func soundProfile(p bourse.Profile, nodes int) bool {
	for i := range p {
		if p[i].Free > nodes || i > 0 && p[i].At <= p[i-1].At || p[i].At > bourse.Never {
			return false
		}
	}
	return len(p) > 0 && len(p) <= maxSteps
}

// open makes the list of slots over [from, to) of what was offered.
func (m *market) open(from, to bourse.Time) {
	m.groups, m.siteOf = m.groups[:0], m.siteOf[:0]
	m.admissible, m.clear, m.queued = m.admissible[:0], m.clear[:0], m.queued[:0]
	m.shared = m.shared[:0]
	for site := range m.offers {
		if m.answers[site] != usable {
			continue
		}
		name := siteName(m.sites[site])
		for i := range m.offers[site].Groups {
			o := &m.offers[site].Groups[i]
			m.groups = append(m.groups, o.Group)
			m.groups[len(m.groups)-1].Site = name
			m.siteOf = append(m.siteOf, int32(site))
			m.admissible = append(m.admissible, o.Admissible)
			m.clear = append(m.clear, o.Clear)
			m.queued = append(m.queued, o.Queued)
			m.shared = append(m.shared, o.Shared)
		}
	}
	m.list.ResetFungible(m.groups, m.admissible, from, to)
}

// openClear makes the list of slots over [from, to) of what is clear and not
// taken by the alternatives that are left. A window found there overlaps none
// of them and costs its base price.
func (m *market) openClear(from, to bourse.Time, plans []plan) {
	for len(m.rest) < len(m.clear) {
		m.rest = append(m.rest, nil)
	}
	m.rest = m.rest[:len(m.clear)]
	for g := range m.clear {
		m.rest[g] = append(m.rest[g][:0], m.clear[g]...)
	}
	for i := range plans {
		for _, part := range plans[i].parts() {
			m.rest[part.Group].Add(max(part.Start, m.rest[part.Group][0].At), part.End, -int(part.Count))
		}
	}
	m.list.ResetFungible(m.groups, m.rest, from, to)
}

// complete reports whether every site has answered with offers that can be
// used, so that what they do not have nobody has.
func (m *market) complete() bool { return m.answered == len(m.sites) && m.answered > 0 }

// skewed lists the sites whose clocks are off.
func (m *market) skewed() []string {
	var list []string
	for site, a := range m.answers {
		if a == skewed {
			list = append(list, siteName(m.sites[site]))
		}
	}
	return list
}

// silence says why there is nothing to search.
func (m *market) silence(wait bourse.Duration) bourse.Reason {
	if len(m.sites) == 0 {
		return reason(bourse.NoOffer, "no site is there at present")
	}
	for site, o := range m.offers {
		if m.answers[site] == closed && o.Refusal.Refused() {
			return reason(bourse.NoOffer, "no site offers anything; %s: %v", siteName(m.sites[site]), o.Refusal)
		}
	}
	if off := m.skewed(); len(off) > 0 {
		return reason(bourse.NoOffer, "no site offers anything that can be used; the clock of %s is more than %s off", off[0], maxSkew.Words())
	}
	if m.told > 0 {
		return reason(bourse.NoOffer, "%d of %d sites answered, none with offers that can be used", m.told, len(m.sites))
	}
	return reason(bourse.NoOffer, "none of %d sites answered within %v s", len(m.sites), wait)
}

// quickest is how long a request takes on the fastest nodes offered for it; false
// if there are none.
func (m *market) quickest(r *bourse.Request) (bourse.Duration, bool) {
	var best bourse.Performance
	for i := range m.offers {
		if m.answers[i] != usable {
			continue
		}
		for k := range m.offers[i].Groups {
			if g := &m.offers[i].Groups[k].Group; g.Performance >= r.MinPerformance && r.Require.MetBy(g.Machine) {
				best = max(best, g.Performance)
			}
		}
	}
	if best == 0 {
		return 0, false
	}
	return best.Runtime(r.Shortest()), true
}

// soonest is the earliest end a request could have from an instant on if
// everything were free.
func (m *market) soonest(r *bourse.Request, from bourse.Time) bourse.Time {
	best := bourse.Never
	for i := range m.groups {
		g := &m.groups[i]
		if g.Performance >= r.MinPerformance && r.Require.MetBy(g.Machine) {
			best = min(best, max(from, r.Ready).Add(g.Performance.Runtime(r.Shortest())))
		}
	}
	return best
}
