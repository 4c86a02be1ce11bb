package grid

import (
	"cmp"
	"encoding/json"
	"slices"
)

// The facts of a replica's journal: what the consensus among the processes that hold an
// agent must remember, with the agent's own facts inside. Readers of journals see only the
// agent's own facts (agents/journal).

// ReplicaState is what a member must not forget: its number, its term, and whom it has
// voted for in that term.
type ReplicaState struct {
	Self   uint64 `json:"self"`
	Term   uint64 `json:"term"`
	Vote   uint64 `json:"vote,omitempty"`
	Commit uint64 `json:"commit"` // the last index known to be committed
}

// ReplicaEntry is an entry of the log. It replaces the one at its index and all after it.
type ReplicaEntry struct {
	Index  uint64          `json:"index"`
	Term   uint64          `json:"term"`
	Change []byte          `json:"change,omitempty"` // of members
	Leaves bool            `json:"leaves,omitempty"` // a change of members is over
	Facts  json.RawMessage `json:"facts,omitempty"`  // of the inner agent: a list of journal records
	Commit uint64          `json:"commit,omitempty"` // the last index known to be committed
}

// ReplicaPart is one part of an image of the inner agent as it is after the facts of an
// entry.
type ReplicaPart struct {
	Index   uint64          `json:"index"`
	Term    uint64          `json:"term"`
	Part    int             `json:"part"`
	Parts   int             `json:"parts"`
	Members *ReplicaMembers `json:"members,omitempty"` // in the first part: the members after that entry
	Fact    json.RawMessage `json:"fact,omitempty"`    // a journal record; none: an agent without a past
}

// ReplicaInstalled says that the log begins anew after an image, whose parts precede this
// fact.
type ReplicaInstalled struct {
	Index uint64 `json:"index"`
	Term  uint64 `json:"term"`
}

// ReplicaWhole is an image in one fact.
type ReplicaWhole struct {
	Parts    []ReplicaPart  `json:"parts,omitempty"`
	State    ReplicaState   `json:"state"`
	Entries  []ReplicaEntry `json:"entries,omitempty"`
	Arriving []ReplicaPart  `json:"arriving,omitempty"` // of an image that is on its way
}

// ReplicaMember is a replica of a group. A number is never given twice.
type ReplicaMember struct {
	Number   uint64 `json:"number"`
	Address  string `json:"address"`            // of the replica among agents
	Endpoint string `json:"endpoint,omitempty"` // host:port at which other replicas reach it; "": their files say
	API      string `json:"api,omitempty"`      // URL of its API; "": likewise
}

// ReplicaMembers are the members of a group after an entry of its log. While one is being
// replaced, a decision needs a majority of the voters and a majority of the voters before.
type ReplicaMembers struct {
	List    []ReplicaMember `json:"list"` // by number
	Voters  []uint64        `json:"voters"`
	Before  []uint64        `json:"before,omitempty"`
	Leaves  bool            `json:"leaves,omitempty"` // the change completes by itself
	Highest uint64          `json:"highest"`          // the highest number given so far
}

// Add inserts a member in order of number.
func (m *ReplicaMembers) Add(x ReplicaMember) {
	i, _ := slices.BinarySearchFunc(m.List, x.Number, func(a ReplicaMember, n uint64) int { return cmp.Compare(a.Number, n) })
	m.List = slices.Insert(m.List, i, x)
	m.Highest = max(m.Highest, x.Number)
}

// Kind names the fact.
func (ReplicaState) Kind() string { return "replica-state" }

// Kind names the fact.
func (ReplicaEntry) Kind() string { return "replica-entry" }

// Kind names the fact.
func (ReplicaPart) Kind() string { return "replica-part" }

// Kind names the fact.
func (ReplicaInstalled) Kind() string { return "replica-installed" }

// Kind names the fact.
func (ReplicaWhole) Kind() string { return "replica-whole" }

// ReplicaFacts lists one fact of each kind. Every codec of journals knows them.
func ReplicaFacts() []interface{ Kind() string } {
	return []interface{ Kind() string }{ReplicaState{}, ReplicaEntry{}, ReplicaPart{}, ReplicaInstalled{}, ReplicaWhole{}}
}
