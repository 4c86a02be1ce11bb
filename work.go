package bourse

// Work is what a job runs in its windows, on a cluster whose nodes are real. A
// simulated one does not look at it.
type Work struct {
	Command []string `json:"command,omitempty"` // a program and its arguments; or
	Script  string   `json:"script,omitempty"`  // a program's text, with its #! line; at most MaxScript bytes
	Env     []EnvVar `json:"env,omitempty"`     // by name
	Dir     string   `json:"dir,omitempty"`     // where it begins; "": where the cluster keeps its output
	// Output is where its output goes: a path with %j for the job and %l for the
	// leg, relative to Dir; "": where the cluster keeps it.
	Output string `json:"output,omitempty"`
	// Rendezvous has the first leg's site serve a place where the legs tell each
	// other their addresses.
	Rendezvous bool `json:"rendezvous,omitempty"`
}

// EnvVar is one variable of a work's environment.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Bounds of a job's work.
const (
	MaxScript = 64 << 10 // bytes of a script, or of a command with its arguments
	MaxEnv    = 256      // variables
	MaxTail   = 64 << 10 // bytes of its output that are handed on
)

// Handover is the work of one leg, with what it has to know of its window.
type Handover struct {
	Work  Work   `json:"work"`
	Job   string `json:"job"`
	User  string `json:"user,omitempty"` // of the VO
	Leg   int    `json:"leg"`            // from 0, in the order of the window's legs
	Legs  int    `json:"legs"`
	Peers []Peer `json:"peers,omitempty"` // the other legs
	// Meeting is host:port of the rendezvous, and Token lets a leg in; "": there is
	// none.
	Meeting string `json:"meeting,omitempty"`
	Token   string `json:"token,omitempty"`
}

// Peer is another leg of the same window.
type Peer struct {
	Site  string   `json:"site"`
	Nodes []string `json:"nodes,omitempty"` // names; nil where they are simulated
}

// WorkResult is what came of a leg's work. Fields that could not be found out have
// their zero.
type WorkResult struct {
	Begin  Time   `json:"begin,omitempty"`
	End    Time   `json:"end,omitempty"`
	Exit   int    `json:"exit,omitempty"`   // status; of a Signal 128 and its number
	Signal int    `json:"signal,omitempty"` // that ended it
	Known  bool   `json:"known,omitempty"`  // Exit is
	Output string `json:"output,omitempty"` // the file on the cluster
	// Ended says why it ended if not by itself: at its window's end, cancelled,
	// preempted.
	Ended Reason `json:"ended,omitzero"`
}
