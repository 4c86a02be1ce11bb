package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/retry"
	"github.com/bourse-grid/bourse/grid"
)

// What the broker repeats until it is answered. The state says whether an answer is still
// missing; package retry keeps the times.

// owed names something to repeat.
type owed struct {
	what word
	site agents.ID
	tx   grid.TxID
}

// word is what is repeated.
type word uint8

const (
	theProbe   word = iota // asks a site for its present stamp
	theAsserts             // tell a site what it has forgotten
	theSteps               // a transaction's messages to its sites
)

// Kind names the alarm.
func (k owed) Kind() string {
	return [...]string{"ProbeDue", "AssertDue", "RepeatDue"}[k.what]
}

// sayLater starts repeating something. Without message loss it does nothing.
func (co *Coordinator) sayLater(now grid.Time, k owed, first grid.Duration, out *agents.Outbox) {
	if co.cfg.Lossless {
		return
	}
	co.retries.Begin(now, k, retry.Schedule{First: first, Last: LastRepeat}, out)
}

// again handles the alarm and repeats what is still unanswered. After that a transaction
// may have nothing left to send, if its only open legs were never asked for.
func (co *Coordinator) again(now grid.Time, d retry.Due[owed], out *agents.Outbox) {
	k := d.Subject
	p := co.peers.Get(k.site)
	switch k.what {
	case theProbe:
		if co.retries.Due(now, d, p != nil && p.memory.probe != 0, out) == retry.Again {
			co.amnesia.probe(p, out)
		}
	case theAsserts:
		if co.retries.Due(now, d, p != nil && co.amnesia.toAssert(p), out) == retry.Again {
			co.amnesia.sendAsserts(now, p, out)
		}
	case theSteps:
		if co.retries.Current(d) {
			co.retries.Due(now, d, co.repeat(now, co.txs.Get(k.tx), out), out)
		}
	}
}
