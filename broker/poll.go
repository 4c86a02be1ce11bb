package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// poll is a request for offers to several sites, with their answers, in the canonical
// order of the sites. Offers come from strangers: a site whose offer makes no sense
// counts as closed.
type poll struct {
	ids    []agents.ID
	sites  []planning.Site
	away   []bool // by site: it left before it answered
	spared []bool // by site: it is not waited for, see silent.go
}

// newPoll is a poll of these sites before any has answered.
func newPoll(ids []agents.ID) poll {
	p := poll{ids: ids, sites: make([]planning.Site, len(ids)), away: make([]bool, len(ids)), spared: make([]bool, len(ids))}
	p.reset()
	return p
}

// reset forgets the previous cycle's answers.
func (p *poll) reset() {
	for i, id := range p.ids {
		p.sites[i] = planning.Site{Name: transaction.SiteName(id)}
	}
	clear(p.away)
}

// open reports whether a site may still answer.
func (p *poll) open(site int32) bool { return p.sites[site].Answer == planning.Silent && !p.away[site] }

// take keeps a site's offers, requested and received at these instants, unless the site
// has answered or left already. It reports whether the site was waited for.
func (p *poll) take(asked, now grid.Time, site int32, o agents.Offers) bool {
	if !p.open(site) {
		return false
	}
	p.sites[site] = planning.Site{Name: p.sites[site].Name, Answer: judge(asked, now, &o),
		Refusal: o.Refusal, Version: o.Version, Now: o.Now, Groups: o.Groups}
	return !p.spared[site]
}

// judge says whether offers can be used. By the site's clock they must have been made
// between request and receipt; if that clock is off, the instants in them mean nothing.
func judge(asked, now grid.Time, o *agents.Offers) planning.Answer {
	switch {
	case o.Refusal.Refused():
		return planning.Closed
	case o.Now > now.Add(grid.ClockSkew) || o.Now < asked.Add(-grid.ClockSkew):
		return planning.Skewed
	case !planning.SoundGroups(o.Groups):
		return planning.Closed
	}
	return planning.Usable
}

// leave notes that a site has left, and reports whether it was waited for.
func (p *poll) leave(site int32) bool {
	if !p.open(site) {
		return false
	}
	p.away[site] = true
	return !p.spared[site]
}
