package explain

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// maxSites bounds the sites of which each kind of change is tried.
const maxSites = 8

// sites: what those that could not be used would have offered, and those that
// refused to carry a leg.
func (x *examiner) sites() {
	looked := 0
	for _, s := range x.on.seen.Sites {
		if s.Answer == "usable" {
			continue
		}
		last, ok := x.past.offered[s.Site]
		if looked++; looked > maxSites {
			x.unknown("what each of the sites would have changed that could not be used: only the first %d were looked at", maxSites)
			break
		}
		if !ok {
			x.unknown("what %s would have offered, which was %s: no offer of it is on record", s.Site, s.Answer)
			continue
		}
		with := planning.Change{With: &last.site}
		if o := x.plan(with); o != nil && x.better(o) {
			x.add(Change{What: "site", Site: s.Site, Words: fmt.Sprintf("an offer of %s as it made one for cycle %d (it was %s)", s.Site, last.cycle, answered(s))}, o)
			x.Changes[len(x.Changes)-1].Guess = true
			continue
		}
		x.failed("%s with what it offered for cycle %d", s.Site, last.cycle)
	}
	var refusing []string
	for _, o := range x.as.Options {
		for _, l := range o.Legs {
			if l.Refusal.Refused() && !slices.Contains(refusing, l.Site) && len(refusing) < maxSites {
				refusing = append(refusing, l.Site)
			}
		}
	}
	for _, site := range refusing {
		with := planning.Change{Waive: site}
		if o := x.plan(with); o != nil && x.better(o) {
			x.add(Change{What: "waive", Site: site, Words: fmt.Sprintf("%s not refusing (%v)", site, x.refusal(site))}, o)
		} else {
			x.failed("%s not refusing (%v)", site, x.refusal(site))
		}
	}
}

// answered says how a site answered that could not be used.
func answered(s facts.SiteSeen) string {
	if s.Reason.Refused() {
		return s.Answer + ": " + s.Reason.String()
	}
	if s.Answer == "left" {
		return "gone"
	}
	return s.Answer
}

// refusal is the first reason for which a site has refused to carry a leg.
func (x *examiner) refusal(site string) grid.Reason {
	for _, o := range x.as.Options {
		for _, l := range o.Legs {
			if l.Site == site && l.Refusal.Refused() {
				return l.Refusal
			}
		}
	}
	return grid.Reason{}
}

// without: what the window would have been without each of its sites.
func (x *examiner) without() {
	taken := x.as.Taken()
	if taken == nil {
		return
	}
	for i, site := range sitesOf(taken) {
		if i == maxSites || len(x.on.seen.Sites) == 1 {
			return
		}
		with := planning.Change{Without: site}
		if o := x.plan(with); o != nil {
			x.add(Change{What: "without", Site: site, Words: "no " + site}, o)
		}
	}
}

// refusals: a window was chosen, and every try of one was refused. What would
// have come of leaving out each site that refused.
func (x *examiner) refusals() {
	for _, site := range x.refusers() {
		with := planning.Change{Without: site}
		if o := x.plan(with); o != nil {
			x.add(Change{What: "without", Site: site, Words: "no " + site}, o)
		}
	}
	x.unknown("what would have had its windows held: they fitted what was offered, and were refused afterwards")
}

// refusers are the sites of the windows that were tried in vain.
func (x *examiner) refusers() []string {
	var list []string
	for _, t := range x.on.tries {
		i := slices.IndexFunc(x.as.Options, func(o planning.Option) bool { return o.Number == t.alternative })
		if i < 0 || t.commit {
			continue
		}
		for _, site := range sitesOf(&x.as.Options[i]) {
			if !slices.Contains(list, site) && len(list) < maxSites {
				list = append(list, site)
			}
		}
	}
	return list
}
