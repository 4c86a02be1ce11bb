package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// member reports whether a broker asks a site for anything new, by its record.
func (c *Checker) member(m *mirror, site string) bool {
	is, said := m.member[site]
	return said && is || !said && slices.Contains(world.SiteNames, site) && c.w.Knows(m.id, world.SiteID(site))
}

// word is what a life of a broker has been told of sites.
type word struct {
	process int
	life    uint64
}

// hears holds a broker to what the word of sites may do (I12, B65): it takes in sites alone, each
// once, asks one that has left for no offers of a cycle and begins nothing there, and gives no job
// up for want of nodes while others may follow, or may be back.
func (c *Checker) hears(s *sim.Step, m *mirror) error {
	if !strings.HasPrefix(string(s.ID), "broker:") || !c.w.Discovers() {
		return nil
	}
	if _, joins := s.Message.(agents.SiteJoined); joins && slices.ContainsFunc(s.Sends, asksOffers) {
		c.word[word{s.Process, s.Life}] = s.Now
	}
	for _, x := range s.Sends {
		if r, ok := x.Message.(agents.OfferRequest); ok && r.Cycle > 0 && r.Cycle < beyondCycles && !c.member(m, world.SiteName(x.To)) {
			return fmt.Errorf("B65: %s asks %s for offers of cycle %d, which has left", s.ID, x.To, r.Cycle)
		}
	}
	for _, f := range s.Facts {
		switch f := f.(type) {
		case facts.SiteJoined:
			if !slices.Contains(world.SiteNames, f.Site) && f.Site != world.SiteName(world.GhostID) {
				return fmt.Errorf("I12: %s takes %q for a site", s.ID, f.Site)
			}
			if c.member(m, f.Site) {
				return fmt.Errorf("B65: %s records that %s joins, which is a member", s.ID, f.Site)
			}
		case facts.SiteLeft:
			if !c.member(m, f.Site) {
				return fmt.Errorf("B65: %s records that %s leaves, which is no member", s.ID, f.Site)
			}
		case facts.TxBegun:
			for _, site := range f.Sites {
				if !c.member(m, site) {
					return fmt.Errorf("B65: %s begins %v at %s, which has left", s.ID, f.Tx, site)
				}
			}
		case facts.JobPostponed:
			if f.Final && (f.Reason.Code == grid.TooLarge || f.Reason.Code == grid.NoNode) {
				if err := c.mayGiveUp(s, m, f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// mayGiveUp checks that no site that may serve a job is missing for a while only.
func (c *Checker) mayGiveUp(s *sim.Step, m *mirror, f facts.JobPostponed) error {
	if at, told := c.word[word{s.Process, s.Life}]; told && s.Now < at.Add(world.Following) {
		return fmt.Errorf("B65: %s gives job %s up for good (%v) %v after discovery has named a site", s.ID, f.Job, f.Reason, s.Now.Sub(at))
	}
	for _, site := range world.SiteNames { // the horizon is as long as the storm
		if is, said := m.member[site]; said && !is {
			return fmt.Errorf("B65: %s gives job %s up for good (%v), and %s has left just now", s.ID, f.Job, f.Reason, site)
		}
	}
	return nil
}

// beyondCycles begins the numbers of requests for offers that are for no cycle.
const beyondCycles = 1 << 63

func asksOffers(s agents.Send) bool { _, ok := s.Message.(agents.OfferRequest); return ok }
