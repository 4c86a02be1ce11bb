package agents

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// All properties of a message type beyond its fields are in one line of a table. The table
// is split into parts, each at the top of the file that defines its types. Code that
// carries, checks, traces or routes messages consults the table, so one line makes a new
// type known everywhere.

// Role is the kind of agent behind an address: the part before the colon.
type Role string

// The roles. Outside is the runtime or, in a simulation, the world. Any is every agent or,
// for a reply, whoever asked.
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

// Class is the part that a message plays in a conversation.
type Class uint8

// The classes.
const (
	Request Class = iota // repeated until it is answered
	Step                 // a request that advances a leg's transaction; may also be answered by Refused
	Reply                // answers a request
	Notice               // repeated until it is acknowledged
	News                 // sent once; its content can also be learned in another way
)

// Properties are the properties of one message type.
type Properties struct {
	Message  Message // zero value of the type
	From, To Role
	Class    Class
	Answer   Message // what answers or acknowledges it; nil: nothing, or Refused alone
}

// Kind returns the type's name.
func (p *Properties) Kind() string { return p.Message.Kind() }

// Crosses reports whether messages of the type pass between the processes of a broker and a
// site, or between the replicas of a broker. Those types have a wire format.
func (p *Properties) Crosses() bool {
	return p.From == Broker && p.To == Site || p.From == Site && p.To == Broker || p.From == Replica && p.To == Replica
}

// Answers reports whether a message of that kind answers this type.
func (p *Properties) Answers(kind string) bool { return p.Answer != nil && p.Answer.Kind() == kind }

// table holds all message types.
var table = slices.Concat(brokerMessages, recoveryMessages, clusterMessages, driverMessages, outputMessages, pilotMessages, operatorMessages, replicaMessages)

var byKind = func() map[string]*Properties {
	m := make(map[string]*Properties, len(table))
	for i := range table {
		m[table[i].Kind()] = &table[i]
	}
	return m
}()

// Messages lists all message types.
func Messages() []Properties { return slices.Clone(table) }

// Lookup returns the properties of a kind of message, which must not be changed. It reports
// false if the kind is not in the table, such as an alarm.
func Lookup(kind string) (*Properties, bool) {
	p, ok := byKind[kind]
	return p, ok
}

// OfLeg is a message about one leg.
type OfLeg interface {
	Message
	LegID() grid.LegID
}

// Stamped is a message that a site has stamped.
type Stamped interface {
	Message
	At() Stamp
}

// Decision is a message that carries a broker's decision about a leg.
type Decision interface {
	OfLeg
	Decider() uint32 // the incarnation that recorded it
}

// ofJob is a message about a job.
type ofJob interface{ JobName() string }

// ofBroker is a message that names its broker, though it is about no leg.
type ofBroker interface{ BrokerName() string }

// SpeakerOf returns the broker in whose name a broker's message is sent: that of its leg, or
// the one that it names. It reports false if m says neither, or if no broker sends it.
func SpeakerOf(m Message) (string, bool) {
	if p, known := Lookup(m.Kind()); !known || p.From != Broker {
		return "", false
	}
	switch m := m.(type) {
	case OfLeg:
		return m.LegID().Tx.Broker, true
	case ofBroker:
		return m.BrokerName(), true
	}
	return "", false
}

// SaidOfLeg returns the leg and the stamp of a site's message about a leg; false if it is
// no such message.
func SaidOfLeg(m Message) (grid.LegID, Stamp, bool) {
	leg, of := m.(OfLeg)
	s, stamped := m.(Stamped)
	if !of || !stamped {
		return grid.LegID{}, Stamp{}, false
	}
	return leg.LegID(), s.At(), true
}

// JobOf returns the name of the job that a user's message, or the answer to it, is about.
func JobOf(m Message) string {
	if j, ok := m.(ofJob); ok {
		return j.JobName()
	}
	return ""
}

// Trace names what a message is about, for the logs of all agents that handle it: its
// transaction, or else its job; "" if neither.
func Trace(m Message) string {
	if l, ok := m.(OfLeg); ok {
		return l.LegID().Tx.String()
	}
	return JobOf(m)
}
