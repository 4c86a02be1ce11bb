package broker

import (
	"strings"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// listSites sets the sites that the next cycle asks. A cycle refers to them by index, so
// they may only change between two cycles.
func (sch *scheduler) listSites(ids []agents.ID) {
	sch.sites = ids
	clear(sch.index)
	for i, id := range sch.sites {
		sch.index[id] = int32(i)
	}
	sch.cycle.poll = newPoll(sch.sites)
	sch.Peers.Unchanged()
}

// maxName bounds the name of a site that joins, in bytes.
const maxName = 100

// join adds a site to those asked for offers. A life that is not the first asks it for its
// legs before. An address that makes no sense, or differs from a known one only in case,
// is counted and ignored: people would confuse the two, and so would accounts. Row B65.
func (b *Broker) join(now grid.Time, id agents.ID, out *agents.Outbox) {
	p := b.mem.Peers.Get(id)
	if p != nil && p.Member() {
		b.mem.Peers.Hear(now)
		out.Row("B130")
		askStanding(id, out) // it may have restarted and forgotten whom to tell
		return
	}
	if p == nil && !b.welcome(id) {
		b.mem.stray++
		return
	}
	b.mem.Peers.Hear(now)
	met := p != nil
	out.Row("B65")
	out.Row("B130")
	b.mem.Record(facts.SiteJoined{Site: transaction.SiteName(id)}, out)
	b.mem.Peers.Change()
	b.co.Member(now, b.mem.Peers.Get(id), met, out)
	askStanding(id, out)
}

// welcome reports whether an unknown site may be added.
func (b *Broker) welcome(id agents.ID) bool {
	c := Config{Name: b.mem.cfg.Name, Sites: []agents.ID{id}}
	return c.checkSites() == nil && len(transaction.SiteName(id)) <= maxName && b.mem.Peers.Room(id) &&
		!strings.ContainsFunc(string(id), func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError })
}

// someAway reports whether a site that takes no part in this cycle may take part in a later
// one: it has not listed its legs, has joined since the cycle began, or has left or was lost
// no longer than a horizon ago; or gossip has only just named a site and may name more. That
// a site has left is only a hint, and an operator may take back that one is lost: no job is
// given up for good on that. Rows B65, B106. For sites that are asked in turn see
// asking.elsewhere.
func (sch *scheduler) someAway() bool {
	if !sch.Peers.Settled(sch.Now) {
		return true
	}
	inTurn := sch.asking.inTurn()
	return sch.Peers.Some(func(p *transaction.Site) bool {
		_, asked := sch.index[p.ID()]
		asked = asked || inTurn
		if p.Lost() != nil {
			return sch.Now < p.Lost().Since.Add(sch.cfg.Horizon)
		}
		return p.Member() && !(p.Listed() && asked) || !p.Member() && p.Went() && sch.Now < p.Left().Add(sch.cfg.Horizon)
	})
}

// leave stops asking a site for anything new, and the current cycle stops waiting for it:
// gossip misses a dead site long before the wait would be over. Open legs and debts are
// not affected.
func (b *Broker) leave(now grid.Time, id agents.ID, out *agents.Outbox) {
	if p := b.mem.Peers.Get(id); p != nil && p.Member() {
		out.Row("B65")
		b.mem.Record(facts.SiteLeft{Site: transaction.SiteName(id)}, out)
		b.mem.Peers.Change()
		b.scheduler.goOnWithout(now, id, out)
		b.co.Member(now, p, true, out)
	}
}
