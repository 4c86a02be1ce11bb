package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/retry"
)

// What the broker says again until it is answered. Whether it is still owed
// follows from the state; retry keeps the times.

// owed names it.
type owed struct {
	what word
	site agents.ID
	tx   bourse.TxID
}

// word is what is said again.
type word uint8

const (
	theProbe   word = iota // of a site: its present stamp
	theAsserts             // to a site: what it has forgotten
	theSteps               // of a transaction, to its sites
)

// Kind names the alarm.
func (k owed) Kind() string {
	return [...]string{"ProbeDue", "AssertDue", "RepeatDue"}[k.what]
}

// sayLater has something said again.
func (co *coordinator) sayLater(now bourse.Time, k owed, first bourse.Duration, out *agents.Outbox) {
	if co.cfg.Lossless {
		return
	}
	co.retries.Begin(now, k, retry.Schedule{First: first, Last: lastRepeat}, out)
}

// again takes the alarm: what is still owed is said once more. After the steps of
// a transaction there may be nothing left to say, if the only legs left were
// never asked.
func (co *coordinator) again(now bourse.Time, d retry.Due[owed], out *agents.Outbox) {
	k := d.Subject
	p := co.peers.get(k.site)
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
			co.retries.Due(now, d, co.repeat(now, co.txs.get(k.tx), out), out)
		}
	}
}
