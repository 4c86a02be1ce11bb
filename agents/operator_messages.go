package agents

import "github.com/bourse-grid/bourse/grid"

// The messages of an operator to a site. They come from within its process, so no peer can
// send one. Each is answered by an OperatorReply once its effect is durable; a repeat
// changes nothing and gets the same answer. Messages of the runtime, and of an operator to
// a broker, are in other files.

var operatorMessages = []Properties{
	{Started{}, Outside, Any, News, nil},
	{Drain{}, Operator, Site, Request, OperatorReply{}},
	{Resume{}, Operator, Site, Request, OperatorReply{}},
	{Maintenance{}, Operator, Site, Request, OperatorReply{}},
	{MaintenanceCancel{}, Operator, Site, Request, OperatorReply{}},
	{Close{}, Operator, Site, Request, OperatorReply{}},
	{Open{}, Operator, Site, Request, OperatorReply{}},
	{Reload{}, Operator, Site, Request, ReloadReply{}},
	{ReloadReply{}, Site, Operator, Reply, nil},
	{SiteLost{}, Operator, Broker, Request, OperatorReply{}},
	{SiteFound{}, Operator, Broker, Request, OperatorReply{}},
	{Deposit{}, Operator, Broker, Request, OperatorReply{}},
	{GrantTerms{}, Operator, Broker, Request, OperatorReply{}},
	{ReadTerms{}, Operator, Broker, Request, OperatorReply{}},
	{OperatorReply{}, Any, Operator, Reply, nil},
	{SiteJoined{}, Outside, Broker, News, nil},
	{SiteLeft{}, Outside, Broker, News, nil},
}

// Drain stops a site from taking new legs: Holds and offers are refused until an instant,
// or until Resume. Legs that are held, prepared or confirmed go on, and so do local jobs. A
// later Drain replaces an earlier one.
type Drain struct {
	Until grid.Time // 0 or Never: until Resume
	Why   string    // shown to those who are refused; may be empty
}

// Resume ends a drain.
type Resume struct{}

// Maintenance takes nodes of a group out of service over [Start, End): nothing is offered
// or started on them. It is refused as busy if running jobs, reservations or legs are in
// the way. With Force those give way: first local jobs, which are killed, then held legs,
// then confirmed ones. Confirmed legs are lost with refund and penalty, and their brokers
// repair them.
type Maintenance struct {
	Name  string // chosen by the operator, 1 to 64 bytes; names one window until that ends
	Group string
	Nodes int // 0: all nodes of the group
	Start grid.Time
	End   grid.Time
	Why   string
	Force bool
}

// MaintenanceCancel gives back the nodes of a maintenance, before or during its window.
type MaintenanceCancel struct{ Name string }

// Close stops a site from taking new legs of a VO, of a user, or, if both are named, of
// that user of that VO. Their legs that are held, prepared or confirmed go on.
type Close struct {
	VO   string // the name of its broker
	User string
	Why  string
}

// Open ends a Close of the same VO and user.
type Open struct{ VO, User string }

// Settings are what an agent goes on by after a Reload. Only the package of the agent
// understands them. They never leave the process.
type Settings interface{ Settings() }

// Reload makes a site and its cluster go on by other settings. What is promised stays as it
// is. A Reload after which legs would have no nodes is refused as busy, and names them. With
// Force they are lost, with refund and penalty, and their brokers repair them. At most
// MaxSettings changes at once.
type Reload struct {
	Site    Settings       `json:"-"` // of the site; nil: it keeps its own
	Cluster Settings       `json:"-"` // of its cluster; nil: it keeps its own
	Changes []grid.Setting // what is recorded
	Nonce   uint64         // unique to this Reload
	Dry     bool           // only say what would come of it
	Force   bool           // legs may lose their nodes
	Why     string         // shown to those who lose them; may be empty
}

// MaxSettings bounds the changes of a Reload. MaxLost bounds the legs that a reply names.
const (
	MaxSettings = 1000
	MaxLost     = 100
)

// ReloadReply answers a Reload. Its reason, if any, is why nothing was changed.
type ReloadReply struct {
	Reason grid.Reason
	Lost   []grid.LegID // legs that lose their nodes, or would; the first MaxLost of Legs
	Legs   int
	Jobs   int // local jobs that are killed or turned away, or would be
}

// OperatorReply answers an operator's message; a Reason means that it was refused.
type OperatorReply struct {
	To     string // kind of the message that it answers
	Reason grid.Reason
}

// Kind names the message.
func (Drain) Kind() string             { return "Drain" }
func (Resume) Kind() string            { return "Resume" }
func (Maintenance) Kind() string       { return "Maintenance" }
func (MaintenanceCancel) Kind() string { return "MaintenanceCancel" }
func (Close) Kind() string             { return "Close" }
func (Open) Kind() string              { return "Open" }
func (Reload) Kind() string            { return "Reload" }
func (ReloadReply) Kind() string       { return "ReloadReply" }
func (OperatorReply) Kind() string     { return "OperatorReply" }
