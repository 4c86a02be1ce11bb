package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Gossip may say that a site is alive although it does not answer, for example behind a
// firewall. That must cost the others one wait for offers, not one in each cycle. So a
// site that was silent until a wait was over is still asked, and its offers count if they
// come before the others have answered, but it is not waited for until it has again
// answered a request within OfferWait, or has left and come back. If all sites are
// silent, all are waited for. Row B67.

// silence is what is remembered about a site that has not answered in time. It is of this
// life only.
type silence struct {
	since bool      // a wait for it ended, and it has not answered in time since
	cycle uint64    // the first cycle since then whose request it may still answer in time; 0: the next one
	asked grid.Time // when that cycle asked it
}

// await decides which sites a request waits for, and returns how many. Requests of errands
// have cycle 0 and are not used to judge sites.
func (d *directory) await(now grid.Time, cycle uint64, p *poll, wait grid.Duration) int {
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

// Unheard reports whether the broker knows sites but none of them answers: each has left,
// has not answered the last request in time or, if this life is not the first, has not
// yet listed its legs.
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

// askSilent asks all members for offers, as if in the last cycle, to see whether they answer
// again when nothing else would ask them. Row B113.
func (sch *scheduler) askSilent(now grid.Time, out *agents.Outbox) {
	for p := range sch.peers.all() {
		if p.member && p.listed {
			out.Row("B113")
			p.silent.cycle, p.silent.asked = sch.cycles, now
			sch.askOffers(p.id, sch.cycles, now, out)
		}
	}
}

// notHeard notes the sites that were waited for and did not answer.
func (d *directory) notHeard(p *poll) {
	for i, id := range p.ids {
		if p.open(int32(i)) {
			d.get(id).silent.since = true
		}
	}
}

// spoke notes that a site has answered a cycle's request for offers, in time or late.
func (d *directory) spoke(now grid.Time, from agents.ID, cycle uint64, wait grid.Duration) {
	p := d.get(from)
	switch {
	case p == nil || p.silent.cycle == 0 || cycle < p.silent.cycle:
	case now <= p.silent.asked.Add(wait):
		p.silent = silence{}
	default:
		p.silent.cycle = 0
	}
}
