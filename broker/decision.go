package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// commit decides for all legs.
func (b *Broker) commit(now bourse.Time, t *transaction, out *agents.Outbox) {
	b.record(bourse.TxDecided{Tx: t.id, Job: t.job.Name, Commit: true}, out)
	b.tell(now, t, firstRepeat, out)
	b.attend(now, t, out)
	if c := &b.cycle; c.try == t {
		c.try = nil
		c.cost += t.price()
		c.time += t.time()
		c.entries[c.turn].over = true
		b.proceed(now, out)
		return
	}
	b.errandDecided(now, t, out)
}

// abort decides for no leg, and goes on with the next that may serve the job.
func (b *Broker) abort(now bourse.Time, t *transaction, r bourse.Reason, out *agents.Outbox) {
	b.record(bourse.TxDecided{Tx: t.id, Job: t.job.Name, Reason: r}, out)
	b.tell(now, t, firstRepeat, out)
	if b.cycle.try == t {
		b.cycle.try = nil
		b.refusedTry(now, r, out)
		return
	}
	b.offerFailed(now, t, out)
	b.errandDecided(now, t, out)
}

// refusedTry goes on with the cycle after a try that came to nothing. CAP means:
// the same alternative later.
func (b *Broker) refusedTry(now bourse.Time, r bourse.Reason, out *agents.Outbox) {
	c := &b.cycle
	e := &c.entries[c.turn]
	e.why = r
	if r.Code != bourse.Cap || b.cfg.Lead == 0 || e.over {
		b.proceed(now, out)
		return
	}
	e.tried = slices.DeleteFunc(e.tried, func(n int) bool { return n == e.last })
	out.Alarm(now.Add(capWait), capDue{c.number, c.turn, e.tries})
}

// capWait is how long a broker waits before it asks for the same again where it
// holds too much unconfirmed.
const capWait = 2 * bourse.Second

func (b *Broker) capDue(now bourse.Time, m capDue, out *agents.Outbox) {
	c := &b.cycle
	if c.phase == committing && c.try == nil && c.number == m.Cycle && c.turn == m.Turn && c.entries[c.turn].tries == m.Tries {
		b.proceed(now, out)
	}
}

// The first wait for an answer; it doubles up to the last.
const (
	firstRepeat = 500 * bourse.Millisecond
	lastRepeat  = 5 * bourse.Second
)

// tell sends what a transaction's sites have not answered: the decision to those
// that have not acknowledged it, Release of what is given up. Rows B21, B26,
// B27, B31. A site that has not listed its legs to this life is not spoken to.
func (b *Broker) tell(now bourse.Time, t *transaction, wait bourse.Duration, out *agents.Outbox) {
	for i := range t.legs {
		l := &t.legs[i]
		p := b.peers.get(t.site(i))
		if p == nil || !p.listed || p.asserts(t.leg(i)) {
			continue
		}
		switch {
		case t.state == bourse.TxCommitted && l.state <= bourse.Prepared:
			out.Send(p.id, agents.Confirm{Leg: t.leg(i), DecidedBy: b.lives.current().Incarnation})
		case l.returns:
			b.tellReturned(p, t, i, out)
		case t.state == bourse.TxCommitted && t.releases(l):
			out.Send(p.id, agents.Release{Leg: t.leg(i), DecidedBy: b.lives.current().Incarnation, Full: t.givenUp == bourse.GivenUpAsBroken})
		case t.state != bourse.TxAborted || l.state > bourse.Prepared:
		case i < t.sent:
			out.Send(p.id, agents.Cancel{Leg: t.leg(i), DecidedBy: b.lives.current().Incarnation})
		default: // never asked
			l.state = bourse.Cancelled
		}
	}
	if !t.atRest() {
		b.repeatLater(now, t, wait, out)
	}
}

// repeatLater begins a chain of repeats, in place of the one before.
func (b *Broker) repeatLater(now bourse.Time, t *transaction, wait bourse.Duration, out *agents.Outbox) {
	t.chain++
	out.Alarm(now.Add(wait), repeatDue{t.id, wait, t.chain})
}

// repeatDue says again what was not answered.
func (b *Broker) repeatDue(now bourse.Time, m repeatDue, out *agents.Outbox) {
	t := b.txs.get(m.Tx)
	if t == nil || t.chain != m.Chain || !t.resolved || plant.On("no-broker-repeat") {
		return
	}
	wait := min(2*m.Wait, lastRepeat)
	switch {
	case t.state.Decided():
		if !t.atRest() {
			b.tell(now, t, wait, out)
		}
		return
	case b.late(now, t): // its alarm is on the way
		return
	}
	for i := range min(t.sent, len(t.legs)) {
		switch s := t.legs[i].state; {
		case t.state == bourse.TxHolding && s == bourse.Asked:
			b.sendHold(now, t, i, out)
		case t.state == bourse.TxPreparing && s == bourse.Held:
			b.sendPrepare(now, t, i, out)
		}
	}
	b.repeatLater(now, t, wait, out)
}
