package broker

import (
	"bourse"
	"bourse/agents"
)

// A site may be alive by gossip and yet not answer, as behind a firewall. It
// costs the others one wait for offers, and not one a cycle: who was silent until
// a wait was over is asked like everybody, and what it offers counts if it comes
// before the others have answered, but nobody waits for it until it has answered
// a request within OfferWait again, or has left and come back. Where nobody else
// is left to wait for, all are. Row B67.

// silence is what is remembered of a site that has not answered in time. It is of
// this life only.
type silence struct {
	since bool        // it was waited for in vain, and has not answered in time since then
	cycle uint64      // the first since then that has asked it and not been answered too late; 0: the next one
	asked bourse.Time // when that was
}

// await settles for whose offers a request waits, and returns how many they are.
// Those of errands are of cycle 0: no site is judged by them.
func (b *Broker) await(now bourse.Time, cycle uint64, p *poll) int {
	n := 0
	for i, id := range p.ids {
		s := &b.peers.get(id).silent
		p.spared[i] = s.since
		switch {
		case !s.since:
			n++
		case s.cycle == 0 || now > s.asked.Add(b.cfg.OfferWait):
			s.cycle, s.asked = cycle, now
		}
	}
	if n == 0 {
		clear(p.spared)
		n = len(p.ids)
	}
	return n
}

// Unheard reports whether there are sites, or have been, and none of them answers:
// each has left, has not answered the last request in time or, in a life that is
// not the first, has not yet listed its legs.
func (b *Broker) Unheard() bool {
	some := false
	for p := range b.peers.all() {
		if p.member && p.listed && !p.silent.since {
			return false
		}
		some = some || p.member || p.went
	}
	return some
}

// askSilent asks all members whether they answer again, where nothing else would
// ask them: as if for offers in the cycle that is over. Row B113.
func (b *Broker) askSilent(now bourse.Time, out *agents.Outbox) {
	for p := range b.peers.all() {
		if p.member && p.listed {
			p.silent.cycle, p.silent.asked = b.cycles, now
			b.askOffers(p.id, b.cycles, now, out)
		}
	}
}

// notHeard notes who was waited for in vain.
func (b *Broker) notHeard(p *poll) {
	for i, id := range p.ids {
		if p.open(int32(i)) {
			b.peers.get(id).silent.since = true
		}
	}
}

// spoke notes that a site has answered a cycle's request for offers, in time or
// not.
func (b *Broker) spoke(now bourse.Time, from agents.ID, cycle uint64) {
	p := b.peers.get(from)
	switch {
	case p == nil || p.silent.cycle == 0 || cycle < p.silent.cycle:
	case now <= p.silent.asked.Add(b.cfg.OfferWait):
		p.silent = silence{}
	default:
		p.silent.cycle = 0
	}
}
