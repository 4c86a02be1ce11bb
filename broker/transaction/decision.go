package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// commit decides COMMIT for all legs.
func (co *Coordinator) commit(now grid.Time, t *Tx, out *agents.Outbox) {
	co.record(facts.TxDecided{Tx: t.id, Job: t.job.Name, Commit: true}, out)
	co.Tell(now, t, FirstRepeat, out)
	co.watcher.attend(now, t, out)
	co.listener.Decided(now, t, out)
}

// Abort decides ABORT for all legs.
func (co *Coordinator) Abort(now grid.Time, t *Tx, r grid.Reason, out *agents.Outbox) {
	co.record(facts.TxDecided{Tx: t.id, Job: t.job.Name, Reason: r}, out)
	co.Tell(now, t, FirstRepeat, out)
	co.listener.Decided(now, t, out)
}

// How long to wait before asking again: the first wait, doubled each time up to the
// last.
const (
	FirstRepeat = 500 * grid.Millisecond
	LastRepeat  = 5 * grid.Second
)

// Tell sends the decision to the sites that have not acknowledged it, and Release for
// legs that are given up. Rows B21, B26, B27, B31. It sends nothing to a site that has
// not listed its legs to this life.
func (co *Coordinator) Tell(now grid.Time, t *Tx, first grid.Duration, out *agents.Outbox) {
	co.sayDecision(t, "", "", out)
	if !t.AtRest() {
		co.sayLater(now, t.steps(), first, out)
	}
}

// sayDecision sends it; confirm and cancel are the rows by which it repeats that.
func (co *Coordinator) sayDecision(t *Tx, confirm, cancel agents.Row, out *agents.Outbox) {
	for i := range t.legs {
		l := &t.legs[i]
		p := co.peers.Get(t.Site(i))
		if p == nil || !p.listed || p.asserts(t.LegID(i)) {
			continue
		}
		switch {
		case t.state == grid.TxCommitted && l.state <= grid.Prepared:
			out.Row(confirm)
			out.Send(p.id, co.confirmation(t, i))
		case l.returns:
			co.losses.tellReturned(p, t, i, out)
		case t.state == grid.TxCommitted && t.releases(l):
			out.Send(p.id, agents.Release{Leg: t.LegID(i), DecidedBy: co.lives.Current().Incarnation, Full: t.givenUp == grid.GivenUpAsBroken || l.inFull})
		case t.state != grid.TxAborted || l.state > grid.Prepared:
		case i < t.sent:
			out.Row(cancel)
			out.Send(p.id, agents.Cancel{Leg: t.LegID(i), DecidedBy: co.lives.Current().Incarnation})
		default: // never asked
			l.state = grid.Cancelled
		}
	}
}

// confirmation tells a leg's site of COMMIT. Repeated, or sent as a question, it has the leg's work
// as well: the site may not have got the first one, or may have lost it with its disk. The work of
// a leg that was given up with its site is not to run: others have it.
func (co *Coordinator) confirmation(t *Tx, i int) agents.Confirm {
	m := agents.Confirm{Leg: t.LegID(i), DecidedBy: co.lives.Current().Incarnation}
	if !t.legs[i].claim {
		m.Work = co.Handover(t, i)
	}
	return m
}

// steps are what its sites have not answered: repeating them again replaces any earlier
// series of repeats.
func (t *Tx) steps() owed { return owed{what: theSteps, tx: t.id} }

// repeat sends again whatever a transaction's sites have not answered, and reports
// whether anything is still unanswered.
func (co *Coordinator) repeat(now grid.Time, t *Tx, out *agents.Outbox) bool {
	switch {
	case t == nil || !t.resolved:
		return false
	case t.state.Decided():
		if !t.AtRest() {
			co.sayDecision(t, "B21", "B31", out)
		}
		return !t.AtRest()
	case t.late(now, co.cfg.Lead): // its alarm is on the way
		return false
	}
	for i := range min(t.sent, len(t.legs)) {
		switch s := t.legs[i].state; {
		case t.state == grid.TxHolding && s == grid.Asked:
			co.sendHold(now, t, i, out)
		case t.state == grid.TxPreparing && s == grid.Held:
			co.cfg.prepare(now, t, i, out)
		}
	}
	return true
}

// tellReplaced releases the rest of the window that a move replaces, after its first
// Confirmed. If the move failed, it releases what its job cannot use.
func (co *Coordinator) tellReplaced(now grid.Time, t *Tx, out *agents.Outbox) {
	for _, old := range co.txs.All() {
		if old.job == t.job && old != t && (old.apart || co.withdrawn(t.job)) && old.resolved && !old.Open() && !old.AtRest() {
			co.Tell(now, old, FirstRepeat, out)
		}
	}
}
