package agents

import "github.com/bourse-grid/bourse"

// The messages between a cluster whose nodes are real and its driver, which speaks
// to their resource manager. A driver carries out one command at a time, in the
// order in which they come, and answers each once; it remembers nothing. An answer
// may be lost with its process: the cluster looks before it asks again.

var driverMessages = []Properties{
	{LookRequest{}, Cluster, Driver, Request, Looked{}},
	{Looked{}, Driver, Cluster, Reply, nil},
	{Command{}, Cluster, Driver, Request, CommandDone{}},
	{CommandDone{}, Driver, Cluster, Reply, nil},
	{OutputRequest{}, Cluster, Driver, Request, Output{}},
	{Output{}, Driver, Cluster, Reply, nil},
}

// LookRequest asks for a look at the resource manager.
type LookRequest struct{ Ref uint64 }

// Looked answers a LookRequest.
type Looked struct {
	Ref     uint64
	Look    *bourse.Look  // must not be changed; nil if it failed
	Failure bourse.Reason // why it did
}

// CommandVerb is what a Command has a manager do.
type CommandVerb string

// The commands. Each is about one reservation and the one job in it, both of the
// same name.
const (
	// Reserve creates the reservation, for the holder alone.
	Reserve CommandVerb = "reserve"
	// Assign gives it to the user whose work it is for, and lets it last unused.
	Assign CommandVerb = "assign"
	// Run submits the work, to start with the window, unless a job of that name is
	// there. Where the manager keeps no reservations it begins the work at once.
	Run CommandVerb = "run"
	// End ends the work: it may clean up for some time, then it is killed.
	End CommandVerb = "end"
	// Delete ends the work and deletes the reservation; that neither is there is a
	// success.
	Delete CommandVerb = "delete"
)

// Command has the driver change one thing in the resource manager.
type Command struct {
	Ref        uint64 // echoed
	Verb       CommandVerb
	Name       string // of the reservation and its job: of no other, ever
	Start, End bourse.Time
	Nodes      []string
	User       string           // Assign, Run: the local account
	Submit     bourse.Time      // End, Delete: of the job as it was seen; 0: not seen
	Number     string           // and its number
	Work       *bourse.Handover // Run: nil reserves without work
	Site       string           // Run: as the work is told
}

// Outcome is how a command went.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"    // says the manager; it may still forget it in a crash
	Denied  Outcome = "denied"  // the manager has refused: read back before it is believed
	Failure Outcome = "failure" // it is not known whether it was done
)

// CommandDone answers a Command.
type CommandDone struct {
	Ref     uint64
	Name    string
	Outcome Outcome
	Reason  bourse.Reason // of what was not done
}

// OutputRequest asks for what work has printed, at most bourse.MaxTail bytes.
type OutputRequest struct {
	Ref  uint64
	Name string
	File string // as the result of the work has it; "": where the driver keeps it
	From int64  // first byte; below 0: the last ones
}

// Output answers an OutputRequest.
type Output struct {
	Ref     uint64
	Name    string
	From    int64 // of Data
	Size    int64 // of the whole output as yet
	Data    []byte
	Failure bourse.Reason
}

// Kind names the message.
func (LookRequest) Kind() string   { return "LookRequest" }
func (Looked) Kind() string        { return "Looked" }
func (Command) Kind() string       { return "Command" }
func (CommandDone) Kind() string   { return "CommandDone" }
func (OutputRequest) Kind() string { return "OutputRequest" }
func (Output) Kind() string        { return "Output" }
