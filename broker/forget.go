package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// keepClosed is how long a transaction is remembered after its last leg's end. During
// that time a site may inquire about it, or have to be told again what it has forgotten.
// After that only its number tells that a life of this broker began it.
const keepClosed = grid.Day

// forgetEvery is how often a broker looks for what it may forget.
const forgetEvery = grid.Hour

// forget drops the transactions, and then the jobs, that ended long ago.
func (in *intake) forget(now grid.Time, out *agents.Outbox) {
	out.Alarm(now.Add(forgetEvery), forgetDue{})
	var old []grid.TxID
	for _, t := range in.Txs.All() {
		if t.Resolved() && in.co.Done(now, t) && t.LastEnd().Add(keepClosed) <= now && !in.wanted(t) {
			old = append(old, t.ID())
		}
	}
	if len(old) > 0 {
		in.Record(facts.TxForgotten{Txs: old}, out)
	}
	in.forgetJobs(now, out)
}

// forgetJobs drops the jobs that have been over for Config.KeepJobs and have no remembered
// transaction. Their names are free again: a submission repeated that late is a new job.
func (in *intake) forgetJobs(now grid.Time, out *agents.Outbox) {
	if in.cfg.KeepJobs == 0 {
		return
	}
	var busy map[*transaction.Job]bool // filled when needed
	var old []string
	for _, j := range in.Jobs {
		if j.Array != nil && len(j.Array.Elements) > 0 {
			continue // those first
		}
		if j.State.Open() || j.Since.Add(in.cfg.KeepJobs) > now || j.Taken || in.errands.errandOf(j) != nil || in.askers[j] != nil || j.Needed() || j.SetAside() > 0 {
			continue
		}
		if busy == nil {
			busy = map[*transaction.Job]bool{}
			for _, t := range in.Txs.All() {
				busy[t.Job()] = true
			}
		}
		if !busy[j.Itself()] {
			old = append(old, j.Name)
		}
	}
	if len(old) > 0 {
		in.Record(facts.JobsForgotten{Jobs: old}, out)
	}
}

// wanted reports whether a transaction is part of a window that still counts.
func (in *intake) wanted(t *transaction.Tx) bool {
	j := in.JobOf(t)
	return j.State == grid.JobPlaced && slices.Contains(j.Window(), t)
}
