package bourse

import "fmt"

// Look is a snapshot of a cluster's resource manager: its nodes, jobs and reservations.
// Times are by the manager's clock, which may differ from ours by some seconds. A look may
// be old when it is read. What it does not contain is unknown, not free.
type Look struct {
	At           Time                 `json:"at"`                   // when it was begun: everything in it is at least as new
	Source       string               `json:"source"`               // the kind and version of the manager, such as "slurm 22.05.8"
	Nodes        []ManagedNode        `json:"nodes"`                // by name
	Jobs         []ManagedJob         `json:"jobs"`                 // in the manager's order of priority, running ones first
	Reservations []ManagedReservation `json:"reservations"`         // by name
	Partitions   []ManagedPartition   `json:"partitions,omitempty"` // by name; those that have limits of their own
}

// String describes the look in a few words.
func (l *Look) String() string {
	return fmt.Sprintf("look of %v: %d nodes, %d jobs, %d reservations", l.At, len(l.Nodes), len(l.Jobs), len(l.Reservations))
}

// NodeState is whether work can be started on a node.
type NodeState string

// The states of a node.
const (
	NodeUp      NodeState = "up"
	NodeDrained NodeState = "drained" // takes nothing new
	NodeDown    NodeState = "down"
	NodeUnknown NodeState = "unknown" // the manager has not heard of it for a while
)

// ManagedNode is a node of a Look.
type ManagedNode struct {
	Name       string    `json:"name"`
	State      NodeState `json:"state"`
	CPUs       int       `json:"cpus,omitempty"`
	Busy       int       `json:"busy,omitempty"`   // CPUs that are allocated
	Memory     int64     `json:"memory,omitempty"` // bytes
	Features   []string  `json:"features,omitempty"`
	Partitions []string  `json:"partitions,omitempty"`
}

// ManagedPartition is a part of a manager's nodes with its limits.
type ManagedPartition struct {
	Name    string   `json:"name"`
	Longest Duration `json:"longest,omitempty"` // how long work may run there; 0: as long as it likes
}

// ManagedState is the state of a manager's job.
type ManagedState string

// The states of a manager's job.
const (
	ManagedPending ManagedState = "pending"
	ManagedHeld    ManagedState = "held" // pending, and not to be started
	ManagedRunning ManagedState = "running"
	ManagedEnded   ManagedState = "ended"
	ManagedLost    ManagedState = "lost" // it had begun and was lost with its node, certainly before it was over
	ManagedUnknown ManagedState = "unknown"
)

// ManagedJob is a job of a Look. After a crash of the manager another job may get the same
// number, so a job is identified by its name and submit time.
type ManagedJob struct {
	Number      string       `json:"number"`
	Name        string       `json:"name,omitempty"`
	User        string       `json:"user,omitempty"`
	State       ManagedState `json:"state"`
	Why         string       `json:"why,omitempty"` // the manager's word for why it is in that state
	Partition   string       `json:"partition,omitempty"`
	Reservation string       `json:"reservation,omitempty"`
	Count       int          `json:"count"` // nodes
	Nodes       []string     `json:"nodes,omitempty"`
	Exclusive   bool         `json:"exclusive,omitempty"` // shares its nodes with no other
	Limit       Duration     `json:"limit,omitempty"`     // 0: none
	Priority    int64        `json:"priority,omitempty"`
	Submit      Time         `json:"submit,omitempty"`
	Start       Time         `json:"start,omitempty"` // of a pending one: as the manager plans it; 0: it does not say
	End         Time         `json:"end,omitempty"`   // actual, or by the limit
	Exit        int          `json:"exit,omitempty"`
	Signal      int          `json:"signal,omitempty"`
}

// ManagedReservation is a reservation of a Look, ours or another's.
type ManagedReservation struct {
	Name  string   `json:"name"`
	Start Time     `json:"start"`
	End   Time     `json:"end"`
	Nodes []string `json:"nodes"`
	Users []string `json:"users,omitempty"` // who may run in it
}
