package broker

import (
	"bourse"
	"bourse/agents"
	"bourse/agents/retry"
)

// What the broker says again until it is answered. That it is owed follows from the
// state; retry keeps the times.

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
func (b *Broker) sayLater(now bourse.Time, k owed, first bourse.Duration, out *agents.Outbox) {
	b.retries.Begin(now, k, retry.Schedule{First: first, Last: lastRepeat}, out)
}

// again takes the alarm.
func (b *Broker) again(now bourse.Time, d retry.Due[owed], out *agents.Outbox) {
	switch d.Subject.what {
	case theProbe:
		b.probeAgain(now, d, out)
	case theAsserts:
		b.assertAgain(now, d, out)
	case theSteps:
		b.repeatAgain(now, d, out)
	}
}
