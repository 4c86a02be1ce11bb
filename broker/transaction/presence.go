package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A leg that waits for its start causes no messages. So the broker asks its site about
// it while there is still time to find a replacement. A site that answers none of these
// questions for a while is lost, and the leg with it. A leg is checked three times:
//
//	before its start  early enough for a repair, otherwise not at all
//	after its start   unless its work is known to be running
//	after its end     unless its outcome is known
//
// A silence may last a quarter of what is at stake (the leg's notice, its length, or
// both), but at least a minute and at most Config.LostAfter. It is proportional because
// a site that has a week to come back should not be given up for an hour's outage, while
// a leg that starts in minutes cannot wait long. It is a quarter so that as much again is
// left for the repair, and for the time until the silence begins. Row B105.

// maxAsked is how many questions in a row a site must leave unanswered to be lost.
// Questions are counted rather than time, since a broker that was stopped or starved has
// not asked.
const maxAsked = 16

// look is one of the three times at which a leg is checked.
type look uint8

const (
	beforeStart look = iota
	afterStart
	afterEnd
)

// presenceDue is the alarm to ask a leg's site whether it is there.
type presenceDue struct {
	Leg   grid.LegID
	Look  look
	Since grid.Time // when it was committed, or this life began
	Asked int       // questions since the site was last heard
	At    grid.Time // of the last question
}

// Kind names the alarm.
func (presenceDue) Kind() string { return "PresenceDue" }

// attend schedules the checks of a transaction's legs.
func (wat *watcher) attend(now grid.Time, t *Tx, out *agents.Outbox) {
	if wat.cfg.Lead == 0 || wat.cfg.LostAfter < 0 {
		return
	}
	for i := range t.legs {
		if !t.legs[i].state.Terminal() {
			wat.lookLater(now, presenceDue{Leg: t.LegID(i), Since: now}, out)
		}
	}
}

// limitOf is how long a silence may last, given the time at stake.
func (wat *watcher) limitOf(stake grid.Duration) grid.Duration {
	d := max(stake/4, grid.Minute)
	if wat.cfg.LostAfter > 0 {
		d = min(d, wat.cfg.LostAfter)
	}
	return d
}

// span is the interval of one check of a leg, and how long a silence may last in it. The
// interval is empty if there is no time for the check.
func (wat *watcher) span(l *Leg, m *presenceDue) (from, until grid.Time, limit grid.Duration) {
	start, end := l.what.Start, l.what.End
	switch m.Look {
	case beforeStart:
		repair := wat.cfg.Lead + wat.cfg.OfferWait
		limit, until = wat.limitOf(start.Sub(m.Since)), start.Add(-repair)
		return max(m.Since, start.Add(-limit-limit/4-max(limit, repair))), until, limit // a quarter: alarms are late
	case afterStart:
		limit = wat.limitOf(end.Sub(start))
		return start.Add(min(overdue, limit)), end, limit
	}
	limit = wat.limitOf(end.Sub(m.Since))
	return end.Add(min(overdue, limit)), grid.Never, limit
}

// lookLater sets the alarm of the next question or, if there is no time left for this
// check, of the next check.
func (wat *watcher) lookLater(at grid.Time, m presenceDue, out *agents.Outbox) {
	l := wat.txs.Lookup(m.Leg)
	for {
		from, until, limit := wat.span(l, &m)
		left := limit * grid.Duration(maxAsked-m.Asked) / maxAsked
		if at = max(at, from); m.Look == afterEnd || at.Add(left) <= until && !(m.Look == afterStart && l.state == grid.Running) {
			if t := wat.txs.Get(m.Leg.Tx); m.Asked == 0 && wat.txs.known(t) {
				wat.later(at, t, m.Leg.Leg, itsSite+watch(m.Look), m.Since)
			} else {
				out.Alarm(at, m)
			}
			return
		}
		m.Look, m.Asked = m.Look+1, 0
	}
}

// presenceDue asks the site, or declares it lost.
func (wat *watcher) presenceDue(now grid.Time, m presenceDue, out *agents.Outbox) {
	t, l := wat.txs.Get(m.Leg.Tx), wat.txs.Lookup(m.Leg)
	if l == nil || t.state == grid.TxAborted || l.state.Terminal() || t.Open() && t.resolved {
		return
	}
	p := wat.peers.Get(t.Site(m.Leg.Leg))
	from, until, limit := wat.span(l, &m)
	if p.heard >= m.At {
		m.Asked = 0
	}
	switch fresh := p.heard.Add(limit / 4); {
	case now < from, now > until, m.Look == afterStart && l.state == grid.Running: // it was moved, or is running
		wat.lookLater(now, m, out)
	case m.Asked == 0 && now < fresh:
		wat.lookLater(fresh, m, out)
	case m.Asked < maxAsked:
		if m.Asked == maxAsked/2 {
			wat.callOthers(now, p, limit/2, out)
		}
		wat.ask(now, p, t, m.Leg, out)
		m.Asked, m.At = m.Asked+1, now
		wat.lookLater(now.Add(max(limit/maxAsked, grid.Millisecond)), m, out)
	case m.Look != afterEnd && !wat.hearsOthers(now, p, limit):
		out.Row("B109")
		m.Asked = maxAsked / 2
		wat.lookLater(now, m, out)
	default:
		out.Row("B105")
		why := p.notAnswered(now)
		if p.lost == nil {
			wat.co.losses.loseSite(now, p, facts.SiteLost{Site: p.name, Reason: why}, out)
		}
		wat.co.losses.giveUpLeg(now, t, m.Leg.Leg, why, out)
	}
}

// ask sends a site a question that it answers if it is alive: a repeated Confirm, or a
// List. Until this life has decided a transaction afresh, its Confirm might be the first
// to arrive although ABORT follows; the question is then a request for offers, which
// changes nothing.
func (wat *watcher) ask(now grid.Time, p *Site, t *Tx, leg grid.LegID, out *agents.Outbox) {
	p.await(now)
	switch {
	case p.listed && t.resolved:
		out.Send(p.id, wat.co.confirmation(t, leg.Leg))
	case p.listed:
		out.Send(p.id, agents.OfferRequest{Cycle: ProbeRef})
	case now >= p.lists.Add(LastRepeat): // not more often, as a Listing may be long
		wat.co.recovery.sendList(now, p, out)
	}
}

// callOthers asks the other sites whether they are there. A broker that hears from no
// site may itself be cut off, and gives nothing up while a window may still run. Row
// B109.
func (wat *watcher) callOthers(now grid.Time, but *Site, lately grid.Duration, out *agents.Outbox) {
	for p := range wat.peers.All() {
		if p != but && p.Usable() && p.heard.Add(lately) < now {
			out.Send(p.id, agents.OfferRequest{Cycle: ProbeRef})
		}
	}
}

// hearsOthers reports whether any other site was heard within the time lately.
func (wat *watcher) hearsOthers(now grid.Time, but *Site, lately grid.Duration) bool {
	for p := range wat.peers.All() {
		if p != but && p.listed && p.heard > wat.began && p.heard.Add(lately) >= now {
			return true
		}
	}
	return false
}

// hear notes that a site has sent something. A site that was lost is asked for its legs
// at once.
func (wat *watcher) hear(now grid.Time, p *Site, out *agents.Outbox) {
	p.heard, p.asked = now, 0
	if p.lost != nil && !p.listed && now >= p.lists.Add(LastRepeat) {
		wat.co.recovery.sendList(now, p, out)
	}
}

// await notes that a site has been sent something it must answer.
func (p *Site) await(now grid.Time) {
	if p.asked == 0 {
		p.asked = now
	}
}
