package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/retry"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// notices tells brokers the outcome of their legs, and inquires for the decision on legs in
// doubt, until each is acknowledged or answered.
type notices struct {
	*memory
	retries *retries
}

// firstInquiry is how long the site waits for the decision on a prepared leg before it
// inquires: two seconds, or half of the time left if that is less.
func (n *notices) firstInquiry(t step, l *leg) grid.Duration {
	return max(min(2*grid.Second, l.ends.Sub(t.now)/2), grid.Millisecond)
}

// doubt starts inquiring for the decision on a leg, after a while. Row S32.
func (n *notices) doubt(t step, l *leg) {
	n.retries.schedule(t, theInquiry, l.Leg, retry.Schedule{First: n.firstInquiry(t, l), Last: lastWait})
}

// inquire asks the broker's latest life for the decision on a prepared leg.
func (n *notices) inquire(t step, l *leg) {
	t.out.Send(n.life(l.Leg.Tx.Broker).address(), agents.Inquire{Leg: l.Leg, Stamp: n.stamp()})
}

// notice is the message about a leg that its broker must acknowledge, or nil.
func (n *notices) notice(l *leg) agents.Message {
	switch l.State {
	case grid.Heuristic:
		return agents.Heuristic{Leg: l.Leg, Stamp: n.stamp()}
	case grid.Lost:
		return agents.Degraded{Leg: l.Leg, Refund: l.Refund, Penalty: l.Penalty, Reason: l.Reason, Stamp: n.stamp(), Proof: n.proof(l)}
	case grid.Settled:
		return agents.Settled{Leg: l.Leg, End: l.End, Charged: l.Fare.Total(), Result: l.onNodes().Result, Stamp: n.stamp()}
	}
	return nil
}

// notable reports whether a broker must acknowledge that a leg has entered a state.
func notable(x grid.LegState) bool {
	return x == grid.Heuristic || x == grid.Lost || x == grid.Settled
}

// notify tells the broker the outcome of a leg, until it is acknowledged.
func (n *notices) notify(t step, l *leg) {
	n.tellNotice(t, l)
	n.beginNotice(t, l)
}

func (n *notices) tellNotice(t step, l *leg) {
	t.out.Send(n.life(l.Leg.Tx.Broker).address(), n.notice(l))
}

// beginNotice starts repeating a notice, more slowly for a settled leg, since nobody waits
// for that.
func (n *notices) beginNotice(t step, l *leg) {
	last := lastWait
	if l.State == grid.Settled {
		last = slowWait
	}
	n.retries.begin(t, theNotice, l.Leg, last)
}

// noted stops repeating a notice. What an earlier life of the broker has taken does not
// count once a later one has listed its legs: the later one has yet to hear of it. Rows S56,
// S83.
func (n *notices) noted(t step, m agents.Noted) {
	if m.Incarnation > 0 && m.Incarnation < n.life(m.Leg.Tx.Broker).listed {
		t.out.Row("S56")
		return
	}
	l := n.legs[m.Leg]
	if l != nil && m.Shifts > 0 {
		n.notedShift(t, l, m.Shifts)
		return
	}
	if l == nil || l.noted {
		return
	}
	if said := n.notice(l); said != nil && (m.Step == "" || m.Step == said.Kind()) {
		t.out.Row("S56")
		n.record(t, facts.NoticeNoted{Leg: l.Leg})
	}
}
