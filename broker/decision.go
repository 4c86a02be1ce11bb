package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// commit decides COMMIT for all legs.
func (co *coordinator) commit(now bourse.Time, t *transaction, out *agents.Outbox) {
	co.record(bourse.TxDecided{Tx: t.id, Job: t.job.Name, Commit: true}, out)
	co.tell(now, t, firstRepeat, out)
	co.watcher.attend(now, t, out)
	co.listener.decided(now, t, out)
}

// abort decides ABORT for all legs.
func (co *coordinator) abort(now bourse.Time, t *transaction, r bourse.Reason, out *agents.Outbox) {
	co.record(bourse.TxDecided{Tx: t.id, Job: t.job.Name, Reason: r}, out)
	co.tell(now, t, firstRepeat, out)
	co.listener.decided(now, t, out)
}

// How long to wait before asking again: the first wait, doubled each time up to the
// last.
const (
	firstRepeat = 500 * bourse.Millisecond
	lastRepeat  = 5 * bourse.Second
)

// tell sends the decision to the sites that have not acknowledged it, and Release for
// legs that are given up. Rows B21, B26, B27, B31. It sends nothing to a site that has
// not listed its legs to this life.
func (co *coordinator) tell(now bourse.Time, t *transaction, first bourse.Duration, out *agents.Outbox) {
	co.sayDecision(t, out)
	if !t.atRest() {
		co.repeatLater(now, t, first, out)
	}
}

func (co *coordinator) sayDecision(t *transaction, out *agents.Outbox) {
	for i := range t.legs {
		l := &t.legs[i]
		p := co.peers.get(t.site(i))
		if p == nil || !p.listed || p.asserts(t.leg(i)) {
			continue
		}
		switch {
		case t.state == bourse.TxCommitted && l.state <= bourse.Prepared:
			out.Send(p.id, agents.Confirm{Leg: t.leg(i), DecidedBy: co.lives.current().Incarnation, Work: co.txs.handover(t, i)})
		case l.returns:
			co.losses.tellReturned(p, t, i, out)
		case t.state == bourse.TxCommitted && t.releases(l):
			out.Send(p.id, agents.Release{Leg: t.leg(i), DecidedBy: co.lives.current().Incarnation, Full: t.givenUp == bourse.GivenUpAsBroken || l.inFull})
		case t.state != bourse.TxAborted || l.state > bourse.Prepared:
		case i < t.sent:
			out.Send(p.id, agents.Cancel{Leg: t.leg(i), DecidedBy: co.lives.current().Incarnation})
		default: // never asked
			l.state = bourse.Cancelled
		}
	}
}

// repeatLater starts repeating to the transaction's sites, in place of any earlier
// series of repeats.
func (co *coordinator) repeatLater(now bourse.Time, t *transaction, first bourse.Duration, out *agents.Outbox) {
	co.sayLater(now, owed{what: theSteps, tx: t.id}, first, out)
}

// repeat sends again whatever a transaction's sites have not answered, and reports
// whether anything is still unanswered.
func (co *coordinator) repeat(now bourse.Time, t *transaction, out *agents.Outbox) bool {
	switch {
	case t == nil || !t.resolved:
		return false
	case t.state.Decided():
		if !t.atRest() {
			co.sayDecision(t, out)
		}
		return !t.atRest()
	case t.late(now, co.cfg.Lead): // its alarm is on the way
		return false
	}
	for i := range min(t.sent, len(t.legs)) {
		switch s := t.legs[i].state; {
		case t.state == bourse.TxHolding && s == bourse.Asked:
			co.sendHold(now, t, i, out)
		case t.state == bourse.TxPreparing && s == bourse.Held:
			co.sendPrepare(now, t, i, out)
		}
	}
	return true
}
