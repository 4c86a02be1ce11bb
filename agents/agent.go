// Package agents is the contract between agents and the runtimes that host them, and
// defines the messages that agents send each other.
//
// An agent is a deterministic state machine. Given one message, it may send messages, set
// alarms and record facts, all through the Outbox. It never blocks, reads a clock, draws a
// random number of its own or touches a file. A runtime makes the facts durable first and
// only then carries out the sends. The same agents run in virtual time (package sim) and as
// processes on a network (package live).
package agents

import "github.com/bourse-grid/bourse/grid"

// ID is the address of an agent, such as "site:north" or "broker:vo1".
type ID string

// Message is one of the message types of this package.
type Message interface{ Kind() string }

// Fact is something that an agent has decided or seen and that its state follows from. A
// restart replays facts, and reports are made from them.
type Fact interface{ Kind() string }

// Agent is a deterministic state machine.
type Agent interface {
	// Step hands the agent one message at the instant now. The outbox belongs to the
	// runtime and must not be kept.
	Step(now grid.Time, from ID, m Message, out *Outbox)
}

// Send is a message to be sent.
type Send struct {
	To      ID
	Message Message
}

// Alarm is a message that an agent sends itself at a later instant. It identifies what it
// is for. Alarms are never cancelled; the agent ignores one that is out of date.
type Alarm struct {
	At      grid.Time
	Message Message
}

// Outbox collects the effects of one step.
type Outbox struct {
	Sends  []Send
	Alarms []Alarm
	Facts  []Fact
	Rows   []Row // taken, if they are wanted

	WantRows bool // for traces and tests
}

// Row is a row of docs/TRANSACTION.md, such as "S41".
type Row string

// Send sends m to an agent.
func (o *Outbox) Send(to ID, m Message) { o.Sends = append(o.Sends, Send{to, m}) }

// Alarm delivers m to the agent itself at the instant at. An alarm for the present instant
// comes after all messages already on their way.
func (o *Outbox) Alarm(at grid.Time, m Message) { o.Alarms = append(o.Alarms, Alarm{at, m}) }

// Record records a fact.
func (o *Outbox) Record(f Fact) { o.Facts = append(o.Facts, f) }

// Row notes that the step takes a row, if anybody wants to know; "" is none. An agent
// calls it where it does what the row says.
func (o *Outbox) Row(r Row) {
	if o.WantRows && r != "" {
		o.Rows = append(o.Rows, r)
	}
}

// Reset empties the outbox for the next step.
func (o *Outbox) Reset() {
	o.Sends, o.Alarms, o.Facts = Emptied(o.Sends), Emptied(o.Alarms), Emptied(o.Facts)
	if o.WantRows {
		o.Rows = Emptied(o.Rows)
	}
}

// maxKept is the largest capacity that an emptied buffer keeps, in elements. The first step
// of a restart may set an alarm for each of 100,000 reservations.
const maxKept = 4096

// Emptied returns the buffer without its elements for reuse. A large one is left to the
// garbage collector.
func Emptied[E any](s []E) []E {
	if cap(s) > maxKept {
		return nil
	}
	clear(s)
	return s[:0]
}

// Durable is an agent whose lasting state follows from its facts alone. A runtime can bring
// it back with a new agent of the same configuration: it replays every fact in order and
// then sends Started.
type Durable interface {
	Agent
	// Replay applies a fact that an earlier life recorded at the instant at. It sends
	// nothing and sets no alarms.
	Replay(at grid.Time, f Fact)
	// Image returns the lasting state as one fact. A new agent that replays it has the same
	// state. A journal starts over with it.
	Image() Fact
}

// Parted is a Durable with too much state for a single buffer: a journal starts over with
// its image in parts.
type Parted interface {
	Durable
	// Parts returns the number of facts that the image takes now, at least 1.
	Parts() int
	// Part returns the i-th part, from 0. Replayed in order, all parts give the same state
	// as Image: the first one forgets what was before, and the others add to it.
	Part(i int) Fact
}

// Refuser is an agent that can refuse a message that its runtime does not hand over because
// the agent has failed on such a message before.
type Refuser interface {
	// Refuse answers m with the given reason, if messages of that kind can be refused. It
	// only sends: it changes no state, records no fact and sets no alarm.
	Refuse(now grid.Time, from ID, m Message, why grid.Reason, out *Outbox)
}

// Started is the first message of every life of an agent. The agent then sets its alarms
// and, after a restart, asks for what it has missed. The runtime draws Nonce, which
// identifies this life.
type Started struct{ Nonce uint64 }

// Kind names the message.
func (Started) Kind() string { return "Started" }
