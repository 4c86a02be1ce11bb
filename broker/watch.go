package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// overdue is how long after its start or its end nothing may be heard of a
// confirmed leg before its site is asked: a site whose memory is of the past does
// not know that it owes anything. Row B63.
const overdue = bourse.Minute

// watchDue looks whether a leg has started, or ended, as it should have.
type watchDue struct {
	Leg  bourse.LegID
	End  bool // it should have ended
	Wait bourse.Duration
}

// Kind names the alarm.
func (watchDue) Kind() string { return "WatchDue" }

// watch sets the alarms of a confirmed leg. Where messages take no time it sets
// none: nothing gets lost.
func (wat *watcher) watch(t *transaction, i int, out *agents.Outbox) {
	if wat.cfg.Lead == 0 {
		return
	}
	l := &t.legs[i]
	out.Alarm(l.what.Start.Add(overdue), watchDue{t.leg(i), false, overdue})
	out.Alarm(l.what.End.Add(overdue), watchDue{t.leg(i), true, overdue})
}

// due is when a leg is overdue.
func (l *txLeg) due(end bool) bourse.Time {
	if end {
		return l.what.End.Add(overdue)
	}
	return l.what.Start.Add(overdue)
}

// watchDue says Confirm again of a leg that is overdue, until its site answers
// that it knows it, or that it does not: that is an amnesia.
func (wat *watcher) watchDue(now bourse.Time, m watchDue, out *agents.Outbox) {
	t, l := wat.txs.get(m.Leg.Tx), wat.txs.lookup(m.Leg)
	if l == nil || t.state != bourse.TxCommitted || !t.resolved {
		return
	}
	p := wat.peers.get(t.site(m.Leg.Leg))
	if due := l.due(m.End); due > now && m.Wait == overdue { // its site has moved it since
		return
	}
	if p == nil || l.state != bourse.Confirmed && !(m.End && l.state == bourse.Running) {
		return
	}
	if m.Wait == overdue {
		l.vouched = false
	}
	if l.vouched {
		return
	}
	if p.listed && !p.asserts(m.Leg) {
		out.Send(p.id, agents.Confirm{Leg: m.Leg, DecidedBy: wat.lives.current().Incarnation})
	}
	m.Wait = min(2*m.Wait, bourse.Hour)
	out.Alarm(now.Add(m.Wait/2), m)
}
