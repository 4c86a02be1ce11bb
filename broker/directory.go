package broker

import (
	"iter"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// directory is the sites that a broker knows.
type directory struct {
	byID map[agents.ID]*peer
	ids  []agents.ID // in order of name
	word bourse.Time // when gossip last named one, in this life; 0: it has not
}

// get is the site of that address, nil if it is not known.
func (d *directory) get(id agents.ID) *peer { return d.byID[id] }

// named is the site of that name, nil if it is not known.
func (d *directory) named(site string) *peer { return d.byID[siteID(site)] }

// ensure is the site of that address: a new one if it was not known.
func (d *directory) ensure(now bourse.Time, id agents.ID) *peer {
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

// size is how many there are.
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

// some reports whether the condition holds for one of the sites.
func (d *directory) some(such func(*peer) bool) bool {
	return slices.ContainsFunc(d.ids, func(id agents.ID) bool { return such(d.byID[id]) })
}

// usable appends the addresses of those that are asked for anything new.
func (d *directory) usable(list []agents.ID) []agents.ID {
	for p := range d.all() {
		if p.usable() {
			list = append(list, p.id)
		}
	}
	return list
}

// listening reports whether this life still waits for a member to list its legs.
// A lost one is not waited for.
func (d *directory) listening() bool {
	return d.some(func(p *peer) bool { return p.member && !p.listed && p.lost == nil })
}

// settling is how long after gossip has named a site others may still follow: a
// federation of a thousand that comes up at once, and a broker that comes to one,
// has found all its members within 20 s.
const settling = 30 * bourse.Second

// hear notes that gossip names a site.
func (d *directory) hear(now bourse.Time) { d.word = now }

// settled reports whether gossip has named all sites, as far as can be known.
func (d *directory) settled(now bourse.Time) bool { return d.word == 0 || now >= d.word.Add(settling) }

// serves reports whether a site is asked for anything new.
func (d *directory) serves(site string) bool {
	p := d.named(site)
	return p != nil && p.usable()
}

// isLost reports whether a site is lost.
func (d *directory) isLost(site string) bool {
	p := d.named(site)
	return p != nil && p.lost != nil
}

// room reports whether an address may be added: there are not too many, and none
// differs from it in the case of its letters only.
func (d *directory) room(id agents.ID) bool {
	return len(d.ids) < maxSites && !slices.ContainsFunc(d.ids, func(known agents.ID) bool { return strings.EqualFold(string(known), string(id)) })
}

// maxSites bounds the sites that a broker knows: gossip names them.
const maxSites = 16_384
