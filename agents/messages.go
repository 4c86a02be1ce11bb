package agents

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// What there is to know of a message type beside its fields stands in one line of
// one table, in parts: each opens the file of its types. Whoever carries,
// checks, traces or hands on messages asks the table, so that a new type is known
// everywhere once it has its line.

// Role says what kind of agent an address is of: it is what comes before the
// colon.
type Role string

// The roles. Outside is the runtime or, in a simulation, the world; Any is every
// agent, or who has asked.
const (
	Any      Role = ""
	Broker   Role = "broker"
	Site     Role = "site"
	Cluster  Role = "cluster"
	Driver   Role = "driver"
	User     Role = "user"
	Operator Role = "operator"
	Replica  Role = "replica" // one of the processes that hold a broker
	Outside  Role = "outside"
)

// Class says what a message is in its conversation.
type Class uint8

// The classes.
const (
	Request Class = iota // asks, and is asked again until it is answered
	Step                 // a request that takes a leg's transaction on; Refused answers it too
	Reply                // answers a request
	Notice               // is said again until it is acknowledged
	News                 // is said once; what follows from it is found out otherwise too
)

// Properties are those of one message type.
type Properties struct {
	Message  Message // of its type, zero
	From, To Role
	Class    Class
	Answer   Message // what answers or acknowledges it; nil: nothing, or Refused alone
}

// Kind is the type's name.
func (p *Properties) Kind() string { return p.Message.Kind() }

// Crosses reports whether messages of the type go between the processes of a
// broker and a site, or between those that hold a broker: those have a form on the
// wire.
func (p *Properties) Crosses() bool {
	return p.From == Broker && p.To == Site || p.From == Site && p.To == Broker || p.From == Replica && p.To == Replica
}

// Answers reports whether a message of that kind answers this type.
func (p *Properties) Answers(kind string) bool { return p.Answer != nil && p.Answer.Kind() == kind }

// table holds all message types.
var table = slices.Concat(brokerMessages, recoveryMessages, clusterMessages, driverMessages, outputMessages, operatorMessages, replicaMessages)

var byKind = func() map[string]*Properties {
	m := make(map[string]*Properties, len(table))
	for i := range table {
		m[table[i].Kind()] = &table[i]
	}
	return m
}()

// Messages lists all message types.
func Messages() []Properties { return slices.Clone(table) }

// Lookup returns the properties of a kind of message; false if it is none of this
// package, such as an alarm. They must not be changed.
func Lookup(kind string) (*Properties, bool) {
	p, ok := byKind[kind]
	return p, ok
}

// OfLeg is a message about one leg.
type OfLeg interface {
	Message
	LegID() bourse.LegID
}

// Stamped is what a site says with its stamp.
type Stamped interface {
	Message
	At() Stamp
}

// Decision is a message that carries what a life of a broker has decided of a leg.
type Decision interface {
	OfLeg
	Decider() uint32 // the incarnation that recorded it
}

// ofJob is a message about a job.
type ofJob interface{ JobName() string }

// SaidOfLeg returns the leg and the stamp of what a site says of one; false if the
// message is nothing of the kind.
func SaidOfLeg(m Message) (bourse.LegID, Stamp, bool) {
	leg, of := m.(OfLeg)
	s, stamped := m.(Stamped)
	if !of || !stamped {
		return bourse.LegID{}, Stamp{}, false
	}
	return leg.LegID(), s.At(), true
}

// JobOf names the job that a user's message, or the answer to it, is about.
func JobOf(m Message) string {
	if j, ok := m.(ofJob); ok {
		return j.JobName()
	}
	return ""
}

// Trace names what a message is about, for the logs of all agents that handle it:
// the transaction, else the job, "" if it is about neither.
func Trace(m Message) string {
	if l, ok := m.(OfLeg); ok {
		return l.LegID().Tx.String()
	}
	return JobOf(m)
}
