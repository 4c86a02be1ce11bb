package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// listener is told what becomes of the transactions that the coordinator carries out.
// A broker hands it on to the component that has begun them by coordinator.open: the
// cycle, the repairs, the moves or the offers.
type listener interface {
	// decided: a transaction has come to COMMIT or ABORT, and its job goes on.
	decided(now bourse.Time, t *transaction, out *agents.Outbox)
	// lost: a part of a job's window may be gone, or may be replaced only now.
	lost(now bourse.Time, j *job, out *agents.Outbox)
	// ended: something of a job holds nothing any more.
	ended(j *job, out *agents.Outbox)
	// effective: a site has confirmed a leg or, with a reason, none ever will.
	effective(t *transaction, why bourse.Reason, out *agents.Outbox)
	// elsewhere: a site has refused a leg, and names other places for it.
	elsewhere(t *transaction, places []bourse.Place)
	// shiftOffered: a site wishes that a leg lay elsewhere.
	shiftOffered(now bourse.Time, t *transaction, l *txLeg, m agents.ShiftOffer, out *agents.Outbox)
	// goOnWithout: a site is lost, and nobody waits for its answers.
	goOnWithout(now bourse.Time, site agents.ID, out *agents.Outbox)
}

// decided goes on with the cycle or the errand that has begun a transaction.
func (b *Broker) decided(now bourse.Time, t *transaction, out *agents.Outbox) {
	if b.scheduler.decided(now, t, out) {
		return
	}
	if t.state == bourse.TxAborted {
		b.shifts.offerFailed(now, t, out)
	}
	b.errands.decided(now, t, out)
}

// lost repairs what is lost of a job's window.
func (b *Broker) lost(now bourse.Time, j *job, out *agents.Outbox) { b.errands.mend(now, j, out) }

// ended answers those who wait for the end of a job that was given up.
func (b *Broker) ended(j *job, out *agents.Outbox) { b.intake.answerCancel(j, out) }

// effective answers who has asked for a move.
func (b *Broker) effective(t *transaction, why bourse.Reason, out *agents.Outbox) {
	b.errands.answerMove(t, why, out)
}

// elsewhere, shiftOffered and goOnWithout are those of the components.
func (b *Broker) elsewhere(t *transaction, places []bourse.Place) { b.scheduler.elsewhere(t, places) }

func (b *Broker) shiftOffered(now bourse.Time, t *transaction, l *txLeg, m agents.ShiftOffer, out *agents.Outbox) {
	b.shifts.shiftOffered(now, t, l, m, out)
}

func (b *Broker) goOnWithout(now bourse.Time, site agents.ID, out *agents.Outbox) {
	b.scheduler.goOnWithout(now, site, out)
}
