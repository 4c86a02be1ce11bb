package broker

import (
	"fmt"

	"bourse"
)

// applyBegun opens a transaction and makes its limits pending.
func (b *Broker) applyBegun(f bourse.TxBegun) {
	if f.Tx.Seq != uint64(len(b.txs))+1 {
		panic(fmt.Sprintf("broker: transaction %v begun after %d others", f.Tx, len(b.txs)))
	}
	j := b.names[f.Job]
	t := &transaction{id: f.Tx, job: j, sites: f.Sites, number: f.Alternative, legs: make([]txLeg, len(f.Legs))}
	for i := range t.legs {
		t.legs[i] = txLeg{what: f.Legs[i], limit: f.Limits[i]}
		b.reserve(t.leg(i), j.User, t.sites[i], f.Limits[i])
	}
	b.txs = append(b.txs, t)
	j.state, j.last = Trying, t
	b.queue.look(j)
}

// applyPriced binds a leg's price and gives the rest of its limit back.
func (b *Broker) applyPriced(f bourse.LegPriced) {
	l := b.legOf(f.Leg)
	l.state, l.fare = bourse.Held, f.Fare
	b.shrink(f.Leg, f.Fare.Total())
}

// applyDecided closes the question. ABORT frees the money at once: no site can
// charge for a leg that was never committed.
func (b *Broker) applyDecided(f bourse.TxDecided) {
	t := b.txs[f.Tx.Seq-1]
	t.reason = f.Reason
	if f.Commit {
		t.state, t.job.state, t.job.reason = committed, Placed, bourse.Reason{}
		b.queue.waiting--
		return
	}
	t.state, t.job.state = aborted, Waiting
	for i := range t.legs {
		b.void(t.leg(i))
	}
}

// applyClosed posts what an acknowledged COMMIT costs. A committed leg that its
// site does not have is Lost and costs nothing; a job that has lost all it had
// waits again.
func (b *Broker) applyClosed(f bourse.LegClosed) {
	t, l := b.txs[f.Leg.Tx.Seq-1], b.legOf(f.Leg)
	switch {
	case f.Commit:
		l.state = bourse.Confirmed
		b.post(f.Leg)
	case t.state == committed:
		l.state = bourse.Lost
		b.void(f.Leg)
		if t.all(bourse.Lost) {
			t.job.state = Waiting
			b.queue.insert(t.job)
		}
	default:
		l.state = bourse.Cancelled
	}
}

// applyDone settles a leg, and with the last one its job.
func (b *Broker) applyDone(f bourse.LegDone) {
	t, l := b.txs[f.Leg.Tx.Seq-1], b.legOf(f.Leg)
	l.state, l.end = bourse.Settled, f.End
	if f.Refund > 0 {
		b.refund(t.job.User, t.sites[f.Leg.Leg], f.Refund)
	}
	for i := range t.legs {
		if !t.legs[i].state.Terminal() {
			return
		}
	}
	t.job.state = Done
}

func (b *Broker) legOf(id bourse.LegID) *txLeg { return &b.txs[id.Tx.Seq-1].legs[id.Leg] }
