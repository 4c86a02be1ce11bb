package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// listener is told what happens to the coordinator's transactions. The broker passes that
// on to the component that began the transaction by coordinator.open: the cycle, the
// repairs, the moves or the offers.
type listener interface {
	// decided: a transaction was decided, COMMIT or ABORT.
	decided(now grid.Time, t *transaction, out *agents.Outbox)
	// lost: a part of a job's window may be gone, or can be repaired only now.
	lost(now grid.Time, j *job, out *agents.Outbox)
	// ended: a leg of a job has ended.
	ended(j *job, out *agents.Outbox)
	// effective: a site has confirmed a leg or, with a reason, none ever will.
	effective(t *transaction, why grid.Reason, out *agents.Outbox)
	// elsewhere: a site has refused a leg and names other places for it.
	elsewhere(t *transaction, places []grid.Place)
	// shiftOffered: a site asks to move a leg.
	shiftOffered(now grid.Time, t *transaction, l *txLeg, m agents.ShiftOffer, out *agents.Outbox)
	// goOnWithout: a site is lost, so nobody must wait for its answers.
	goOnWithout(now grid.Time, site agents.ID, out *agents.Outbox)
}

// decided goes on with the cycle or the errand that began a transaction.
func (b *Broker) decided(now grid.Time, t *transaction, out *agents.Outbox) {
	if b.scheduler.decided(now, t, out) {
		return
	}
	if t.state == grid.TxAborted {
		b.shifts.offerFailed(now, t, out)
	}
	b.errands.decided(now, t, out)
}

// lost repairs a job's window.
func (b *Broker) lost(now grid.Time, j *job, out *agents.Outbox) { b.errands.mend(now, j, out) }

// ended answers those waiting for a cancelled job to end.
func (b *Broker) ended(j *job, out *agents.Outbox) { b.intake.answerCancel(j, out) }

// effective answers the asker of a move.
func (b *Broker) effective(t *transaction, why grid.Reason, out *agents.Outbox) {
	b.errands.answerMove(t, why, out)
}

// elsewhere, shiftOffered and goOnWithout pass the call on to a component.
func (b *Broker) elsewhere(t *transaction, places []grid.Place) { b.scheduler.elsewhere(t, places) }

func (b *Broker) shiftOffered(now grid.Time, t *transaction, l *txLeg, m agents.ShiftOffer, out *agents.Outbox) {
	b.shifts.shiftOffered(now, t, l, m, out)
}

func (b *Broker) goOnWithout(now grid.Time, site agents.ID, out *agents.Outbox) {
	b.scheduler.goOnWithout(now, site, out)
}
