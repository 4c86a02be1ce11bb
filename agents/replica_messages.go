package agents

import "github.com/bourse-grid/bourse"

// The messages of a broker that several processes hold: between its replicas, and
// with whoever asks one that does not lead. Each names the group, the broker.

var replicaMessages = []Properties{
	{ReplicaStep{}, Replica, Replica, News, nil},
	{ReplicaPart{}, Replica, Replica, Request, ReplicaPartTaken{}},
	{ReplicaPartTaken{}, Replica, Replica, Reply, nil},
	{ReplicaRedirect{}, Replica, User, Reply, nil}, // to any request of a user or an operator
	{ReplicaReplace{}, Operator, Replica, Request, ReplicaReplaced{}},
	{ReplicaReplaced{}, Replica, Operator, Reply, nil},
	{ReplicaConfirm{}, Operator, Replica, Request, ReplicaConfirmed{}}, // of the runtime, for whoever reads
	{ReplicaConfirmed{}, Replica, Operator, Reply, nil},
	{ReplicaHandOver{}, Operator, Replica, News, nil}, // of the runtime, before it stops
}

// ReplicaStep is a message of the consensus among replicas.
type ReplicaStep struct {
	Group ID
	Raft  []byte // a raftpb.Message
}

// ReplicaPart is a part of an image, for a replica that the log does not bring up to
// date any more. From and To are the members' numbers, Term the sender's.
type ReplicaPart struct {
	Group    ID
	From, To uint64
	Term     uint64
	Part     []byte // a fact of the receiver's journal, as JSON
}

// ReplicaPartTaken says which part of the image after an entry is to come next; one
// past the last: all are there.
type ReplicaPartTaken struct {
	Group ID
	Index uint64
	Next  int
}

// ReplicaRedirect answers whoever asks a replica that does not lead.
type ReplicaRedirect struct {
	Group  ID
	Leader ID // where the leader is; "": not known, ask again
}

// ReplicaReplace has one member of a group take the place of another.
type ReplicaReplace struct {
	Group         ID
	Out, In       ID     // addresses
	Endpoint, API string // where In is, for members whose files do not say
}

// ReplicaReplaced says that it is done, or why not.
type ReplicaReplaced struct {
	Group   ID
	Out, In ID
	Reason  bourse.Reason
}

// ReplicaConfirm asks whether this replica leads, now that it has been asked, and
// whether all that its agent has done so far is committed.
type ReplicaConfirm struct{}

// ReplicaConfirmed says so. Who does not lead answers by a ReplicaRedirect.
type ReplicaConfirmed struct{}

// ReplicaHandOver has a replica that leads have another one lead: its process is about to
// stop. It takes nothing more from then on.
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
