package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
)

// keepClosed is how long a transaction is remembered after its last leg's end:
// so long a site may inquire, or be told again what it has lost. After that its
// place below the high-water mark of its life is all that is kept.
const keepClosed = bourse.Day

// forgetEvery is how often a broker looks for what it may forget.
const forgetEvery = bourse.Hour

// forget drops the transactions that are long over.
func (b *Broker) forget(now bourse.Time, out *agents.Outbox) {
	out.Alarm(now.Add(forgetEvery), forgetDue{})
	var old []bourse.TxID
	for _, t := range b.order {
		if t.resolved && t.atRest() && t.over() && t.lastEnd().Add(keepClosed) <= now && !b.wanted(t) {
			old = append(old, t.id)
		}
	}
	if len(old) > 0 {
		b.record(bourse.TxForgotten{Txs: old}, out)
	}
}

// wanted reports whether a transaction is part of a window that still counts.
func (b *Broker) wanted(t *transaction) bool {
	return t.job.state == Placed && slices.Contains(t.job.txs, t)
}

func (b *Broker) applyForgotten(f bourse.TxForgotten) {
	for _, id := range f.Txs {
		if t := b.txs[id]; t != nil {
			t.job.drop(t)
			if t.job.last == t {
				t.job.last = nil
			}
			delete(b.txs, id)
		}
	}
	b.order = slices.DeleteFunc(b.order, func(t *transaction) bool { return b.txs[t.id] != t })
}
