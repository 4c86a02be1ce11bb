package agents

import "github.com/bourse-grid/bourse/grid"

// The messages of a replicated broker: between its replicas, and with whoever asks a
// replica that does not lead. Each names the group, the broker.

var replicaMessages = []Properties{
	{ReplicaStep{}, Replica, Replica, News, nil},
	{ReplicaPart{}, Replica, Replica, Request, ReplicaPartTaken{}},
	{ReplicaPartTaken{}, Replica, Replica, Reply, nil},
	{ReplicaRedirect{}, Replica, User, Reply, nil}, // answers any request of a user or an operator
	{ReplicaReplace{}, Operator, Replica, Request, ReplicaReplaced{}},
	{ReplicaReplaced{}, Replica, Operator, Reply, nil},
	{ReplicaConfirm{}, Operator, Replica, Request, ReplicaConfirmed{}}, // from the runtime, on behalf of a reader
	{ReplicaConfirmed{}, Replica, Operator, Reply, nil},
	{ReplicaHandOver{}, Operator, Replica, News, nil}, // from the runtime, before it stops
}

// ReplicaStep is a message of the consensus between replicas.
type ReplicaStep struct {
	Group ID
	Raft  []byte // a raftpb.Message
}

// ReplicaPart is a part of an image, for a replica that the log can no longer bring up to
// date. From and To are member numbers, Term is the sender's.
type ReplicaPart struct {
	Group    ID
	From, To uint64
	Term     uint64
	Part     []byte // a fact of the receiver's journal, as JSON
}

// ReplicaPartTaken says which part of the image after an entry should come next. A number
// past the last part means that all have arrived.
type ReplicaPartTaken struct {
	Group ID
	Index uint64
	Next  int
}

// ReplicaRedirect answers anyone who asks a replica that does not lead.
type ReplicaRedirect struct {
	Group  ID
	Leader ID // address of the leader; "" if unknown: ask again
}

// ReplicaReplace replaces one member of a group by another.
type ReplicaReplace struct {
	Group         ID
	Out, In       ID     // addresses
	Endpoint, API string // addresses of In, for members whose files do not have them
}

// ReplicaReplaced says that the replacement is done, or why not.
type ReplicaReplaced struct {
	Group   ID
	Out, In ID
	Reason  grid.Reason
}

// ReplicaConfirm asks whether this replica still leads after the question arrived, and
// whether everything that its agent has done so far is committed.
type ReplicaConfirm struct{}

// ReplicaConfirmed says that both are the case. A replica that does not lead answers with
// ReplicaRedirect.
type ReplicaConfirmed struct{}

// ReplicaHandOver tells a leading replica to pass the lead to another one, because its
// process is about to stop. It takes no messages afterwards.
type ReplicaHandOver struct{}

// Kind names the message.
func (ReplicaStep) Kind() string { return "ReplicaStep" }

// Kind names the message.
func (ReplicaPart) Kind() string { return "ReplicaPart" }

// Kind names the message.
func (ReplicaPartTaken) Kind() string { return "ReplicaPartTaken" }

// Kind names the message.
func (ReplicaRedirect) Kind() string { return "ReplicaRedirect" }

// Kind names the message.
func (ReplicaReplace) Kind() string { return "ReplicaReplace" }

// Kind names the message.
func (ReplicaReplaced) Kind() string { return "ReplicaReplaced" }

// Kind names the message.
func (ReplicaConfirm) Kind() string { return "ReplicaConfirm" }

// Kind names the message.
func (ReplicaConfirmed) Kind() string { return "ReplicaConfirmed" }

// Kind names the message.
func (ReplicaHandOver) Kind() string { return "ReplicaHandOver" }
