package jobs

import (
	"cmp"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// What the facts about a job's transactions mean for the job: whether it is placed, waits
// again or is done, why, and what it asks for.

// applyTx applies a fact about a transaction or a site, and reports whether it is one. It
// applies it first to the transaction, and then to the job.
func (rec *State) applyTx(f agents.Fact) bool {
	switch f := f.(type) {
	case facts.TxBegun:
		rec.Tx.Apply(rec.Now, f)
		rec.Lives.Raise(f.Tx.Seq)
		j := rec.Names[f.Job]
		if j.State == grid.JobWaiting {
			j.State = grid.JobTrying
		}
		rec.Queue.look(j)
	case facts.TxDecided:
		rec.Tx.Apply(rec.Now, f)
		rec.applyDecided(f)
	case facts.TxReversed:
		rec.applyReversed(f)
	case facts.LegClosed:
		rec.applyClosed(f)
	case facts.LegDone:
		rec.Tx.Apply(rec.Now, f)
		j := rec.JobOf(rec.Txs.Get(f.Leg.Tx))
		rec.Touch(j)
		if f.Reason.Refused() {
			j.because(f.Reason)
		}
		rec.settle(j)
	case facts.LegAdopted:
		rec.takeStub(f)
		rec.Tx.Apply(rec.Now, f)
	case facts.LegShifted:
		rec.Tx.Apply(rec.Now, f)
		rec.Touch(rec.JobOf(rec.Txs.Get(f.Leg.Tx)))
	default:
		return rec.Tx.Apply(rec.Now, f)
	}
	return true
}

// JobOf is the job of a transaction.
func (rec *State) JobOf(t *transaction.Tx) *Job { return rec.Names[t.Job().Name] }

// applyDecided makes a job placed, or lets it wait.
func (rec *State) applyDecided(f facts.TxDecided) {
	t := rec.Txs.Get(f.Tx)
	j := rec.JobOf(t)
	rec.Touch(j)
	if !f.Commit {
		if j.State == grid.JobTrying {
			j.State = grid.JobWaiting
		}
		return
	}
	if t.Request() != nil { // a move makes its window the job's
		if j.asked == nil {
			was := j.Whole()
			j.own().asked = &was
		}
		j.ask(t.Exchange(j.Request()), *j.wishes)
	}
	if o := rec.Accepted(t); o != nil {
		o.State, o.Reason = facts.OfferAccepted, grid.Reason{}
	}
	if j.State == grid.JobWithdrawn {
		return
	}
	j.because(grid.Reason{})
	rec.become(j, grid.JobPlaced)
}

// applyReversed takes a window from its job after all.
func (rec *State) applyReversed(f facts.TxReversed) {
	t := rec.Txs.Get(f.Tx)
	j, was := rec.JobOf(t), t.Request()
	rec.Tx.Apply(rec.Now, f)
	j.because(f.Reason)
	rec.Touch(j)
	if was != nil {
		rec.restore(j, t, was)
	}
	rec.settle(j)
}

// applyClosed looks whether a job has lost a leg. A move of one leg that has failed gives it
// back the window that it had, if that is still there.
func (rec *State) applyClosed(f facts.LegClosed) {
	t := rec.Txs.Get(f.Leg.Tx)
	j, was := rec.JobOf(t), t.Request()
	rec.Tx.Apply(rec.Now, f)
	rec.Touch(j)
	if f.Commit || t.State() != grid.TxCommitted {
		return
	}
	if f.Reason.Refused() {
		j.because(f.Reason)
	}
	if was != nil && t.Request() == nil {
		if rec.restore(j, t, was); len(j.Window()) == 0 && !j.Stub { // the window it was to replace is gone
			j.because(f.Reason)
			rec.Fallen = append(rec.Fallen, j)
		}
	}
	rec.settle(j)
}

// restore puts back the request that a job had before a move that has failed.
func (rec *State) restore(j *Job, t *transaction.Tx, was *grid.Request) {
	if o := rec.Accepted(t); o != nil {
		o.State, o.Reason = facts.OfferRejected, cmp.Or(t.Reason(), j.Reason)
	}
	j.ask(*was, *j.wishes)
	j.because(grid.Reason{})
}

// takeStub puts on record the job of a leg that a site has listed, if nothing is known of it
// beyond that.
func (rec *State) takeStub(f facts.LegAdopted) {
	if rec.Txs.Get(f.Leg.Tx) != nil || rec.Names[f.Job] != nil {
		return
	}
	j := NewJob(grid.Job{Name: f.Job, User: f.User})
	j.State, j.Stub = grid.JobAbandoned, true
	j.Deadline = grid.Never
	rec.Jobs = append(rec.Jobs, j)
	rec.Names[j.Name] = j
}
