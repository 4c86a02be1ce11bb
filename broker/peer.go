package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// peer is a site, as a broker knows it.
type peer struct {
	id     agents.ID
	name   string // of the site
	member bool   // it is asked for offers
	went   bool   // it was a member and has left, at left
	left   grid.Time

	lost *loss // nil: it is not lost

	dealt uint32 // the latest life of the broker that has begun a transaction there; 0: none

	// This life only.
	heard     grid.Time // when it last sent anything
	asked     grid.Time // when it was first asked, since then, something it must answer; 0: it was not
	lists     grid.Time // when it was last asked for its legs
	silent    silence
	known     acquaintance
	has       []agents.GroupOffer // what it has, by its last offers, free or not; nil: not known
	clock     planning.Answer     // Usable or Skewed, by its last offers; otherwise Silent
	listed    bool
	stands    standing
	glance    glance
	legs      []agents.ListedLeg   // of its Listing, until all have listed
	places    map[grid.LegID]int32 // in legs
	memory    siteMemory
	owed      []grid.LegID // assertions not yet answered, in order
	told      int          // how many of them have been sent
	asserting map[grid.LegID]bool
}

// usable reports whether a site may be asked for anything new.
func (p *peer) usable() bool { return p.member && p.listed && p.lost == nil }
