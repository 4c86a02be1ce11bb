package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// NewTx is the record that begins a transaction.
func (co *Coordinator) NewTx(job string, legs int) facts.TxBegun {
	return facts.TxBegun{
		Tx:    grid.TxID{Broker: co.cfg.Name, Incarnation: co.lives.Current().Incarnation, Nonce: co.lives.Current().Nonce, Seq: co.txs.next()},
		Job:   job,
		Sites: make([]string, 0, legs), Legs: make([]grid.Leg, 0, legs),
	}
}

// Open records a transaction and sends its Holds: all of them at once, or if serial
// only the first.
func (co *Coordinator) Open(now grid.Time, f facts.TxBegun, run []grid.Duration, serial bool, out *agents.Outbox) *Tx {
	co.record(f, out)
	out.Row("B1")
	if f.Replaces != nil {
		out.Row("B28")
	}
	if co.peers.Listening() {
		out.Row("B64")
	}
	t := co.txs.Get(f.Tx)
	t.serial, t.resolved, t.sent = serial, true, 0
	if run != nil {
		t.own().run = run
	}
	co.patient(now, t, co.cfg.within(now, t, co.cfg.Hold), out)
	co.hold(now, t, out)
	for !t.serial && t.sent < len(t.legs) {
		co.hold(now, t, out)
	}
	if co.cfg.Lead > 0 {
		co.sayLater(now, t.steps(), FirstRepeat, out)
	}
	return t
}

// patient sets, counting from now, how long to wait for answers whose locks last for
// limit.
func (co *Coordinator) patient(now grid.Time, t *Tx, limit grid.Duration, out *agents.Outbox) {
	t.until = now.Add(patience(limit))
	if !co.cfg.Lossless {
		out.Alarm(t.until, tryDue{t.id, t.state})
	}
}

// late reports whether it is too late to commit a transaction. Where messages take
// no time it never is: an exchange ends within its instant.
func (t *Tx) late(now grid.Time, lead grid.Duration) bool {
	return lead > 0 && now >= t.until
}

// within cuts a lock's limit so that the lock ends by the window's start. Without a
// lead there is no latency: the whole exchange ends within the instant, and nothing
// is cut.
func (c *Config) within(now grid.Time, t *Tx, limit grid.Duration) grid.Duration {
	if c.Lead == 0 {
		return limit
	}
	return max(0, min(limit, t.Start().Sub(now)))
}

// hold sends the Hold of the next leg.
func (co *Coordinator) hold(now grid.Time, t *Tx, out *agents.Outbox) {
	t.sent++
	co.sendHold(now, t, t.sent-1, out)
}

func (co *Coordinator) sendHold(now grid.Time, t *Tx, i int, out *agents.Outbox) {
	l := &t.legs[i]
	m := agents.Hold{Leg: t.LegID(i), What: l.what, Job: t.job.Name, User: t.job.User,
		Limit: l.limit, For: co.cfg.within(now, t, co.cfg.Hold), Flex: t.flex}
	if t.run != nil {
		m.Run = t.run[i]
	}
	if i < len(t.pilots) {
		m.Pilot = t.pilots[i]
	}
	if old := co.txs.Lookup(l.Replaces()); old != nil {
		m.Replaces, m.Version, m.Offer = l.Replaces(), old.version, t.offer
	}
	out.Send(t.Site(i), m)
}

// held takes a site's binding price for a leg. Rows B2 to B5, B32.
func (co *Coordinator) held(now grid.Time, t *Tx, l *Leg, m agents.Held, out *agents.Outbox) {
	if t.state != grid.TxHolding || l.state != grid.Asked || m.Leg.Leg >= t.sent {
		co.lateGrant(t, l, m.Leg, out)
		return
	}
	if t.late(now, co.cfg.Lead) {
		out.Row("B7")
		co.Abort(now, t, reason(grid.NoOffer, "%s answered too late", t.sites[m.Leg.Leg]), out)
		return
	}
	if !planning.SoundFare(m.Fare) || m.Fare.Total() > l.limit {
		out.Row("B5")
		out.Row("B144")
		co.record(brokenWord(t.sites[m.Leg.Leg], m.Leg, reason(grid.TooDear, "it holds a leg at %v credits, above the limit %v", m.Fare.Total(), l.limit)), out)
		co.Abort(now, t, reason(grid.TooDear, "%s holds it at %v credits, above the limit %v", t.sites[m.Leg.Leg], m.Fare.Total(), l.limit), out)
		return
	}
	if m.End > 0 {
		out.Row("B70")
	}
	if !t.placed(l, m) {
		out.Row("B144")
		co.record(brokenWord(t.sites[m.Leg.Leg], m.Leg, reason(grid.Invalid, "it has placed a leg over [%v, %v), which was not asked for", m.Start, m.End)), out)
		co.Abort(now, t, reason(grid.Invalid, "%s has placed it over [%v, %v), which was not asked for", t.sites[m.Leg.Leg], m.Start, m.End), out)
		return
	}
	co.record(co.pricing(t, l, m), out)
	if t.sent < len(t.legs) {
		if t.serial {
			out.Row("B2")
			co.hold(now, t, out)
		}
		return
	}
	if !t.all(grid.Held) {
		return
	}
	// Each leg is within its limit, but the limits may add up to more than the job's
	// budget: see scheduler.limits. They never exceed B* or the accounts.
	if sum, most := t.Price(), t.mostPaid(); sum > most {
		out.Row("B5")
		co.Abort(now, t, reason(grid.OverBudget, "its legs were held at %v credits, the budget is %v", sum, most), out)
		return
	}
	if len(t.legs) == 1 {
		co.commitIfWhole(now, t, out)
		return
	}
	t.state = grid.TxPreparing
	out.Row("B4")
	co.patient(now, t, co.cfg.within(now, t, co.cfg.InDoubt), out)
	for i := range t.legs {
		co.cfg.prepare(now, t, i, out)
	}
}

// pricing is the record of the price at which a site holds a leg, and of where it lies
// if the site has chosen.
func (s *State) pricing(t *Tx, l *Leg, m agents.Held) facts.LegPriced {
	f := facts.LegPriced{Leg: m.Leg, Fare: m.Fare}
	if m.Start != l.what.Start && m.End > 0 {
		f.Start, f.End = m.Start, m.End
	}
	if m.Version > 1 {
		f.Version = m.Version
	}
	works, meets := s.host.Runs(t.job)
	if works {
		f.Names = m.Nodes
	}
	if meets {
		f.Meeting, f.Token = m.Meeting, m.Token
	}
	return f
}

// prepare asks the site of leg i to prepare it.
func (c *Config) prepare(now grid.Time, t *Tx, i int, out *agents.Outbox) {
	out.Send(t.Site(i), agents.Prepare{Leg: t.LegID(i), For: c.within(now, t, c.InDoubt)})
}

// lateGrant answers a Held or Prepared for a leg that is no longer needed by
// cancelling it again. No money changes hands. Row B32.
func (co *Coordinator) lateGrant(t *Tx, l *Leg, id grid.LegID, out *agents.Outbox) {
	if t.state != grid.TxAborted || l.state > grid.Prepared && l.state != grid.Cancelled && l.state != grid.Refused {
		return
	}
	out.Row("B32")
	out.Send(t.Site(id.Leg), agents.Cancel{Leg: id, DecidedBy: co.lives.Current().Incarnation})
}

// prepared notes that a site can no longer refuse a leg. Rows B10, B11, B32.
func (co *Coordinator) prepared(now grid.Time, t *Tx, l *Leg, m agents.Prepared, out *agents.Outbox) {
	if t.state != grid.TxPreparing || l.state != grid.Held {
		co.lateGrant(t, l, m.Leg, out)
		return
	}
	if l.state = grid.Prepared; t.all(grid.Prepared) {
		co.commitIfWhole(now, t, out)
		return
	}
	out.Row("B10")
}

// commitIfWhole decides COMMIT if it is not too late and every site remembers its
// leg: one that is being reasserted may be gone (I15).
func (co *Coordinator) commitIfWhole(now grid.Time, t *Tx, out *agents.Outbox) {
	if t.late(now, co.cfg.Lead) {
		out.Row(t.pick("B7", "B13"))
		co.Abort(now, t, reason(grid.NoOffer, "the sites answered too late to be relied on"), out)
		return
	}
	for i := range t.legs {
		if p := co.peers.Get(t.Site(i)); p != nil && p.asserts(t.LegID(i)) {
			return // until it is reasserted
		}
	}
	out.Row(t.pick("B3", "B11"))
	co.commit(now, t, out)
}

// pick picks the row of an undecided transaction by what it waits for.
func (t *Tx) pick(holding, preparing agents.Row) agents.Row {
	if t.state == grid.TxHolding {
		return holding
	}
	return preparing
}

// refused ends a try after a site has refused a step. Rows B6, B12, B22, B44.
func (co *Coordinator) refused(now grid.Time, from agents.ID, t *Tx, l *Leg, m agents.Refused, out *agents.Outbox) {
	if m.Reason.Code == grid.Fenced {
		// Of a leg of another life its site may say so because it never sold that leg: that counts
		// only if it names a life later than this.
		tx, life := m.Leg.Tx, co.lives.Current()
		own := tx.Incarnation == life.Incarnation && tx.Nonce == life.Nonce
		if m.DecidedBy == life.Incarnation && (own || m.Latest > life.Incarnation) {
			out.Row("B44")
			co.Fence(from, m.Reason, m.Latest, out)
		}
		return
	}
	if t == nil || !t.resolved {
		return
	}
	if m.Reason.Code == grid.Unknown && m.Step != "Hold" && m.Step != "Cancel" {
		co.amnesia.unknown(now, from, t, l, m, out)
		return
	}
	r := m.Reason
	r = reason(r.Code, "%s: %v", t.sites[m.Leg.Leg], m.Reason)
	switch {
	case t.state == grid.TxCommitted && l.state <= grid.Prepared && m.Step == "Confirm":
		out.Row("B22")
		co.lose(now, t, m.Leg.Leg, 0, 0, r, out)
	case t.state == grid.TxHolding && l.state == grid.Asked && m.Step == "Hold",
		t.state == grid.TxPreparing && l.state == grid.Held && m.Step == "Prepare":
		out.Row(t.pick("B6", "B12"))
		if m.Step == "Hold" {
			co.Bar(now, t.sites[m.Leg.Leg], t.job.User, m.Reason, out)
		}
		if l.state == grid.Asked && m.Reason.Code != grid.Conflict { // after a Conflict there is a leg, which must be cancelled
			l.state = grid.Refused
		}
		if len(m.Instead) > 0 {
			out.Row("B72")
		}
		co.listener.Elsewhere(t, m.Instead)
		co.Abort(now, t, r, out)
	}
}

// tryDue gives up a try that is still waiting in the state the alarm was set for.
// Rows B7, B13.
func (co *Coordinator) tryDue(now grid.Time, m tryDue, out *agents.Outbox) {
	t := co.txs.Get(m.Tx)
	if t == nil || t.state != m.State || !t.Open() || !t.resolved {
		return
	}
	for i := range t.legs {
		if s := t.legs[i].state; s == grid.Asked || t.state == grid.TxPreparing && s <= grid.Prepared {
			out.Row(t.pick("B7", "B13"))
			co.Abort(now, t, reason(grid.NoOffer, "%s did not answer in time", t.sites[i]), out)
			return
		}
	}
}

// patience is how long the broker waits, from its first send, for answers whose locks
// last for limit: max(0.8 x limit - 2 s, 0.5 x limit). The site counts the limit from
// when it first receives the request, so the broker never commits a leg whose lock may
// have expired.
func patience(limit grid.Duration) grid.Duration {
	return max(limit*8/10-2*grid.Second, limit/2)
}

// tryDue is the alarm to give up a transaction that is still in State.
type tryDue struct {
	Tx    grid.TxID
	State grid.TxState
}

// Kind names the alarm.
func (tryDue) Kind() string { return "TryDue" }
