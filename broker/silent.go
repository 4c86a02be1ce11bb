package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// A site may be alive by gossip and yet not answer, as behind a firewall. That
// costs the others one wait for offers, and not one in each cycle: a site that
// was silent until a wait was over is asked like all others, and its offers count
// if they come before the others have answered, but nobody waits for it until it
// has again answered a request within OfferWait, or has left and come back. If
// all sites are silent, all are waited for. Row B67.

// silence is what is remembered of a site that has not answered in time. It is of
// this life only.
type silence struct {
	since bool        // it was waited for in vain, and has not answered in time since then
	cycle uint64      // the first cycle since then whose request it may still answer in time; 0: the next one
	asked bourse.Time // when that was
}

// await decides for whose offers a request waits, and returns how many they are.
// Requests of errands are of cycle 0: no site is judged by them.
func (d *directory) await(now bourse.Time, cycle uint64, p *poll, wait bourse.Duration) int {
	n := 0
	for i, id := range p.ids {
		s := &d.get(id).silent
		p.spared[i] = s.since
		switch {
		case !s.since:
			n++
		case s.cycle == 0 || now > s.asked.Add(wait):
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
func (b *Broker) Unheard() bool { return b.peers.unheard() }

func (d *directory) unheard() bool {
	some := false
	for p := range d.all() {
		if p.member && p.listed && !p.silent.since {
			return false
		}
		some = some || p.member || p.went
	}
	return some
}

// askSilent asks all members whether they answer again, where nothing else would
// ask them: as if for offers in the cycle that is over. Row B113.
func (sch *scheduler) askSilent(now bourse.Time, out *agents.Outbox) {
	for p := range sch.peers.all() {
		if p.member && p.listed {
			p.silent.cycle, p.silent.asked = sch.cycles, now
			sch.askOffers(p.id, sch.cycles, now, out)
		}
	}
}

// notHeard notes the sites that were waited for in vain.
func (d *directory) notHeard(p *poll) {
	for i, id := range p.ids {
		if p.open(int32(i)) {
			d.get(id).silent.since = true
		}
	}
}

// spoke notes that a site has answered a cycle's request for offers, in time or
// not.
func (d *directory) spoke(now bourse.Time, from agents.ID, cycle uint64, wait bourse.Duration) {
	p := d.get(from)
	switch {
	case p == nil || p.silent.cycle == 0 || cycle < p.silent.cycle:
	case now <= p.silent.asked.Add(wait):
		p.silent = silence{}
	default:
		p.silent.cycle = 0
	}
}
