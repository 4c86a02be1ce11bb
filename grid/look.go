package grid

import "fmt"

// Look is a snapshot of a cluster's resource manager: its nodes, jobs and reservations.
// Times are by the manager's clock, which may differ from ours by some seconds. A look may
// be old when it is read. What it does not contain is unknown, not free.
type Look struct {
	At           Time                 `json:"at"`           // when it was begun: everything in it is at least as new
	Source       string               `json:"source"`       // the kind and version of the manager, such as "slurm 22.05.8"
	Nodes        []ManagedNode        `json:"nodes"`        // by name
	Jobs         []ManagedJob         `json:"jobs"`         // in the manager's order of priority, running ones first
	Reservations []ManagedReservation `json:"reservations"` // by name

	Partitions []ManagedPartition `json:"partitions,omitempty"` // by name; those that are not here are taken to be up
	Rules      *ManagerRules      `json:"rules,omitempty"`      // nil: not asked for, or not said
}

// String describes the look in a few words.
func (l *Look) String() string {
	return fmt.Sprintf("look of %v: %s, %s, %d reservations", l.At, Count(len(l.Nodes), "node"), Count(len(l.Jobs), "job"), len(l.Reservations))
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
	GRES       string    `json:"gres,omitempty"`     // the manager's words for what else it has, such as "gpu:a100:4"
	GRESUsed   string    `json:"gresUsed,omitempty"` // of which are allocated
	GPUs       int       `json:"gpus,omitempty"`     // those in GRES
	Partitions []string  `json:"partitions,omitempty"`
}

// ManagerRules are what a manager goes by, as its own commands print it; "": it does not say.
type ManagerRules struct {
	Config     string `json:"config"`     // the keys of scontrol show config that decide who starts when
	Partitions string `json:"partitions"` // scontrol show partition -o
	QOS        string `json:"qos"`        // sacctmgr show qos -P
	Assocs     string `json:"assocs"`     // sacctmgr show assoc -P
}

// ManagedPartition is a partition of a Look.
type ManagedPartition struct {
	Name     string   `json:"name"`
	State    string   `json:"state"`              // the manager's word in lower case: "up", "down", "drain", "inactive"
	Default  bool     `json:"default,omitempty"`  // of jobs that name none
	Limit    Duration `json:"limit,omitempty"`    // the longest job; 0: no limit
	MaxNodes int      `json:"maxNodes,omitempty"` // of a job; 0: no limit
	Tier     int      `json:"tier,omitempty"`     // of priority
	QOS      string   `json:"qos,omitempty"`
}

// Starts reports whether jobs that wait in the partition may start.
func (p *ManagedPartition) Starts() bool { return p.State != "down" && p.State != "inactive" }

// ManagedState is the state of a manager's job.
type ManagedState string

// The states of a manager's job.
const (
	ManagedPending ManagedState = "pending"
	ManagedHeld    ManagedState = "held" // pending, and not to be started while the reason lasts
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
	Count       int          `json:"count"`          // nodes
	CPUs        int          `json:"cpus,omitempty"` // of all its nodes; 0: not said
	Nodes       []string     `json:"nodes,omitempty"`
	Exclusive   bool         `json:"exclusive,omitempty"` // shares its nodes with no other
	Limit       Duration     `json:"limit,omitempty"`     // 0: none
	Priority    int64        `json:"priority,omitempty"`
	Submit      Time         `json:"submit,omitempty"`
	Start       Time         `json:"start,omitempty"` // of a pending one: as the manager plans it; 0: it does not say
	End         Time         `json:"end,omitempty"`   // actual, or by the limit
	Exit        int          `json:"exit,omitempty"`
	Signal      int          `json:"signal,omitempty"`
	Granted     Duration     `json:"granted,omitempty"` // of a pilot: how long it may idle from its begin, as it knows itself
	In          string       `json:"in,omitempty"`      // of work in a pilot: the pilot's name
	Unbegun     bool         `json:"unbegun,omitempty"` // ours and not over, and its work has left no sign of having begun

	// What a pending job waits for besides nodes.
	Begin    Time     `json:"begin,omitempty"`    // it does not start before; 0: it may at once
	After    []string `json:"after,omitempty"`    // numbers of jobs that must have ended before; "7_*" are all tasks of array 7
	Any      bool     `json:"any,omitempty"`      // one of After is enough
	Throttle int      `json:"throttle,omitempty"` // so many tasks of its array may run at once; 0: all

	// What the manager says of it that decides when it may start.
	Eligible   Time   `json:"eligible,omitempty"`
	Dependency string `json:"dependency,omitempty"` // in the manager's words
	Account    string `json:"account,omitempty"`
	QOS        string `json:"qos,omitempty"`
	Features   string `json:"features,omitempty"` // constraints on its nodes
	Required   string `json:"required,omitempty"` // nodes that it must have, in short form
	Licences   string `json:"licenses,omitempty"`
	GRES       string `json:"gres,omitempty"` // per node
}

// ManagedReservation is a reservation of a Look, ours or another's.
type ManagedReservation struct {
	Name  string   `json:"name"`
	Start Time     `json:"start"`
	End   Time     `json:"end"`
	Nodes []string `json:"nodes"`
	Users []string `json:"users,omitempty"` // who may run in it
}
