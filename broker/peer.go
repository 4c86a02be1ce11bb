package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
)

// peer is a site, as a broker knows it.
type peer struct {
	id     agents.ID
	name   string // of the site
	member bool   // it is asked for offers
	went   bool   // it was a member and has left, at left
	left   bourse.Time

	lost *loss // nil: it is not lost

	trust trust
	dealt uint32 // the latest life of the broker that has begun a transaction there; 0: none

	// This life only.
	heard     bourse.Time // when it last sent anything
	asked     bourse.Time // when it was first asked, since then, something it must answer; 0: it was not
	lists     bourse.Time // when it was last asked for its legs
	silent    silence
	known     acquaintance
	clock     planning.Answer // Usable or Skewed, by its last offers; otherwise Silent
	listed    bool
	stands    standing
	glance    glance
	legs      []agents.ListedLeg     // of its Listing, until all have listed
	places    map[bourse.LegID]int32 // in legs
	memory    siteMemory
	owed      []bourse.LegID // assertions not yet answered, in order
	told      int            // how many of them have been sent
	asserting map[bourse.LegID]bool
}

// usable reports whether a site may be asked for anything new.
func (p *peer) usable() bool { return p.member && p.listed && p.lost == nil }
