package jobs

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// MaxPart is the most jobs and transactions in one part of an image, which is then some
// 300 kB of the journal.
const MaxPart = 1000

// Image returns everything the broker keeps as one fact. Its size grows with the number
// of jobs and transactions; Parts and Part return it in pieces.
func (rec *State) Image() agents.Fact {
	f := rec.common()
	rec.listed(&f, 0, len(rec.Jobs)+len(rec.Txs.All()))
	return f
}

// Parts is how many facts the image takes, with a thousand jobs and transactions in
// each; at least 1.
func (rec *State) Parts() int {
	return max((len(rec.Jobs)+len(rec.Txs.All())+rec.PartSize-1)/rec.PartSize, 1)
}

// Part returns the i-th part of the image, from 0 to Parts()-1.
func (rec *State) Part(i int) agents.Fact {
	var f facts.BrokerImage
	if i == 0 {
		f = rec.common()
	}
	if n := rec.Parts(); n > 1 {
		f.Part, f.Parts = i, n
	}
	rec.listed(&f, i*rec.PartSize, min((i+1)*rec.PartSize, len(rec.Jobs)+len(rec.Txs.All())))
	return f
}

// common is what an image has besides jobs and transactions.
func (rec *State) common() facts.BrokerImage {
	f := facts.BrokerImage{Cycles: rec.Cycles, Lines: rec.Queue.Order(), Tenancy: rec.Tenancy.Image()}
	f.Tenancy.Lines = rec.Queue.passes()
	rec.Tx.Image(&f)
	rec.Accounts.Image(&f)
	rec.Trust.Image(&f)
	rec.Lives.Image(&f)
	return f
}

// listed adds items from..to-1 to an image, counted over all jobs and then all
// transactions.
func (rec *State) listed(f *facts.BrokerImage, from, to int) {
	for i := from; i < to; i++ {
		if i < len(rec.Jobs) {
			f.Jobs = append(f.Jobs, rec.Jobs[i].image())
		} else {
			f.Txs = append(f.Txs, rec.Tx.ImageOf(i-len(rec.Jobs)))
		}
	}
}

func (j *Job) image() facts.JobMemory {
	m := facts.JobMemory{Job: j.Whole(), State: j.State, Fresh: j.Fresh, Stub: j.Stub, Reason: j.Reason, Since: j.Since, Ended: j.Ended}
	if j.asked != nil && !Same(j.asked, &m.Job) {
		m.Asked = *j.asked
	}
	if j.Last() != nil {
		m.Last = j.Last().ID()
	}
	m.Offers = slices.Clone(j.Offers())
	if g := j.gathered; g != nil {
		m.Gathering, m.SetAside = &g.state, g.aside
	}
	switch {
	case j.Array != nil:
		m.Array = j.Array.image()
	case j.From.Array != nil:
		m.Job.Work = nil
	}
	return m
}

// Loading reports whether an image has been read in part, and more of it has to come.
func (rec *State) Loading() bool { return rec.lasts != nil }

// load replaces the memory by an image, or adds another part of it.
func (rec *State) load(f facts.BrokerImage) {
	if f.Part == 0 {
		rec.reset()
		rec.loadCommon(f)
	}
	for i := range f.Jobs {
		rec.loadJob(&f.Jobs[i])
	}
	for _, m := range f.Txs {
		t := rec.Tx.LoadTx(rec.Now, m)
		if rec.uncounted {
			rec.Tenancy.Count(t, tenancy.EveryLeg, 1)
		}
	}
	if f.Part+1 < f.Parts {
		return
	}
	for i, j := range rec.Jobs {
		j.Tried(rec.Txs.Get(rec.lasts[i]))
	}
	rec.Tx.ReplaceAll()
	rec.Queue.served(rec.lines)
	rec.lasts, rec.lines = nil, nil
	for _, j := range rec.Jobs {
		rec.link(j)
		_, ok := j.Follows()
		j.Held = !ok
	}
	rec.Peers.Change()
}

// loadCommon loads what an image has besides jobs and transactions.
func (rec *State) loadCommon(f facts.BrokerImage) {
	rec.Lives.Load(&f)
	rec.Tx.Load(rec.Now, &f)
	rec.Cycles = f.Cycles
	for _, x := range f.Trust {
		rec.Peers.Ensure(rec.Now, transaction.SiteID(x.Site))
	}
	rec.Accounts.Load(&f)
	rec.lines = f.Lines
	rec.Trust.Load(&f)
	rec.Tenancy.Load(f.Tenancy)
	rec.uncounted = !f.Tenancy.Counted
	rec.Queue.passed(f.Tenancy.Lines)
	rec.termsChanged()
}

// arrayOf is the array whose element a job of an image is, nil: none. The job then has the
// work of the array.
func (rec *State) arrayOf(m *facts.JobMemory) *Job {
	name, _, ok := grid.ElementOf(m.Job.Name)
	a := rec.Names[name]
	if !ok || a == nil || !a.Owns(m.Job.Name) || m.Stub {
		return nil
	}
	m.Job.Work, rec.texts.came = a.Work, a.Array.from
	return a
}

func (rec *State) loadJob(m *facts.JobMemory) {
	j := NewJob(grid.Job{})
	of := rec.arrayOf(m)
	rec.texts.take(j, m.Job)
	if of != nil {
		of.Array.Elements = append(of.Array.Elements, j)
	}
	if rec.applyArray(j, m.Job.Array); m.Array != nil {
		j.Array.load(m.Array)
	}
	j.State, j.Stub = grid.JobAbandoned, m.Stub
	j.because(m.Reason)
	if m.Asked.Name != "" {
		asked := m.Asked
		j.own().asked = &asked
	}
	rec.Jobs, rec.lasts = append(rec.Jobs, j), append(rec.lasts, m.Last)
	rec.Names[j.Name] = j
	rec.Works += j.takes()
	rec.become(j, m.State)
	if !m.Fresh {
		rec.Queue.look(j)
	}
	if j.Since, j.Ended = m.Since, m.Ended; j.Array != nil && !m.State.Open() {
		rec.closeArray(j)
	}
	if m.Gathering != nil {
		gather(rec, j, *m.Gathering, m.SetAside)
	}
	if len(m.Offers) > 0 {
		j.own().offers = &offers{slices.Clone(m.Offers)}
	}
}
