// Package agents is the contract between agents and the runtimes that host
// them, and the messages agents send each other.
//
// An agent is a deterministic state machine. Handed one message it may send,
// set an alarm and record facts, all through the Outbox; it never blocks, reads
// a clock, draws a random number of its own or touches a file. A runtime
// carries the facts out first (durably), then the sends. The same agents run in
// virtual time (package sim) and as processes on a network.
package agents

import "github.com/bourse-grid/bourse"

// ID is the address of an agent, such as "site:north" or "broker:vo1".
type ID string

// Message is one of the message types of this package.
type Message interface{ Kind() string }

// Fact is something that an agent has decided or seen and that its state
// follows from. A restart replays facts; reports are made of them.
type Fact interface{ Kind() string }

// Agent is a deterministic state machine.
type Agent interface {
	// Step hands the agent one message at the instant now. The outbox is the
	// runtime's and must not be kept.
	Step(now bourse.Time, from ID, m Message, out *Outbox)
}

// Send is a message on its way.
type Send struct {
	To      ID
	Message Message
}

// Alarm is a message that an agent sends itself at a later instant. It carries
// the identity of what it is for; a stale one is ignored by the agent, and
// nothing is ever cancelled.
type Alarm struct {
	At      bourse.Time
	Message Message
}

// Outbox takes what one step does to the world.
type Outbox struct {
	Sends  []Send
	Alarms []Alarm
	Facts  []Fact
}

// Send sends m to an agent.
func (o *Outbox) Send(to ID, m Message) { o.Sends = append(o.Sends, Send{to, m}) }

// Alarm has m delivered to the agent itself at the instant at. An alarm for the
// present instant comes after all messages that are already on their way.
func (o *Outbox) Alarm(at bourse.Time, m Message) { o.Alarms = append(o.Alarms, Alarm{at, m}) }

// Record records a fact.
func (o *Outbox) Record(f Fact) { o.Facts = append(o.Facts, f) }

// Reset empties the outbox for the next step.
func (o *Outbox) Reset() {
	o.Sends, o.Alarms, o.Facts = Emptied(o.Sends), Emptied(o.Alarms), Emptied(o.Facts)
}

// maxKept is how many elements an emptied buffer has room for at most: the first
// step of a restart may set an alarm for each of 100,000 reservations.
const maxKept = 4096

// Emptied returns a buffer without its elements, to be used again; one that has
// grown large is left to the collector.
func Emptied[E any](s []E) []E {
	if cap(s) > maxKept {
		return nil
	}
	clear(s)
	return s[:0]
}

// Durable is an agent whose lasting state follows from its facts alone, so that
// a runtime can bring it back: a new agent of the same configuration, every
// fact replayed in order, then Started.
type Durable interface {
	Agent
	// Replay applies a fact that an earlier life recorded at the instant at.
	// It sends nothing and sets no alarm.
	Replay(at bourse.Time, f Fact)
	// Image returns the lasting state as one fact, from which a new agent
	// replays the same state: a journal begins anew with it.
	Image() Fact
}

// Parted is a Durable that keeps so much that no buffer should hold all of it: a
// journal begins anew with its image in parts.
type Parted interface {
	Durable
	// Parts is how many facts the image takes now, 1 or more.
	Parts() int
	// Part returns the i-th of them, from 0 on. Replayed in order, all of them
	// give the state that Image gives: the first forgets what was before, the
	// others add to it.
	Part(i int) Fact
}

// Refuser is an agent that can say no to a message that its runtime does not hand
// to it, because the agent has failed over such a message before.
type Refuser interface {
	// Refuse answers m for the reason given, if its kind has an answer that says
	// no. It only sends: it changes no state, records nothing and sets no alarm.
	Refuse(now bourse.Time, from ID, m Message, why bourse.Reason, out *Outbox)
}

// Started is the first message of every life of an agent: it sets its alarms
// and, after a restart, asks what it has missed. Nonce is drawn by the runtime
// for this life and tells it from all others.
type Started struct{ Nonce uint64 }

// Kind names the message.
func (Started) Kind() string { return "Started" }
