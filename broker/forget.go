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
	for _, t := range in.txs.All() {
		if t.Resolved() && in.co.Done(now, t) && t.LastEnd().Add(keepClosed) <= now && !in.wanted(t) {
			old = append(old, t.ID())
		}
	}
	if len(old) > 0 {
		in.record(facts.TxForgotten{Txs: old}, out)
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
	for _, j := range in.jobs {
		if j.state.Open() || j.since.Add(in.cfg.KeepJobs) > now || j.taken || j.errand != nil || j.askers != nil || j.needed() {
			continue
		}
		if busy == nil {
			busy = map[*transaction.Job]bool{}
			for _, t := range in.txs.All() {
				busy[t.Job()] = true
			}
		}
		if !busy[j.Itself()] {
			old = append(old, j.Name)
		}
	}
	if len(old) > 0 {
		in.record(facts.JobsForgotten{Jobs: old}, out)
	}
}

func (mem *memory) applyJobsForgotten(f facts.JobsForgotten) {
	gone := make(map[*job]bool, len(f.Jobs))
	for _, name := range f.Jobs {
		if j := mem.names[name]; j != nil {
			gone[j] = true
			mem.works -= workSize(j.Work, j.Parts)
			delete(mem.names, name)
		}
	}
	for j := range gone {
		for _, s := range j.feeds() {
			s.flow.needs = slices.DeleteFunc(s.flow.needs, func(x need) bool { return gone[x.job] })
		}
		for _, p := range j.needs() {
			p.flow.feeds = slices.DeleteFunc(p.flow.feeds, func(x *job) bool { return gone[x] })
		}
	}
	mem.jobs = slices.DeleteFunc(mem.jobs, func(j *job) bool { return gone[j] })
	mem.queue.sweep()
}

// wanted reports whether a transaction is part of a window that still counts.
func (in *intake) wanted(t *transaction.Tx) bool {
	j := in.jobOf(t)
	return j.state == grid.JobPlaced && slices.Contains(j.Window(), t)
}
