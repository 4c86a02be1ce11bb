package broker

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
func (mem *memory) applyTx(f agents.Fact) bool {
	switch f := f.(type) {
	case facts.TxBegun:
		mem.tx.Apply(mem.now, f)
		mem.lives.Raise(f.Tx.Seq)
		j := mem.names[f.Job]
		if j.state == grid.JobWaiting {
			j.state = grid.JobTrying
		}
		mem.queue.look(j)
	case facts.TxDecided:
		mem.tx.Apply(mem.now, f)
		mem.applyDecided(f)
	case facts.TxReversed:
		mem.applyReversed(f)
	case facts.LegClosed:
		mem.applyClosed(f)
	case facts.LegDone:
		mem.tx.Apply(mem.now, f)
		j := mem.jobOf(mem.txs.Get(f.Leg.Tx))
		mem.touch(j)
		if f.Reason.Refused() {
			j.because(f.Reason)
		}
		mem.settle(j)
	case facts.LegAdopted:
		mem.takeStub(f)
		mem.tx.Apply(mem.now, f)
	case facts.LegShifted:
		mem.tx.Apply(mem.now, f)
		mem.touch(mem.jobOf(mem.txs.Get(f.Leg.Tx)))
	default:
		return mem.tx.Apply(mem.now, f)
	}
	return true
}

// jobOf is the job of a transaction.
func (mem *memory) jobOf(t *transaction.Tx) *job { return mem.names[t.Job().Name] }

// applyDecided makes a job placed, or lets it wait.
func (mem *memory) applyDecided(f facts.TxDecided) {
	t := mem.txs.Get(f.Tx)
	j := mem.jobOf(t)
	mem.touch(j)
	if !f.Commit {
		if j.state == grid.JobTrying {
			j.state = grid.JobWaiting
		}
		return
	}
	if t.Request() != nil { // a move makes its window the job's
		if j.asked == nil {
			was := j.whole()
			j.own().asked = &was
		}
		j.ask(t.Exchange(j.request()), *j.wishes)
	}
	if o := mem.accepted(t); o != nil {
		o.State, o.Reason = facts.OfferAccepted, grid.Reason{}
	}
	if j.state == grid.JobWithdrawn {
		return
	}
	j.because(grid.Reason{})
	mem.become(j, grid.JobPlaced)
}

// applyReversed takes a window from its job after all.
func (mem *memory) applyReversed(f facts.TxReversed) {
	t := mem.txs.Get(f.Tx)
	j, was := mem.jobOf(t), t.Request()
	mem.tx.Apply(mem.now, f)
	j.because(f.Reason)
	mem.touch(j)
	if was != nil {
		mem.restore(j, t, was)
	}
	mem.settle(j)
}

// applyClosed looks whether a job has lost a leg. A move of one leg that has failed gives it
// back the window that it had, if that is still there.
func (mem *memory) applyClosed(f facts.LegClosed) {
	t := mem.txs.Get(f.Leg.Tx)
	j, was := mem.jobOf(t), t.Request()
	mem.tx.Apply(mem.now, f)
	mem.touch(j)
	if f.Commit || t.State() != grid.TxCommitted {
		return
	}
	if f.Reason.Refused() {
		j.because(f.Reason)
	}
	if was != nil && t.Request() == nil {
		if mem.restore(j, t, was); len(j.Window()) == 0 && !j.stub { // the window it was to replace is gone
			j.because(f.Reason)
			mem.fallen = append(mem.fallen, j)
		}
	}
	mem.settle(j)
}

// restore puts back the request that a job had before a move that has failed.
func (mem *memory) restore(j *job, t *transaction.Tx, was *grid.Request) {
	if o := mem.accepted(t); o != nil {
		o.State, o.Reason = facts.OfferRejected, cmp.Or(t.Reason(), j.reason)
	}
	j.ask(*was, *j.wishes)
	j.because(grid.Reason{})
}

// takeStub puts on record the job of a leg that a site has listed, if nothing is known of it
// beyond that.
func (mem *memory) takeStub(f facts.LegAdopted) {
	if mem.txs.Get(f.Leg.Tx) != nil || mem.names[f.Job] != nil {
		return
	}
	j := newJob(grid.Job{Name: f.Job, User: f.User})
	j.state, j.stub = grid.JobAbandoned, true
	j.Deadline = grid.Never
	mem.jobs = append(mem.jobs, j)
	mem.names[j.Name] = j
}
