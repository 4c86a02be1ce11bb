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
func (ask *asking) await(now grid.Time, cycle uint64, p *poll) int {
	n, wait := 0, ask.cfg.OfferWait
	for i, id := range p.ids {
		s := &ask.of(id).silent
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
func (b *Broker) Unheard() bool { return b.asking.unheard() }

func (ask *asking) unheard() bool {
	some := false
	for p := range ask.Peers.All() {
		if p.Member() && p.Listed() && !ask.of(p.ID()).silent.since {
			return false
		}
		some = some || p.Member() || p.Went()
	}
	return some
}

// askSilent asks all members for offers, as if in the last cycle, to see whether they answer
// again when nothing else would ask them. Row B113.
func (ask *asking) askSilent(now grid.Time, out *agents.Outbox) {
	for p := range ask.Peers.All() {
		if p.Member() && p.Listed() {
			out.Row("B113")
			s := &ask.of(p.ID()).silent
			s.cycle, s.asked = ask.Cycles, now
			ask.Tx.AskOffers(p.ID(), ask.Cycles, now, out)
		}
	}
}

// notHeard notes the sites that were waited for and did not answer.
func (ask *asking) notHeard(p *poll) {
	for i, id := range p.ids {
		if p.open(int32(i)) {
			ask.of(id).silent.since = true
		}
	}
}

// spoke notes that a site has answered a cycle's request for offers, in time or late.
func (ask *asking) spoke(now grid.Time, from agents.ID, cycle uint64) {
	a := ask.known[from]
	switch {
	case a == nil || a.silent.cycle == 0 || cycle < a.silent.cycle:
	case now <= a.silent.asked.Add(ask.cfg.OfferWait):
		a.silent = silence{}
	default:
		a.silent.cycle = 0
	}
}

// excuse forgets that a site did not answer: it has left, or is lost, and will be waited for
// when it is back.
func (ask *asking) excuse(id agents.ID) { ask.of(id).silent = silence{} }
