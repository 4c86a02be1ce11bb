package agents

import "github.com/bourse-grid/bourse"

// The messages of an operator to a site, from within its process: no peer's
// word can be one. Each is answered by an OperatorReply once what it asks for
// is durable, and asking the same again changes nothing and is answered alike.
// Those of the runtime, and of an operator to a broker, stand beside them.

var operatorMessages = []Properties{
	{Started{}, Outside, Any, News, nil},
	{Drain{}, Operator, Site, Request, OperatorReply{}},
	{Resume{}, Operator, Site, Request, OperatorReply{}},
	{Maintenance{}, Operator, Site, Request, OperatorReply{}},
	{MaintenanceCancel{}, Operator, Site, Request, OperatorReply{}},
	{Close{}, Operator, Site, Request, OperatorReply{}},
	{Open{}, Operator, Site, Request, OperatorReply{}},
	{SiteLost{}, Operator, Broker, Request, OperatorReply{}},
	{SiteFound{}, Operator, Broker, Request, OperatorReply{}},
	{Deposit{}, Operator, Broker, Request, OperatorReply{}},
	{GrantTerms{}, Operator, Broker, Request, OperatorReply{}},
	{ReadTerms{}, Operator, Broker, Request, OperatorReply{}},
	{OperatorReply{}, Any, Operator, Reply, nil},
	{SiteJoined{}, Outside, Broker, News, nil},
	{SiteLeft{}, Outside, Broker, News, nil},
}

// Drain has a site take no new legs: Holds and offers are refused until an
// instant, or until Resume. What is held, prepared or confirmed goes on, and
// so do local jobs. A later Drain takes the place of an earlier one.
type Drain struct {
	Until bourse.Time // 0 or Never: until Resume
	Why   string      // for those who are refused; may be empty
}

// Resume ends a drain.
type Resume struct{}

// Maintenance takes nodes of a group out of service over [Start, End): nothing
// is offered or started on them. It is refused as busy where running jobs,
// reservations or legs are in the way. With Force they give way instead: local
// jobs first, which are killed, then held legs, then confirmed ones, which are
// lost with refund and penalty, and which their brokers repair.
type Maintenance struct {
	Name  string // the operator's, 1 to 64 bytes; one name is one window until its end
	Group string
	Nodes int // 0: all of the group
	Start bourse.Time
	End   bourse.Time
	Why   string
	Force bool
}

// MaintenanceCancel gives the nodes of a maintenance back, before or during its
// window.
type MaintenanceCancel struct{ Name string }

// Close has a site take no new legs of a VO, of a user, or of that user of that
// VO where both are named. Their legs that are held or more go on.
type Close struct {
	VO   string // the name of its broker
	User string
	Why  string
}

// Open ends a Close of the same VO and user.
type Open struct{ VO, User string }

// OperatorReply answers an operator's message; a Reason means no.
type OperatorReply struct {
	To     string // the kind of the message that it answers
	Reason bourse.Reason
}

// Kind names the message.
func (Drain) Kind() string             { return "Drain" }
func (Resume) Kind() string            { return "Resume" }
func (Maintenance) Kind() string       { return "Maintenance" }
func (MaintenanceCancel) Kind() string { return "MaintenanceCancel" }
func (Close) Kind() string             { return "Close" }
func (Open) Kind() string              { return "Open" }
func (OperatorReply) Kind() string     { return "OperatorReply" }
