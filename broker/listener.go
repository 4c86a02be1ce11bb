package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// outcomes passes on to the components what becomes of their transactions.
type outcomes struct{ *Broker }

// decided goes on with the cycle or the errand that began a transaction.
func (b outcomes) decided(now grid.Time, t *transaction, out *agents.Outbox) {
	if b.scheduler.decided(now, t, out) {
		return
	}
	if t.state == grid.TxAborted {
		b.shifts.offerFailed(now, t, out)
	}
	b.errands.decided(now, t, out)
}

// lost repairs a job's window.
func (b outcomes) lost(now grid.Time, j *txJob, out *agents.Outbox) {
	b.errands.mend(now, b.names[j.Name], out)
}

// ended answers those waiting for a cancelled job to end.
func (b outcomes) ended(j *txJob, out *agents.Outbox) { b.intake.answerCancel(b.names[j.Name], out) }

// effective answers the asker of a move.
func (b outcomes) effective(t *transaction, why grid.Reason, out *agents.Outbox) {
	b.errands.answerMove(t, why, out)
}

// changed has a job reviewed at the end of the step.
func (b outcomes) changed(j *txJob) { b.touch(b.names[j.Name]) }

// listed repairs the windows that had to wait.
func (b outcomes) listed(now grid.Time, out *agents.Outbox) {
	for _, j := range b.jobs {
		b.errands.mend(now, j, out)
	}
}

// elsewhere, shiftOffered and goOnWithout pass the call on to a component.
func (b outcomes) elsewhere(t *transaction, places []grid.Place) { b.scheduler.elsewhere(t, places) }

func (b outcomes) shiftOffered(now grid.Time, t *transaction, l *txLeg, m agents.ShiftOffer, out *agents.Outbox) {
	b.shifts.shiftOffered(now, t, l, m, out)
}

func (b outcomes) goOnWithout(now grid.Time, site agents.ID, out *agents.Outbox) {
	b.scheduler.goOnWithout(now, site, out)
}
