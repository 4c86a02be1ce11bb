package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
)

// poll is a request for offers to several sites, and what they have answered, in the
// canonical order of the sites. An offer is data of the moment and of a stranger: one
// that makes no sense counts as a site closed to us.
type poll struct {
	ids    []agents.ID
	sites  []planning.Site
	away   []bool // by site: it has left before it said anything
	spared []bool // by site: nobody waits for it, see silent.go
}

// newPoll is a poll of these sites, before any has answered.
func newPoll(ids []agents.ID) poll {
	p := poll{ids: ids, sites: make([]planning.Site, len(ids)), away: make([]bool, len(ids)), spared: make([]bool, len(ids))}
	p.reset()
	return p
}

// reset forgets the answers of the cycle before.
func (p *poll) reset() {
	for i, id := range p.ids {
		p.sites[i] = planning.Site{Name: siteName(id)}
	}
	clear(p.away)
}

// open reports whether a site may still answer.
func (p *poll) open(site int32) bool { return p.sites[site].Answer == planning.Silent && !p.away[site] }

// take keeps a site's offers, asked for and received at these instants, unless
// there are some already, or the site has left meanwhile. It reports whether one
// less is waited for.
func (p *poll) take(asked, now bourse.Time, site int32, o agents.Offers) bool {
	if !p.open(site) {
		return false
	}
	p.sites[site] = planning.Site{Name: p.sites[site].Name, Answer: judge(asked, now, &o),
		Refusal: o.Refusal, Version: o.Version, Now: o.Now, Groups: o.Groups}
	return !p.spared[site]
}

// judge says what offers are good for. They were made between request and receipt,
// by the clock of their site: where that is off, instants in them mean nothing.
func judge(asked, now bourse.Time, o *agents.Offers) planning.Answer {
	switch {
	case o.Refusal.Refused():
		return planning.Closed
	case o.Now > now.Add(bourse.ClockSkew) || o.Now < asked.Add(-bourse.ClockSkew):
		return planning.Skewed
	case !planning.SoundGroups(o.Groups):
		return planning.Closed
	}
	return planning.Usable
}

// leave notes that a site has left; it reports whether one less is waited for.
func (p *poll) leave(site int32) bool {
	if !p.open(site) {
		return false
	}
	p.away[site] = true
	return !p.spared[site]
}
