package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
)

// Image returns all that the broker keeps as one fact.
func (b *Broker) Image() agents.Fact {
	f := bourse.BrokerImage{Fenced: b.fenced, Seq: b.seq, Cycles: b.cycles, Lives: slices.Clone(b.lives), Accounts: b.ledger.Accounts()}
	for _, id := range b.known {
		if b.peers[id].member {
			f.Sites = append(f.Sites, siteName(id))
		}
	}
	for _, j := range b.jobs {
		m := bourse.JobMemory{Job: j.Job, State: uint8(j.state), Fresh: j.fresh, Stub: j.stub, Reason: j.reason, Since: j.since, Ended: j.ended}
		if !same(j.submitted(), &j.Job) {
			m.Asked = *j.asked
		}
		if j.last != nil {
			m.Last = j.last.id
		}
		f.Jobs = append(f.Jobs, m)
	}
	for _, t := range b.order {
		f.Txs = append(f.Txs, t.image(b.cfg.Explain > 0))
	}
	for user := range b.returned {
		f.Returned = append(f.Returned, bourse.UserReturned{User: user, Credits: b.returned[user]})
	}
	slices.SortFunc(f.Returned, func(x, y bourse.UserReturned) int {
		if x.User < y.User {
			return -1
		}
		return 1
	})
	return f
}

func (t *transaction) image(started bool) bourse.TxMemory {
	m := bourse.TxMemory{State: uint8(t.state), GivenUp: uint8(t.givenUp), Detached: t.apart, Reason: t.reason}
	m.TxBegun = bourse.TxBegun{Tx: t.id, Job: t.job.Name, Alternative: t.number, Sites: t.sites,
		Repairs: t.repairs, Spare: t.spare, Flex: t.flex}
	if t.request != nil {
		m.TxBegun.Request = *t.request
	}
	if m.State == uint8(preparing) {
		m.State = uint8(holding) // of this life only
	}
	for i := range t.legs {
		l := &t.legs[i]
		m.Legs, m.Limits = append(m.Legs, l.what), append(m.Limits, l.limit)
		if l.replaces != (bourse.LegID{}) {
			m.Replaces = append(m.Replaces, make([]bourse.LegID, i+1-len(m.Replaces))...)
			m.Replaces[i] = l.replaces
		}
		m.Memory = append(m.Memory, bourse.LegRecord{State: l.recorded(started), Fare: l.fare, End: l.end, Back: l.back, Version: l.version,
			Priced: l.priced, Charged: l.charged, Closed: l.closed, Mended: l.mended, Moved: l.moved, Turn: l.turn})
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

// load begins with an image.
func (b *Broker) load(f bourse.BrokerImage) {
	b.reset()
	b.fenced, b.seq, b.cycles, b.lives = f.Fenced, f.Seq, f.Cycles, slices.Clone(f.Lives)
	for _, s := range f.Sites {
		b.meet(siteID(s)).member = true
	}
	b.ledger.Load(f.Accounts)
	for _, x := range f.Returned {
		b.returned[x.User] = x.Credits
	}
	for _, m := range f.Jobs {
		j := &job{Job: m.Job, state: Abandoned, stub: m.Stub, reason: m.Reason}
		if m.Asked.Name != "" {
			j.asked = &m.Asked
		}
		b.jobs = append(b.jobs, j)
		b.names[j.Name] = j
		b.become(j, JobState(m.State))
		if !m.Fresh {
			b.queue.look(j)
		}
		j.since, j.ended = m.Since, m.Ended
	}
	for _, m := range f.Txs {
		b.loadTx(m)
	}
	for _, m := range f.Jobs {
		b.names[m.Job.Name].last = b.txs[m.Last]
	}
	for _, j := range b.jobs {
		b.link(j)
		_, ok := j.follows()
		j.held = !ok
	}
	b.stale = true
}

func (b *Broker) loadTx(m bourse.TxMemory) {
	t := begun(m.TxBegun, b.names[m.Job])
	t.state, t.givenUp, t.apart, t.reason = txState(m.State), givenUp(m.GivenUp), m.Detached, m.Reason
	b.keepTx(t)
	for i, r := range m.Memory {
		l := &t.legs[i]
		l.state, l.fare, l.end, l.back, l.version = r.State, r.Fare, r.End, r.Back, r.Version
		l.priced, l.charged, l.closed, l.mended, l.moved = r.Priced, r.Charged, r.Closed, r.Mended, r.Moved
		l.turn = r.Turn
		if t.sites[i] == "" {
			continue
		}
		b.meet(t.site(i))
		if t.open() || t.state == committed && !l.closed {
			amount := l.limit
			if l.priced {
				amount = l.fare.Total()
			}
			b.reserve(t.leg(i), t.job.User, t.sites[i], amount)
		}
	}
	if t.state == committed && !t.apart {
		t.job.txs = append(t.job.txs, t)
	}
}
