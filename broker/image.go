package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// maxPart is the most jobs and transactions in one part of an image, which is then some
// 300 kB of the journal.
const maxPart = 1000

// Image returns everything the broker keeps as one fact. Its size grows with the number
// of jobs and transactions; Parts and Part return it in pieces.
func (mem *memory) Image() agents.Fact {
	f := mem.common()
	mem.listed(&f, 0, len(mem.jobs)+len(mem.txs.All()))
	return f
}

// Parts is how many facts the image takes, with a thousand jobs and transactions in
// each; at least 1.
func (mem *memory) Parts() int {
	return max((len(mem.jobs)+len(mem.txs.All())+mem.part-1)/mem.part, 1)
}

// Part returns the i-th part of the image, from 0 to Parts()-1.
func (mem *memory) Part(i int) agents.Fact {
	var f facts.BrokerImage
	if i == 0 {
		f = mem.common()
	}
	if n := mem.Parts(); n > 1 {
		f.Part, f.Parts = i, n
	}
	mem.listed(&f, i*mem.part, min((i+1)*mem.part, len(mem.jobs)+len(mem.txs.All())))
	return f
}

// common is what an image has besides jobs and transactions.
func (mem *memory) common() facts.BrokerImage {
	f := facts.BrokerImage{Cycles: mem.cycles, Lines: mem.queue.order(), Tenancy: mem.tenancy.Image()}
	f.Tenancy.Lines = mem.queue.passes()
	mem.tx.Image(&f)
	mem.accounts.Image(&f)
	mem.trust.Image(&f)
	mem.lives.Image(&f)
	return f
}

// listed adds items from..to-1 to an image, counted over all jobs and then all
// transactions.
func (mem *memory) listed(f *facts.BrokerImage, from, to int) {
	for i := from; i < to; i++ {
		if i < len(mem.jobs) {
			f.Jobs = append(f.Jobs, mem.jobs[i].image())
		} else {
			f.Txs = append(f.Txs, mem.tx.ImageOf(i-len(mem.jobs)))
		}
	}
}

func (j *job) image() facts.JobMemory {
	m := facts.JobMemory{Job: j.whole(), State: j.state, Fresh: j.fresh, Stub: j.stub, Reason: j.reason, Since: j.since, Ended: j.ended}
	if j.asked != nil && !same(j.asked, &m.Job) {
		m.Asked = *j.asked
	}
	if j.Last() != nil {
		m.Last = j.Last().ID()
	}
	m.Offers = slices.Clone(j.asks())
	return m
}

// load replaces the memory by an image, or adds another part of it.
func (mem *memory) load(f facts.BrokerImage) {
	if f.Part == 0 {
		mem.reset()
		mem.loadCommon(f)
	}
	for i := range f.Jobs {
		mem.loadJob(&f.Jobs[i])
	}
	for _, m := range f.Txs {
		t := mem.tx.LoadTx(mem.now, m)
		if mem.uncounted {
			mem.tenancy.Count(t, tenancy.EveryLeg, 1)
		}
	}
	if f.Part+1 < f.Parts {
		return
	}
	for i, j := range mem.jobs {
		j.Tried(mem.txs.Get(mem.lasts[i]))
	}
	mem.tx.ReplaceAll()
	mem.queue.served(mem.lines)
	mem.lasts, mem.lines = nil, nil
	for _, j := range mem.jobs {
		mem.link(j)
		_, ok := j.follows()
		j.held = !ok
	}
	mem.peers.Change()
}

// loadCommon loads what an image has besides jobs and transactions.
func (mem *memory) loadCommon(f facts.BrokerImage) {
	mem.lives.Load(&f)
	mem.tx.Load(mem.now, &f)
	mem.cycles = f.Cycles
	for _, x := range f.Trust {
		mem.peers.Ensure(mem.now, transaction.SiteID(x.Site))
	}
	mem.accounts.Load(&f)
	mem.lines = f.Lines
	mem.trust.Load(&f)
	mem.tenancy.Load(f.Tenancy)
	mem.uncounted = !f.Tenancy.Counted
	mem.queue.passed(f.Tenancy.Lines)
	mem.termsChanged()
}

func (mem *memory) loadJob(m *facts.JobMemory) {
	j := newJob(grid.Job{})
	mem.texts.take(j, m.Job)
	j.state, j.stub = grid.JobAbandoned, m.Stub
	j.because(m.Reason)
	if m.Asked.Name != "" {
		asked := m.Asked
		j.own().asked = &asked
	}
	mem.jobs, mem.lasts = append(mem.jobs, j), append(mem.lasts, m.Last)
	mem.names[j.Name] = j
	mem.works += workSize(j.Work, j.Parts)
	mem.become(j, m.State)
	if !m.Fresh {
		mem.queue.look(j)
	}
	j.since, j.ended = m.Since, m.Ended
	if len(m.Offers) > 0 {
		j.own().offers = &offers{slices.Clone(m.Offers)}
	}
}
