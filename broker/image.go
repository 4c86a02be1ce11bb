package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
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
	mem.listed(&f, 0, len(mem.jobs)+len(mem.txs.all()))
	return f
}

// Parts is how many facts the image takes, with a thousand jobs and transactions in
// each; at least 1.
func (mem *memory) Parts() int {
	return max((len(mem.jobs)+len(mem.txs.all())+mem.part-1)/mem.part, 1)
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
	mem.listed(&f, i*mem.part, min((i+1)*mem.part, len(mem.jobs)+len(mem.txs.all())))
	return f
}

// common is what an image has besides jobs and transactions.
func (mem *memory) common() facts.BrokerImage {
	f := facts.BrokerImage{Seq: mem.txs.begun(), Cycles: mem.cycles, Lines: mem.queue.order(),
		Tenancy: mem.tenancy.Image(), Dealt: mem.peers.dealtImage()}
	f.Tenancy.Lines = mem.queue.passes()
	mem.accounts.Image(&f)
	mem.trust.Image(&f)
	mem.lives.Image(&f)
	for p := range mem.peers.all() {
		switch {
		case p.member:
			f.Sites = append(f.Sites, p.name)
		case p.went:
			f.Left = append(f.Left, facts.LeftSite{Site: p.name, Since: p.left})
		}
		if p.lost != nil {
			f.Lost = append(f.Lost, facts.LostSite(*p.lost))
		}
	}
	return f
}

// listed adds items from..to-1 to an image, counted over all jobs and then all
// transactions.
func (mem *memory) listed(f *facts.BrokerImage, from, to int) {
	for i := from; i < to; i++ {
		if i < len(mem.jobs) {
			f.Jobs = append(f.Jobs, mem.jobs[i].image())
		} else {
			f.Txs = append(f.Txs, mem.txs.all()[i-len(mem.jobs)].image(mem.cfg.Explain > 0))
		}
	}
}

func (j *job) image() facts.JobMemory {
	m := facts.JobMemory{Job: j.whole(), State: j.state, Fresh: j.fresh, Stub: j.stub, Reason: j.reason, Since: j.since, Ended: j.ended}
	if j.asked != nil && !same(j.asked, &m.Job) {
		m.Asked = *j.asked
	}
	if j.last != nil {
		m.Last = j.last.id
	}
	m.Offers = slices.Clone(j.asks())
	return m
}

func (t *transaction) image(started bool) facts.TxMemory {
	m := facts.TxMemory{State: t.state, GivenUp: t.givenUp, Detached: t.apart, Reason: t.reason}
	m.TxBegun = facts.TxBegun{Tx: t.id, Job: t.job.Name, Alternative: t.number, Sites: t.sites,
		Repairs: t.repairs, Spare: t.spare, Flex: t.flex, Offer: t.offer}
	if t.request != nil {
		m.TxBegun.Request = *t.request
	}
	if m.State == grid.TxPreparing {
		m.State = grid.TxHolding // Preparing is not on record
	}
	for i := range t.legs {
		l := &t.legs[i]
		x := l.onNodes()
		m.Legs, m.Limits = append(m.Legs, l.what), append(m.Limits, l.limit)
		if l.replaces() != (grid.LegID{}) {
			m.Replaces = append(m.Replaces, make([]grid.LegID, i+1-len(m.Replaces))...)
			m.Replaces[i] = l.replaces()
		}
		m.Memory = append(m.Memory, facts.LegRecord{State: l.recorded(started), Fare: l.fare, End: l.end, Back: l.back, Version: l.version,
			Priced: l.priced, Charged: l.charged, Closed: l.closed, Mended: l.mended, Moved: l.moved, InFull: l.inFull, Undone: l.undone, Shifts: l.shifts, Proof: l.proof,
			Claim: l.claim, Settled: l.given && !l.claim, Borne: l.borne,
			Names: x.names, Meeting: x.meeting, Token: x.token, Result: x.result})
	}
	return m
}

// recorded is the state of a leg as far as the facts tell. started says whether the
// facts tell that a leg has started.
func (l *txLeg) recorded(started bool) grid.LegState {
	switch {
	case l.state == grid.Prepared:
		return grid.Held
	case l.state == grid.Running && !started:
		return grid.Confirmed
	case l.state == grid.Refused, l.state == grid.Cancelled && !l.closed:
		if l.priced {
			return grid.Held
		}
		return grid.Asked
	}
	return l.state
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
		mem.loadTx(m)
	}
	if f.Part+1 < f.Parts {
		return
	}
	for i, j := range mem.jobs {
		j.last = mem.txs.get(mem.lasts[i])
	}
	mem.txs.replaceAll()
	mem.queue.served(mem.lines)
	mem.lasts, mem.lines = nil, nil
	for _, j := range mem.jobs {
		mem.link(j)
		_, ok := j.follows()
		j.held = !ok
	}
	mem.stale = true
}

// loadCommon loads what an image has besides jobs and transactions.
func (mem *memory) loadCommon(f facts.BrokerImage) {
	mem.lives.Load(&f)
	mem.txs.load(f.Seq)
	mem.cycles = f.Cycles
	for _, s := range f.Sites {
		mem.peers.ensure(mem.now, siteID(s)).member = true
	}
	for _, x := range f.Lost {
		lost := loss(x)
		mem.peers.ensure(mem.now, siteID(x.Site)).lost = &lost
	}
	for _, x := range f.Left {
		p := mem.peers.ensure(mem.now, siteID(x.Site))
		p.went, p.left = true, x.Since
	}
	for _, x := range f.Dealt {
		mem.peers.ensure(mem.now, siteID(x.Site)).deals(x.Incarnation)
	}
	for _, x := range f.Trust {
		mem.peers.ensure(mem.now, siteID(x.Site))
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
	mem.works += j.Work.Size()
	mem.become(j, m.State)
	if !m.Fresh {
		mem.queue.look(j)
	}
	j.since, j.ended = m.Since, m.Ended
	if len(m.Offers) > 0 {
		j.own().offers = &offers{slices.Clone(m.Offers)}
	}
}

func (mem *memory) loadTx(m facts.TxMemory) {
	t := begun(m.TxBegun, mem.names[m.Job], &mem.texts)
	t.state, t.givenUp, t.apart = m.State, m.GivenUp, m.Detached
	t.because(m.Reason)
	mem.txs.keep(t)
	for i, r := range m.Memory {
		l := &t.legs[i]
		l.state, l.fare, l.end, l.version = r.State, r.Fare, r.End, r.Version
		l.priced, l.charged, l.closed, l.mended, l.moved = r.Priced, r.Charged, r.Closed, r.Mended, r.Moved
		l.inFull, l.undone, l.proof = r.InFull, r.Undone, r.Proof
		l.claim, l.given = r.Claim, r.Claim || r.Settled
		if r.Shifts > 0 || r.Back != 0 || r.Borne != 0 {
			own := l.own()
			own.shifts, own.back, own.borne = r.Shifts, r.Back, r.Borne
		}
		l.know(realLeg{r.Names, r.Meeting, r.Token, r.Result})
		if t.sites[i] == "" {
			continue
		}
		if p := mem.peers.ensure(mem.now, t.site(i)); mem.lives.Presumes(t.id) { // images of earlier versions do not say it elsewhere
			p.deals(t.id.Incarnation)
		}
		if !l.closed && t.state != grid.TxAborted {
			amount := l.limit
			if l.priced {
				amount = l.fare.Total()
			}
			mem.accounts.Reserve(t.leg(i), t.job.User, t.sites[i], amount)
		}
	}
	if t.state == grid.TxCommitted && !t.apart {
		t.job.txs = append(t.job.txs, t)
	}
	if mem.uncounted {
		mem.tenancy.Count(t, tenancy.EveryLeg, 1)
	}
}
