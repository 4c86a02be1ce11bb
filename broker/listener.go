package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// outcomes passes on to the components what becomes of their transactions.
type outcomes struct{ *Broker }

// Decided goes on with the cycle or the errand that began a transaction.
func (b outcomes) Decided(now grid.Time, t *transaction.Tx, out *agents.Outbox) {
	if b.scheduler.decided(now, t, out) || b.gathers.Decided(now, t, out) {
		return
	}
	if t.State() == grid.TxAborted {
		b.shifts.offerFailed(now, t, out)
	}
	b.errands.decided(now, t, out)
}

// Lost repairs a job's window.
func (b outcomes) Lost(now grid.Time, j *transaction.Job, out *agents.Outbox) {
	b.errands.mend(now, b.mem.Names[j.Name], out)
}

// Ended answers those waiting for a cancelled job to end.
func (b outcomes) Ended(j *transaction.Job, out *agents.Outbox) {
	b.intake.answerCancel(b.mem.Names[j.Name], out)
}

// Effective answers the asker of a move.
func (b outcomes) Effective(t *transaction.Tx, why grid.Reason, out *agents.Outbox) {
	b.errands.answerMove(t, why, out)
}

// Changed has a job reviewed at the end of the step.
func (b outcomes) Changed(j *transaction.Job) { b.mem.Touch(b.mem.Names[j.Name]) }

// Listed repairs the windows that had to wait.
func (b outcomes) Listed(now grid.Time, out *agents.Outbox) {
	for _, j := range b.mem.Jobs {
		b.errands.mend(now, j, out)
	}
}

// Elsewhere, ShiftOffered and GoOnWithout pass the call on to a component.
func (b outcomes) Elsewhere(t *transaction.Tx, places []grid.Place) { b.scheduler.elsewhere(t, places) }

func (b outcomes) ShiftOffered(now grid.Time, t *transaction.Tx, l *transaction.Leg, m agents.ShiftOffer, out *agents.Outbox) {
	b.shifts.shiftOffered(now, t, l, m, out)
}

func (b outcomes) GoOnWithout(now grid.Time, site agents.ID, out *agents.Outbox) {
	b.scheduler.goOnWithout(now, site, out)
}
