package broker

import (
	"iter"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// directory holds the sites that a broker knows.
type directory struct {
	byID  map[agents.ID]*peer
	ids   []agents.ID // in order of name
	moved bool        // a site can be asked now, or no longer, since somebody looked
	word  grid.Time   // when gossip last named a new site, in this life; 0: never
}

// get is the site of that address, or nil if it is not known.
func (d *directory) get(id agents.ID) *peer { return d.byID[id] }

// named is the site of that name, or nil if it is not known.
func (d *directory) named(site string) *peer { return d.byID[siteID(site)] }

// ensure is the site of that address, which is added if it was not known.
func (d *directory) ensure(now grid.Time, id agents.ID) *peer {
	p := d.byID[id]
	if p == nil {
		if d.byID == nil {
			d.byID = map[agents.ID]*peer{}
		}
		p = &peer{id: id, name: siteName(id), listed: true, heard: now}
		d.byID[id] = p
		i, _ := slices.BinarySearch(d.ids, id)
		d.ids = slices.Insert(d.ids, i, id)
	}
	return p
}

// size is the number of known sites.
func (d *directory) size() int { return len(d.ids) }

// all are the sites in order of name.
func (d *directory) all() iter.Seq[*peer] {
	return func(yield func(*peer) bool) {
		for _, id := range d.ids {
			if !yield(d.byID[id]) {
				return
			}
		}
	}
}

// some reports whether the condition holds for any site.
func (d *directory) some(such func(*peer) bool) bool {
	return slices.ContainsFunc(d.ids, func(id agents.ID) bool { return such(d.byID[id]) })
}

// usable appends to list the addresses of the sites that may be asked for anything new.
func (d *directory) usable(list []agents.ID) []agents.ID {
	for p := range d.all() {
		if p.usable() {
			list = append(list, p.id)
		}
	}
	return list
}

// listening reports whether this life is still waiting for a member to list its legs. It
// does not wait for lost sites.
func (d *directory) listening() bool {
	return d.some(func(p *peer) bool { return p.member && !p.listed && p.lost == nil })
}

// settling is how long after gossip has named a site others may still follow. In a
// federation of a thousand sites that starts at once, or that a broker joins, all members
// are found within 20 s.
const settling = 30 * grid.Second

// hear notes that gossip names a site.
func (d *directory) hear(now grid.Time) { d.word = now }

// settled reports whether gossip has probably named all sites.
func (d *directory) settled(now grid.Time) bool { return d.word == 0 || now >= d.word.Add(settling) }

// serves reports whether a site may be asked for anything new.
func (d *directory) serves(site string) bool {
	p := d.named(site)
	return p != nil && p.usable()
}

// isLost reports whether a site is lost.
func (d *directory) isLost(site string) bool {
	p := d.named(site)
	return p != nil && p.lost != nil
}

// room reports whether an address may be added: there are not too many sites, and no known
// address differs from it only in the case of its letters.
func (d *directory) room(id agents.ID) bool {
	return len(d.ids) < maxSites && !slices.ContainsFunc(d.ids, func(known agents.ID) bool { return strings.EqualFold(string(known), string(id)) })
}

// maxSites bounds the sites that a broker knows, because gossip can name any.
const maxSites = 16_384

// change notes that a site can be asked now, or no longer can. changed reports whether one
// has since unchanged was called.
func (d *directory) change()       { d.moved = true }
func (d *directory) changed() bool { return d.moved }
func (d *directory) unchanged()    { d.moved = false }

// applyJoined makes a site a member, and applyLeft makes it none.
func (d *directory) applyJoined(at grid.Time, f facts.SiteJoined) {
	d.ensure(at, siteID(f.Site)).member = true
}

func (d *directory) applyLeft(at grid.Time, f facts.SiteLeft) {
	p := d.ensure(at, siteID(f.Site))
	p.member, p.went, p.left = false, true, at
}

// applyLost makes a site lost, and applyBack makes it answer again.
func (d *directory) applyLost(at grid.Time, f facts.SiteLost) {
	d.ensure(at, siteID(f.Site)).lost = &loss{SiteLost: f, Since: at}
}

func (d *directory) applyBack(at grid.Time, f facts.SiteBack) {
	d.ensure(at, siteID(f.Site)).lost = nil
}

// image writes the sites' part of an image.
func (d *directory) image(f *facts.BrokerImage) {
	for p := range d.all() {
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
func (d *directory) load(at grid.Time, f *facts.BrokerImage) {
	for _, s := range f.Sites {
		d.ensure(at, siteID(s)).member = true
	}
	for _, x := range f.Lost {
		lost := loss(x)
		d.ensure(at, siteID(x.Site)).lost = &lost
	}
	for _, x := range f.Left {
		p := d.ensure(at, siteID(x.Site))
		p.went, p.left = true, x.Since
	}
	for _, x := range f.Dealt {
		d.ensure(at, siteID(x.Site)).deals(x.Incarnation)
	}
}
