package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// commit decides COMMIT for all legs.
func (co *coordinator) commit(now grid.Time, t *transaction, out *agents.Outbox) {
	co.record(facts.TxDecided{Tx: t.id, Job: t.job.Name, Commit: true}, out)
	co.tell(now, t, firstRepeat, out)
	co.watcher.attend(now, t, out)
	co.listener.decided(now, t, out)
}

// abort decides ABORT for all legs.
func (co *coordinator) abort(now grid.Time, t *transaction, r grid.Reason, out *agents.Outbox) {
	co.record(facts.TxDecided{Tx: t.id, Job: t.job.Name, Reason: r}, out)
	co.tell(now, t, firstRepeat, out)
	co.listener.decided(now, t, out)
}

// How long to wait before asking again: the first wait, doubled each time up to the
// last.
const (
	firstRepeat = 500 * grid.Millisecond
	lastRepeat  = 5 * grid.Second
)

// tell sends the decision to the sites that have not acknowledged it, and Release for
// legs that are given up. Rows B21, B26, B27, B31. It sends nothing to a site that has
// not listed its legs to this life.
func (co *coordinator) tell(now grid.Time, t *transaction, first grid.Duration, out *agents.Outbox) {
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
		case t.state == grid.TxCommitted && l.state <= grid.Prepared:
			out.Send(p.id, agents.Confirm{Leg: t.leg(i), DecidedBy: co.lives.Current().Incarnation, Work: co.handover(t, i)})
		case l.returns:
			co.losses.tellReturned(p, t, i, out)
		case t.state == grid.TxCommitted && t.releases(l):
			out.Send(p.id, agents.Release{Leg: t.leg(i), DecidedBy: co.lives.Current().Incarnation, Full: t.givenUp == grid.GivenUpAsBroken || l.inFull})
		case t.state != grid.TxAborted || l.state > grid.Prepared:
		case i < t.sent:
			out.Send(p.id, agents.Cancel{Leg: t.leg(i), DecidedBy: co.lives.Current().Incarnation})
		default: // never asked
			l.state = grid.Cancelled
		}
	}
}

// repeatLater starts repeating to the transaction's sites, in place of any earlier
// series of repeats.
func (co *coordinator) repeatLater(now grid.Time, t *transaction, first grid.Duration, out *agents.Outbox) {
	co.sayLater(now, owed{what: theSteps, tx: t.id}, first, out)
}

// repeat sends again whatever a transaction's sites have not answered, and reports
// whether anything is still unanswered.
func (co *coordinator) repeat(now grid.Time, t *transaction, out *agents.Outbox) bool {
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
		case t.state == grid.TxHolding && s == grid.Asked:
			co.sendHold(now, t, i, out)
		case t.state == grid.TxPreparing && s == grid.Held:
			co.sendPrepare(now, t, i, out)
		}
	}
	return true
}

// tellReplaced releases the rest of the window that a move replaces, after its first
// Confirmed. If the move failed, it releases what its job cannot use.
func (co *coordinator) tellReplaced(now grid.Time, t *transaction, out *agents.Outbox) {
	for _, old := range co.txs.all() {
		if old.job == t.job && old != t && (old.apart || co.withdrawn(t.job)) && old.resolved && !old.open() && !old.atRest() {
			co.tell(now, old, firstRepeat, out)
		}
	}
}
