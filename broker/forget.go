package broker

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// keepClosed is how long a transaction is remembered after its last leg's end:
// in that time a site may inquire, or be told again what it has forgotten. After
// that all that is known of it is that its life has begun it, by its number.
const keepClosed = bourse.Day

// forgetEvery is how often a broker looks for what it may forget.
const forgetEvery = bourse.Hour

// forget drops the transactions that are long over.
func (in *intake) forget(now bourse.Time, out *agents.Outbox) {
	out.Alarm(now.Add(forgetEvery), forgetDue{})
	var old []bourse.TxID
	for _, t := range in.txs.all() {
		if t.resolved && in.co.done(now, t) && t.lastEnd().Add(keepClosed) <= now && !in.wanted(t) {
			old = append(old, t.id)
		}
	}
	if len(old) > 0 {
		in.record(bourse.TxForgotten{Txs: old}, out)
	}
	in.forgetJobs(now, out)
}

// forgetJobs drops the jobs that are over for as long as Config.KeepJobs and of
// which no transaction is remembered. Their names are free again: a submission
// that is repeated so late is a new job.
func (in *intake) forgetJobs(now bourse.Time, out *agents.Outbox) {
	if in.cfg.KeepJobs == 0 {
		return
	}
	var busy map[*job]bool // made when it is needed
	var old []string
	for _, j := range in.jobs {
		if j.state.Open() || j.since.Add(in.cfg.KeepJobs) > now || j.taken || j.errand != nil || j.askers != nil || j.needed() {
			continue
		}
		if busy == nil {
			busy = map[*job]bool{}
			for _, t := range in.txs.all() {
				busy[t.job] = true
			}
		}
		if !busy[j] {
			old = append(old, j.Name)
		}
	}
	if len(old) > 0 {
		in.record(bourse.JobsForgotten{Jobs: old}, out)
	}
}

func (mem *memory) applyJobsForgotten(f bourse.JobsForgotten) {
	gone := make(map[*job]bool, len(f.Jobs))
	for _, name := range f.Jobs {
		if j := mem.names[name]; j != nil {
			gone[j] = true
			mem.works -= j.Work.Size()
			delete(mem.names, name)
		}
	}
	for j := range gone {
		for _, s := range j.feeds() {
			s.flow.needs = slices.DeleteFunc(s.flow.needs, func(x *job) bool { return gone[x] })
		}
		for _, p := range j.needs() {
			p.flow.feeds = slices.DeleteFunc(p.flow.feeds, func(x *job) bool { return gone[x] })
		}
	}
	mem.jobs = slices.DeleteFunc(mem.jobs, func(j *job) bool { return gone[j] })
	mem.queue.sweep()
}

// wanted reports whether a transaction is part of a window that still counts.
func (in *intake) wanted(t *transaction) bool {
	return t.job.state == bourse.JobPlaced && slices.Contains(t.job.txs, t)
}
