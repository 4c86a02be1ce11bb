package broker

import (
	"fmt"

	"bourse"
	"bourse/agents"
)

// A transaction is one try to commit a window, all legs or none:
//
//	state      event                                   then          told to the sites
//	holding    every leg Held, within what is left
//	             one leg                               committed     Confirm
//	             several                               preparing     Prepare to all
//	           a leg Refused, or Held above its limit  aborted       Cancel
//	           the sum passes the job's budget         aborted       Cancel
//	           no answer in time                       aborted       Cancel
//	preparing  every leg Prepared                      committed     Confirm to all
//	           a leg Refused, no answer in time        aborted       Cancel
//	committed  Confirmed of a leg                      its price is posted
//	           Confirm of a leg Refused                its price is void
//	           not acknowledged                        Confirm again
//	aborted    Cancelled of a leg                      noted
//	           not acknowledged                        Cancel again
//
// The transaction is recorded before its first Hold and the decision before
// anyone is told of it. There is no Cancel after COMMIT. The first try of a job
// asks all its legs at once; later ones go leg by leg in the canonical order of
// sites, so that two brokers cannot hold crosswise for ever. Within a cycle
// jobs come one after the other, in serving order: each binds its price before
// the next one's limits are reckoned, so who is served first has the first claim
// on what B* and the accounts leave.
type transaction struct {
	id     bourse.TxID
	job    *job
	state  txState
	sites  []string // leg by leg
	legs   []txLeg
	number int // of the alternative
	reason bourse.Reason

	// For this life only.
	run  []bourse.Duration // what the work really takes, leg by leg
	sent int               // legs asked so far
	turn bool              // one leg after the other
}

// txState is the state of a transaction.
type txState uint8

const (
	holding txState = iota
	preparing
	committed
	aborted
)

// txLeg is one leg as the broker knows it: Asked, Held, Prepared, Confirmed,
// Settled, or one of the exits Refused, Cancelled and Lost.
type txLeg struct {
	what  bourse.Leg
	limit bourse.Credits
	fare  bourse.Fare
	state bourse.LegState
	end   bourse.Time // Settled: of the work
}

func (t *transaction) leg(i int) bourse.LegID { return bourse.LegID{Tx: t.id, Leg: i} }

// all reports whether every leg is in state s.
func (t *transaction) all(s bourse.LegState) bool {
	for i := range t.legs {
		if t.legs[i].state != s {
			return false
		}
	}
	return true
}

// atRest reports whether the decision is acknowledged for every leg that has
// heard of the transaction.
func (t *transaction) atRest() bool {
	if t.state < committed {
		return false
	}
	for i := range t.legs {
		if t.legs[i].state <= bourse.Prepared {
			return false
		}
	}
	return true
}

// price is the sum of the bound prices.
func (t *transaction) price() bourse.Credits {
	var sum bourse.Credits
	for i := range t.legs {
		sum = sum.Plus(t.legs[i].fare.Total())
	}
	return sum
}

// find returns the transaction and the leg that a site speaks of, nil if it is
// none of this broker's life, or not that site's.
func (b *Broker) find(from agents.ID, id bourse.LegID) (*transaction, *txLeg) {
	if id.Tx.Seq == 0 || id.Tx.Seq > uint64(len(b.txs)) {
		return nil, nil
	}
	t := b.txs[id.Tx.Seq-1]
	if t.id != id.Tx || id.Leg < 0 || id.Leg >= len(t.legs) || t.site(id.Leg) != from {
		return nil, nil
	}
	return t, &t.legs[id.Leg]
}

// site is the address of the site that carries leg i.
func (t *transaction) site(i int) agents.ID { return agents.ID(sitePrefix + t.sites[i]) }

// begin records a try of an alternative and asks its sites to hold it.
func (b *Broker) begin(now bourse.Time, p *plan, a *alternative, out *agents.Outbox) {
	p.tries++
	a.tried = true
	f := bourse.TxBegun{
		Tx:  bourse.TxID{Broker: b.cfg.Name, Incarnation: b.cfg.Incarnation, Nonce: b.cfg.Nonce, Seq: uint64(len(b.txs)) + 1},
		Job: p.job.Name, Alternative: a.number,
		Sites: make([]string, len(a.legs)), Legs: make([]bourse.Leg, len(a.legs)),
		Limits: b.limits(p, a),
	}
	for i := range a.legs {
		f.Sites[i], f.Legs[i] = siteName(b.sites[a.legs[i].site]), a.legs[i].what
	}
	b.record(f, out)
	t := p.job.last
	t.turn = p.tries > 1
	if p.job.Run > 0 {
		t.run = make([]bourse.Duration, len(a.legs))
		for i := range a.legs {
			t.run[i] = b.cycle.market.groups[a.legs[i].group].Performance.Runtime(p.job.Run)
		}
	}
	out.Alarm(now.Add(patience(b.within(now, t, b.cfg.Hold))), tryDue{t.id.Seq, holding})
	b.hold(now, t, out)
	for !t.turn && t.sent < len(t.legs) {
		b.hold(now, t, out)
	}
}

// within cuts a lock's limit so that it ends before the start. Without a lead
// there is no latency, and the whole exchange ends within the instant.
func (b *Broker) within(now bourse.Time, t *transaction, limit bourse.Duration) bourse.Duration {
	if b.cfg.Lead == 0 {
		return limit
	}
	return max(0, min(limit, t.legs[0].what.Start.Sub(now)))
}

// hold asks for the next leg.
func (b *Broker) hold(now bourse.Time, t *transaction, out *agents.Outbox) {
	i := t.sent
	t.sent++
	m := agents.Hold{Leg: t.leg(i), What: t.legs[i].what, Job: t.job.Name, User: t.job.User,
		Limit: t.legs[i].limit, For: b.within(now, t, b.cfg.Hold)}
	if t.run != nil {
		m.Run = t.run[i]
	}
	out.Send(t.site(i), m)
}

// held takes the price that binds.
func (b *Broker) held(now bourse.Time, from agents.ID, m agents.HeldReply, out *agents.Outbox) {
	t, l := b.find(from, m.Leg)
	if t == nil || t.state != holding || l.state != bourse.Asked || m.Leg.Leg >= t.sent {
		return
	}
	if !soundFare(m.Fare) || m.Fare.Total() > l.limit {
		b.abort(now, t, reason(bourse.TooDear, "%s holds it at %v credits, above the limit %v", t.sites[m.Leg.Leg], m.Fare.Total(), l.limit), out)
		return
	}
	b.record(bourse.LegPriced{Leg: m.Leg, Fare: m.Fare}, out)
	if t.sent < len(t.legs) {
		if t.turn {
			b.hold(now, t, out)
		}
		return
	}
	if !t.all(bourse.Held) {
		return
	}
	// Each leg is within its limit, but the limits together pass the job's budget:
	// see Broker.limits. B* and the accounts they do not pass.
	if sum := t.price(); sum > t.job.Budget {
		b.abort(now, t, reason(bourse.OverBudget, "its legs were held at %v credits, the budget is %v", sum, t.job.Budget), out)
		return
	}
	if len(t.legs) == 1 {
		b.commit(now, t, out)
		return
	}
	t.state = preparing
	limit := b.within(now, t, b.cfg.InDoubt)
	out.Alarm(now.Add(patience(limit)), tryDue{t.id.Seq, preparing})
	for i := range t.legs {
		out.Send(t.site(i), agents.Prepare{Leg: t.leg(i), For: limit})
	}
}

// prepared notes that a leg can no longer be refused.
func (b *Broker) prepared(now bourse.Time, from agents.ID, m agents.PreparedReply, out *agents.Outbox) {
	t, l := b.find(from, m.Leg)
	if t == nil || t.state != preparing || l.state != bourse.Held {
		return
	}
	if l.state = bourse.Prepared; t.all(bourse.Prepared) {
		b.commit(now, t, out)
	}
}

// refused ends a try that a site has refused a step of.
func (b *Broker) refused(now bourse.Time, from agents.ID, m agents.RefusedReply, out *agents.Outbox) {
	t, l := b.find(from, m.Leg)
	switch {
	case t == nil:
	case t.state == committed && l.state <= bourse.Prepared:
		// The hold had run out when Confirm came: its money is free again. A
		// single leg is tried anew as a job that waits; of several legs, repair
		// is not done here.
		b.record(bourse.LegClosed{Leg: m.Leg}, out)
	case t.state == holding && l.state == bourse.Asked, t.state == preparing && l.state == bourse.Held:
		if l.state == bourse.Asked {
			l.state = bourse.Refused
		}
		r := m.Reason
		r.Detail = fmt.Sprintf("%s: %v", t.sites[m.Leg.Leg], m.Reason)
		b.abort(now, t, r, out)
	}
}

// commit decides for all legs.
func (b *Broker) commit(now bourse.Time, t *transaction, out *agents.Outbox) {
	b.record(bourse.TxDecided{Tx: t.id, Job: t.job.Name, Commit: true}, out)
	b.tell(now, t, firstRepeat, out)
	c := &b.cycle
	c.cost += t.price()
	c.time += t.time()
	c.plans[c.turn].over = true
	b.proceed(now, out)
}

// time is the length of the longest leg.
func (t *transaction) time() bourse.Duration {
	var d bourse.Duration
	for i := range t.legs {
		d = max(d, t.legs[i].what.Duration())
	}
	return d
}

// abort decides for no leg, and goes on with the job's next alternative.
func (b *Broker) abort(now bourse.Time, t *transaction, r bourse.Reason, out *agents.Outbox) {
	b.record(bourse.TxDecided{Tx: t.id, Job: t.job.Name, Reason: r}, out)
	b.tell(now, t, firstRepeat, out)
	b.cycle.plans[b.cycle.turn].why = r
	b.proceed(now, out)
}

// tryDue gives up a try that still waits in the state it was armed for.
func (b *Broker) tryDue(now bourse.Time, m tryDue, out *agents.Outbox) {
	t := b.txs[m.Seq-1]
	if t.state != m.State {
		return
	}
	for i := range t.legs {
		if s := t.legs[i].state; s == bourse.Asked || t.state == preparing && s == bourse.Held {
			b.abort(now, t, reason(bourse.NoOffer, "%s did not answer in time", t.sites[i]), out)
			return
		}
	}
}

// The first wait for an acknowledgement; it doubles up to the last.
const (
	firstRepeat = 500 * bourse.Millisecond
	lastRepeat  = 5 * bourse.Second
)

// tell sends the decision to the sites that have not acknowledged it.
func (b *Broker) tell(now bourse.Time, t *transaction, wait bourse.Duration, out *agents.Outbox) {
	for i := range t.legs {
		switch {
		case t.legs[i].state > bourse.Prepared:
		case t.state == committed:
			out.Send(t.site(i), agents.Confirm{Leg: t.leg(i), DecidedBy: b.cfg.Incarnation})
		case i < t.sent:
			out.Send(t.site(i), agents.Cancel{Leg: t.leg(i), DecidedBy: b.cfg.Incarnation})
		default: // never asked
			t.legs[i].state = bourse.Cancelled
		}
	}
	if !t.atRest() {
		out.Alarm(now.Add(wait), repeatDue{t.id.Seq, wait})
	}
}

// repeatDue sends a decision again.
func (b *Broker) repeatDue(now bourse.Time, m repeatDue, out *agents.Outbox) {
	if t := b.txs[m.Seq-1]; !t.atRest() {
		b.tell(now, t, min(2*m.Wait, lastRepeat), out)
	}
}

// closed notes that a site has acknowledged the decision.
func (b *Broker) closed(from agents.ID, id bourse.LegID, commit bool, out *agents.Outbox) {
	t, l := b.find(from, id)
	if t == nil || t.state != decided(commit) || l.state > bourse.Prepared {
		return
	}
	f := bourse.LegClosed{Leg: id, Commit: commit}
	if commit {
		f.Posted = l.fare.Total()
	}
	b.record(f, out)
}

func decided(commit bool) txState {
	if commit {
		return committed
	}
	return aborted
}

// settled notes that a leg's work has ended, and books what its site gives back.
// More than was bound is never paid.
func (b *Broker) settled(from agents.ID, m agents.SettledNotice, out *agents.Outbox) {
	t, l := b.find(from, m.Leg)
	if t == nil || t.state != committed || l.state.Terminal() {
		return
	}
	if l.state != bourse.Confirmed { // what has run was confirmed
		b.closed(from, m.Leg, true, out)
	}
	back := l.fare.Total() - min(max(m.Charged, 0), l.fare.Total())
	b.record(bourse.LegDone{Leg: m.Leg, End: m.End, Refund: back}, out)
}
