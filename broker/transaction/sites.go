package transaction

import (
	"iter"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Sites holds the sites that a broker knows.
type Sites struct {
	byID  map[agents.ID]*Site
	ids   []agents.ID // in order of name
	moved bool        // a site can be asked now, or no longer, since somebody looked
	word  grid.Time   // when gossip last named a new site, in this life; 0: never
}

// Get is the site of that address, or nil if it is not known.
func (d *Sites) Get(id agents.ID) *Site { return d.byID[id] }

// Named is the site of that name, or nil if it is not known.
func (d *Sites) Named(site string) *Site { return d.byID[SiteID(site)] }

// Ensure is the site of that address, which is added if it was not known.
func (d *Sites) Ensure(now grid.Time, id agents.ID) *Site {
	p := d.byID[id]
	if p == nil {
		if d.byID == nil {
			d.byID = map[agents.ID]*Site{}
		}
		p = &Site{id: id, name: SiteName(id), listed: true, heard: now}
		d.byID[id] = p
		i, _ := slices.BinarySearch(d.ids, id)
		d.ids = slices.Insert(d.ids, i, id)
	}
	return p
}

// Size is the number of known sites.
func (d *Sites) Size() int { return len(d.ids) }

// All are the sites in order of name.
func (d *Sites) All() iter.Seq[*Site] {
	return func(yield func(*Site) bool) {
		for _, id := range d.ids {
			if !yield(d.byID[id]) {
				return
			}
		}
	}
}

// Some reports whether the condition holds for any site.
func (d *Sites) Some(such func(*Site) bool) bool {
	return slices.ContainsFunc(d.ids, func(id agents.ID) bool { return such(d.byID[id]) })
}

// Usable appends to list the addresses of the sites that may be asked for anything new.
func (d *Sites) Usable(list []agents.ID) []agents.ID {
	for p := range d.All() {
		if p.Usable() {
			list = append(list, p.id)
		}
	}
	return list
}

// Listening reports whether this life is still waiting for a member to list its legs. It
// does not wait for lost sites.
func (d *Sites) Listening() bool {
	return d.Some(func(p *Site) bool { return p.member && !p.listed && p.lost == nil })
}

// settling is how long after gossip has named a site others may still follow. In a
// federation of a thousand sites that starts at once, or that a broker joins, all members
// are found within 20 s.
const settling = 30 * grid.Second

// Hear notes that gossip names a site.
func (d *Sites) Hear(now grid.Time) { d.word = now }

// Settled reports whether gossip has probably named all sites.
func (d *Sites) Settled(now grid.Time) bool { return d.word == 0 || now >= d.word.Add(settling) }

// Serves reports whether a site may be asked for anything new.
func (d *Sites) Serves(site string) bool {
	p := d.Named(site)
	return p != nil && p.Usable()
}

// isLost reports whether a site is lost.
func (d *Sites) isLost(site string) bool {
	p := d.Named(site)
	return p != nil && p.lost != nil
}

// Room reports whether an address may be added: there are not too many sites, and no known
// address differs from it only in the case of its letters.
func (d *Sites) Room(id agents.ID) bool {
	return len(d.ids) < maxSites && !slices.ContainsFunc(d.ids, func(known agents.ID) bool { return strings.EqualFold(string(known), string(id)) })
}

// maxSites bounds the sites that a broker knows, because gossip can name any.
const maxSites = 16_384

// Change notes that a site can be asked now, or no longer can.
func (d *Sites) Change() { d.moved = true }

// Changed reports whether there was a change since Unchanged was called.
func (d *Sites) Changed() bool { return d.moved }

// Unchanged notes that whoever asks sites has seen all changes.
func (d *Sites) Unchanged() { d.moved = false }

// ApplyJoined makes a site a member, and applyLeft makes it none.
func (d *Sites) ApplyJoined(at grid.Time, f facts.SiteJoined) {
	d.Ensure(at, SiteID(f.Site)).member = true
}

func (d *Sites) applyLeft(at grid.Time, f facts.SiteLeft) {
	p := d.Ensure(at, SiteID(f.Site))
	p.member, p.went, p.left = false, true, at
}

// applyLost makes a site lost, and applyBack makes it answer again.
func (d *Sites) applyLost(at grid.Time, f facts.SiteLost) {
	d.Ensure(at, SiteID(f.Site)).lost = &Loss{SiteLost: f, Since: at}
}

func (d *Sites) applyBack(at grid.Time, f facts.SiteBack) {
	d.Ensure(at, SiteID(f.Site)).lost = nil
}

// image writes the sites' part of an image.
func (d *Sites) image(f *facts.BrokerImage) {
	for p := range d.All() {
		switch {
		case p.member:
			f.Sites = append(f.Sites, p.name)
		case p.went:
			f.Left = append(f.Left, facts.LeftSite{Site: p.name, Since: p.left})
		}
		if p.lost != nil {
			f.Lost = append(f.Lost, facts.LostSite(*p.lost))
		}
		if p.dealt > 0 {
			f.Dealt = append(f.Dealt, facts.SiteDealt{Site: p.name, Incarnation: p.dealt})
		}
	}
}

// load adds the sites of an image.
func (d *Sites) load(at grid.Time, f *facts.BrokerImage) {
	for _, s := range f.Sites {
		d.Ensure(at, SiteID(s)).member = true
	}
	for _, x := range f.Lost {
		lost := Loss(x)
		d.Ensure(at, SiteID(x.Site)).lost = &lost
	}
	for _, x := range f.Left {
		p := d.Ensure(at, SiteID(x.Site))
		p.went, p.left = true, x.Since
	}
	for _, x := range f.Dealt {
		d.Ensure(at, SiteID(x.Site)).deals(x.Incarnation)
	}
}
