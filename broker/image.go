package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
)

// maxPart is how many jobs and transactions one part of an image has at most:
// some 300 kB of a journal.
const maxPart = 1000

// Image returns all that the broker keeps as one fact.
func (b *Broker) Image() agents.Fact {
	f := b.common()
	b.listed(&f, 0, len(b.jobs)+len(b.txs.all()))
	return f
}

// Parts is how many facts the image takes, of a thousand jobs and transactions
// each.
func (b *Broker) Parts() int {
	return max((len(b.jobs)+len(b.txs.all())+b.part-1)/b.part, 1)
}

// Part returns the i-th of them.
func (b *Broker) Part(i int) agents.Fact {
	var f bourse.BrokerImage
	if i == 0 {
		f = b.common()
	}
	if n := b.Parts(); n > 1 {
		f.Part, f.Parts = i, n
	}
	b.listed(&f, i*b.part, min((i+1)*b.part, len(b.jobs)+len(b.txs.all())))
	return f
}

// common is what an image has beside jobs and transactions.
func (b *Broker) common() bourse.BrokerImage {
	f := bourse.BrokerImage{Seq: b.txs.begun(), Cycles: b.cycles, Accounts: b.accounts.Ledger().Accounts(), Turns: b.queue.order(), Barred: b.bars.all(),
		Returned: b.accounts.Returned()}
	b.lives.image(&f)
	for p := range b.peers.all() {
		switch {
		case p.member:
			f.Sites = append(f.Sites, p.name)
		case p.went:
			f.Left = append(f.Left, bourse.LeftSite{Site: p.name, Since: p.left})
		}
		if p.lost != nil {
			f.Lost = append(f.Lost, bourse.LostSite(*p.lost))
		}
	}
	return f
}

// listed adds to an image those from place from to place to of the list of all
// jobs and, after them, all transactions.
func (b *Broker) listed(f *bourse.BrokerImage, from, to int) {
	for i := from; i < to; i++ {
		if i < len(b.jobs) {
			f.Jobs = append(f.Jobs, b.jobs[i].image())
		} else {
			f.Txs = append(f.Txs, b.txs.all()[i-len(b.jobs)].image(b.cfg.Explain > 0))
		}
	}
}

func (j *job) image() bourse.JobMemory {
	m := bourse.JobMemory{Job: j.Job, State: j.state, Fresh: j.fresh, Stub: j.stub, Reason: j.reason, Since: j.since, Ended: j.ended}
	if !same(j.submitted(), &j.Job) {
		m.Asked = *j.asked
	}
	if j.last != nil {
		m.Last = j.last.id
	}
	m.Offers = slices.Clone(j.asks())
	return m
}

func (t *transaction) image(started bool) bourse.TxMemory {
	m := bourse.TxMemory{State: t.state, GivenUp: t.givenUp, Detached: t.apart, Reason: t.reason}
	m.TxBegun = bourse.TxBegun{Tx: t.id, Job: t.job.Name, Alternative: t.number, Sites: t.sites,
		Repairs: t.repairs, Spare: t.spare, Flex: t.flex, Offer: t.offer}
	if t.request != nil {
		m.TxBegun.Request = *t.request
	}
	if m.State == bourse.TxPreparing {
		m.State = bourse.TxHolding // of this life only
	}
	for i := range t.legs {
		l := &t.legs[i]
		m.Legs, m.Limits = append(m.Legs, l.what), append(m.Limits, l.limit)
		if l.replaces != (bourse.LegID{}) {
			m.Replaces = append(m.Replaces, make([]bourse.LegID, i+1-len(m.Replaces))...)
			m.Replaces[i] = l.replaces
		}
		m.Memory = append(m.Memory, bourse.LegRecord{State: l.recorded(started), Fare: l.fare, End: l.end, Back: l.back, Version: l.version,
			Priced: l.priced, Charged: l.charged, Closed: l.closed, Mended: l.mended, Moved: l.moved, Undone: l.undone, Turn: l.turn, Proof: l.proof,
			Claim: l.claim, Settled: l.given && !l.claim, Borne: l.borne})
	}
	return m
}

// recorded is the state of a leg as far as facts tell it: that it has started
// they do where that is recorded.
func (l *txLeg) recorded(started bool) bourse.LegState {
	switch {
	case l.state == bourse.Prepared:
		return bourse.Held
	case l.state == bourse.Running && !started:
		return bourse.Confirmed
	case l.state == bourse.Refused, l.state == bourse.Cancelled && !l.closed:
		if l.priced {
			return bourse.Held
		}
		return bourse.Asked
	}
	return l.state
}

// load begins with an image, or goes on with another part of it.
func (b *Broker) load(f bourse.BrokerImage) {
	if f.Part == 0 {
		b.reset()
		b.loadCommon(f)
	}
	for i := range f.Jobs {
		b.loadJob(&f.Jobs[i])
	}
	for _, m := range f.Txs {
		b.loadTx(m)
	}
	if f.Part+1 < f.Parts {
		return
	}
	for i, j := range b.jobs {
		j.last = b.txs.get(b.lasts[i])
	}
	b.queue.turned(b.turns)
	b.lasts, b.turns = nil, nil
	for _, j := range b.jobs {
		b.link(j)
		_, ok := j.follows()
		j.held = !ok
	}
	b.stale = true
}

// loadCommon takes what an image has beside jobs and transactions.
func (b *Broker) loadCommon(f bourse.BrokerImage) {
	b.lives.load(&f)
	b.txs.load(f.Seq)
	b.cycles = f.Cycles
	for _, s := range f.Sites {
		b.peers.meet(b.now, siteID(s)).member = true
	}
	for _, x := range f.Lost {
		lost := loss(x)
		b.peers.meet(b.now, siteID(x.Site)).lost = &lost
	}
	for _, x := range f.Left {
		p := b.peers.meet(b.now, siteID(x.Site))
		p.went, p.left = true, x.Since
	}
	b.accounts.Load(f.Accounts, f.Returned)
	b.turns = f.Turns
	b.bars.load(f.Barred)
}

func (b *Broker) loadJob(m *bourse.JobMemory) {
	j := &job{Job: m.Job, state: bourse.JobAbandoned, stub: m.Stub, reason: m.Reason}
	if m.Asked.Name != "" {
		asked := m.Asked
		j.asked = &asked
	}
	b.jobs, b.lasts = append(b.jobs, j), append(b.lasts, m.Last)
	b.names[j.Name] = j
	b.become(j, m.State)
	if !m.Fresh {
		b.queue.look(j)
	}
	j.since, j.ended = m.Since, m.Ended
	if len(m.Offers) > 0 {
		j.offers = &offers{slices.Clone(m.Offers)}
	}
}

func (b *Broker) loadTx(m bourse.TxMemory) {
	t := begun(m.TxBegun, b.names[m.Job])
	t.state, t.givenUp, t.apart, t.reason = m.State, m.GivenUp, m.Detached, m.Reason
	b.txs.keep(t)
	for i, r := range m.Memory {
		l := &t.legs[i]
		l.state, l.fare, l.end, l.back, l.version = r.State, r.Fare, r.End, r.Back, r.Version
		l.priced, l.charged, l.closed, l.mended, l.moved = r.Priced, r.Charged, r.Closed, r.Mended, r.Moved
		l.turn, l.undone, l.proof = r.Turn, r.Undone, r.Proof
		l.claim, l.given, l.borne = r.Claim, r.Claim || r.Settled, r.Borne
		if t.sites[i] == "" {
			continue
		}
		b.peers.meet(b.now, t.site(i))
		if !l.closed && t.state != bourse.TxAborted {
			amount := l.limit
			if l.priced {
				amount = l.fare.Total()
			}
			b.accounts.Reserve(t.leg(i), t.job.User, t.sites[i], amount)
		}
	}
	if t.state == bourse.TxCommitted && !t.apart {
		t.job.txs = append(t.job.txs, t)
	}
}
