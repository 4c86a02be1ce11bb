package bourse

import (
	"cmp"
	"encoding/json"
	"slices"
)

// The facts of a replica's journal: what the consensus among the processes that hold
// an agent must remember, with the agent's own facts within. Whoever reads journals
// is shown those (agents/journal), and never these.

// ReplicaState is what a member has promised to its group: its number, the term that
// it is in, and whom it has voted for in that.
type ReplicaState struct {
	Self   uint64 `json:"self"`
	Term   uint64 `json:"term"`
	Vote   uint64 `json:"vote,omitempty"`
	Commit uint64 `json:"commit"` // as far as was known
}

// ReplicaEntry is an entry of the log. What was in its place, and all after it, is void.
type ReplicaEntry struct {
	Index  uint64          `json:"index"`
	Term   uint64          `json:"term"`
	Change []byte          `json:"change,omitempty"` // of members
	Leaves bool            `json:"leaves,omitempty"` // a change of members is over
	Facts  json.RawMessage `json:"facts,omitempty"`  // of the inner agent: a list of journal records
	Commit uint64          `json:"commit,omitempty"` // as far as was known
}

// ReplicaPart is one part of an image of the inner agent, after the facts of an entry.
type ReplicaPart struct {
	Index   uint64          `json:"index"`
	Term    uint64          `json:"term"`
	Part    int             `json:"part"`
	Parts   int             `json:"parts"`
	Members *ReplicaMembers `json:"members,omitempty"` // of the first part: those after that entry
	Fact    json.RawMessage `json:"fact,omitempty"`    // a journal record; none: an agent without a past
}

// ReplicaInstalled says that the log begins anew behind an image, whose parts came before.
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

// ReplicaMembers are those of a group after an entry of its log. While one is replaced,
// what is decided needs a majority of the voters and one of those that were before.
type ReplicaMembers struct {
	List    []ReplicaMember `json:"list"` // by number
	Voters  []uint64        `json:"voters"`
	Before  []uint64        `json:"before,omitempty"`
	Leaves  bool            `json:"leaves,omitempty"` // the change ends by itself
	Highest uint64          `json:"highest"`          // number that was given so far
}

// Add puts in a member.
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

// ReplicaFacts lists one of every kind. Every codec of journals knows them.
func ReplicaFacts() []interface{ Kind() string } {
	return []interface{ Kind() string }{ReplicaState{}, ReplicaEntry{}, ReplicaPart{}, ReplicaInstalled{}, ReplicaWhole{}}
}
