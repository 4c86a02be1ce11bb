package broker

import (
	"strings"
	"unicode/utf8"

	"bourse"
	"bourse/agents"
)

// muster makes the list of the sites that a cycle asks: the members that have
// listed their legs. A cycle refers to them by their place, so it is made between
// two cycles.
func (b *Broker) muster() {
	b.sites = b.peers.usable(b.sites[:0])
	clear(b.index)
	for i, id := range b.sites {
		b.index[id] = int32(i)
	}
	b.cycle.poll = newPoll(b.sites)
	b.stale = false
}

// usable reports whether a site is asked for anything new.
func (p *peer) usable() bool { return p.member && p.listed && p.lost == nil }

// maxName bounds the name of a site that joins, in bytes.
const maxName = 100

// join begins to ask a site for offers. A life that is not the first asks it for
// its legs before. An address that is none, or that differs from a known one in
// the case of its letters only, is counted and not taken: its account, and what
// people read, would be taken for the other's. Row B65.
func (b *Broker) join(now bourse.Time, id agents.ID, out *agents.Outbox) {
	p := b.peers.get(id)
	if p != nil && p.member {
		return
	}
	if p == nil && !b.welcome(id) {
		b.stray++
		return
	}
	met := p != nil
	b.record(bourse.SiteJoined{Site: siteName(id)}, out)
	b.stale = true
	switch p := b.peers.get(id); {
	case !met && b.lives.count() > 1:
		p.listed = false
		b.askList(now, p, firstRepeat, out)
	case !p.listed: // it is being asked for its legs, and may be back
		b.sendList(now, p, out)
	}
}

// welcome reports whether a site that is not known may be.
func (b *Broker) welcome(id agents.ID) bool {
	c := Config{Name: b.cfg.Name, Sites: []agents.ID{id}}
	return c.checkSites() == nil && len(siteName(id)) <= maxName && b.peers.room(id) &&
		!strings.ContainsFunc(string(id), func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError })
}

// someAway reports whether a site is left out of this cycle that may be in a later
// one: it has not listed its legs, has come since the cycle began, or has left no longer than a horizon ago. That
// a site has left is a hint, and no job is given up for good on a hint. Row B65.
func (b *Broker) someAway() bool {
	return b.peers.some(func(p *peer) bool {
		_, asked := b.index[p.id]
		if p.lost != nil {
			return !p.lost.Wish && b.now < p.lost.Since.Add(b.cfg.Horizon)
		}
		return p.member && !(p.listed && asked) || !p.member && p.went && b.now < p.left.Add(b.cfg.Horizon)
	})
}

// leave asks a site for nothing new, and the cycle under way waits for it no
// more: gossip misses a site that has died long before the wait is over. What it
// owes and is owed stands.
func (b *Broker) leave(now bourse.Time, id agents.ID, out *agents.Outbox) {
	if p := b.peers.get(id); p != nil && p.member {
		b.record(bourse.SiteLeft{Site: siteName(id)}, out)
		b.stale, p.silent = true, silence{}
		b.goOnWithout(now, id, out)
	}
}
