package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
)

// meet returns the peer of that address, known from now on.
func (b *Broker) meet(id agents.ID) *peer {
	p := b.peers[id]
	if p == nil {
		p = &peer{id: id, listed: true}
		b.peers[id] = p
		i, _ := slices.BinarySearch(b.known, id)
		b.known = slices.Insert(b.known, i, id)
	}
	return p
}

// muster makes the list of the sites that a cycle asks. A cycle refers to them by
// their place, so it is made between two cycles.
func (b *Broker) muster() {
	b.sites = b.sites[:0]
	clear(b.index)
	for _, id := range b.known {
		if b.peers[id].member {
			b.index[id] = int32(len(b.sites))
			b.sites = append(b.sites, id)
		}
	}
	b.cycle.market.init(b.sites)
	b.stale = false
}

// join begins to ask a site for offers. A life that is not the first asks it for
// its legs before.
func (b *Broker) join(now bourse.Time, id agents.ID, out *agents.Outbox) {
	c := Config{Name: b.cfg.Name, Sites: []agents.ID{id}}
	if p := b.peers[id]; p != nil && p.member || c.checkSites() != nil {
		return
	}
	met := b.peers[id] != nil
	b.record(bourse.SiteJoined{Site: siteName(id)}, out)
	b.stale = true
	if p := b.peers[id]; !met && len(b.lives) > 1 {
		p.listed = false
		b.askList(now, p, firstRepeat, out)
	}
}

// leave asks a site for nothing new. What it owes and is owed stands.
func (b *Broker) leave(id agents.ID, out *agents.Outbox) {
	if p := b.peers[id]; p != nil && p.member {
		b.record(bourse.SiteLeft{Site: siteName(id)}, out)
		b.stale = true
	}
}
