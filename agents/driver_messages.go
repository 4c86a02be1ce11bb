package agents

import "github.com/bourse-grid/bourse/grid"

// The messages between a cluster of real nodes and its driver, which talks to their
// resource manager. A driver carries out one command at a time, in order of arrival, and
// answers each once. It remembers nothing. An answer may be lost with its process, so the
// cluster looks before it asks again.

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
	Look    *grid.Look  // must not be changed; nil if it failed
	Failure grid.Reason // why it failed
}

// CommandVerb says what a Command makes a manager do.
type CommandVerb string

// The commands. Each is about one reservation and the one job in it; both have the same
// name.
const (
	// Reserve creates the reservation, for the holder alone.
	Reserve CommandVerb = "reserve"
	// Assign gives the reservation to the user whose work it is for, and keeps it even if
	// unused.
	Assign CommandVerb = "assign"
	// Run submits the work to start with the window, unless a job of that name is there. If
	// the manager keeps no reservations, Run starts the work at once.
	Run CommandVerb = "run"
	// End ends the work. It has some time to clean up and is then killed.
	End CommandVerb = "end"
	// Delete ends the work and deletes the reservation. It succeeds if neither is there. Of a
	// pilot it is the word to leave, running or not.
	Delete CommandVerb = "delete"
	// Claim submits a pilot, unless a job of that name is there: a job that holds Count nodes
	// of Group for at most Limit, and idles. Idling of its own accord, it leaves Granted after
	// its begin.
	Claim CommandVerb = "claim"
	// Grant lets a pilot idle until Granted after its begin. A grant only grows: a smaller one
	// changes nothing, and is done.
	Grant CommandVerb = "grant"
)

// Work may be run in a pilot that runs: Command.In. The pilot decides once between that and
// leaving, so the work begins at most once and never after it has left; it is denied then. From
// then on looks show two jobs: the pilot, which runs until the work is over, and the work with
// its own name, the pilot's number and ManagedJob.In.

// Command tells the driver to change one thing in the resource manager.
type Command struct {
	Ref        uint64 // echoed
	Verb       CommandVerb
	Name       string // of the reservation and its job; never used for any other
	Start, End grid.Time
	// Padding is the part of the time before End in which no work runs. A limit on how
	// long work may run does not count it.
	Padding grid.Duration // Reserve, Assign
	Nodes   []string
	// Part is what a leg takes of each node, if not all of it: slices, and what its work may use.
	// Its reservation must bear others of ours on its nodes; if it Joins some, their work may run
	// there.
	Part    grid.LegPart   // Reserve, Run
	Joins   bool           // Reserve
	User    string         // Assign, Run, Claim: the local account
	Submit  grid.Time      // End, Delete: of the job as last seen; 0 if not seen
	Number  string         // End, Delete: number of that job
	Work    *grid.Handover // Run: nil reserves without work
	Site    string         // Run: the site's name, for the work
	Options []string       // Run, Claim: of the submission, in the manager's own words, as the site's file has them
	In      string         // Run: the name of the pilot that becomes the work; "": none
	Group   string         // Claim: where the nodes are
	Count   int            // Claim: nodes
	Limit   grid.Duration  // Claim: the job's time limit
	Granted grid.Duration  // Claim, Grant: from the pilot's begin by its manager
}

// Outcome is how a command went.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"    // according to the manager, which may still forget it in a crash
	Denied  Outcome = "denied"  // the manager has refused: look before relying on it
	Failure Outcome = "failure" // unknown whether it was done
)

// CommandDone answers a Command.
type CommandDone struct {
	Ref     uint64
	Name    string
	Outcome Outcome
	Reason  grid.Reason // why it was not done
}

// OutputRequest asks for what work has printed, or for the files of its folder, at most
// grid.MaxTail bytes. The source has been checked.
type OutputRequest struct {
	Ref    uint64
	Name   string
	File   string // as in the result of the work; "": the driver's own place
	Source grid.Source
	From   int64 // first byte of output or of a file; below 0: counted from the end
}

// Output answers an OutputRequest.
type Output struct {
	Ref     uint64
	Name    string
	What    grid.Reading // of the request
	From    int64        // of Data
	Size    int64        // of the whole so far; of a list, the number of files seen
	Data    []byte       // of a digest, its 32 bytes
	Files   []grid.WorkFile
	Failure grid.Reason
}

// Kind names the message.
func (LookRequest) Kind() string   { return "LookRequest" }
func (Looked) Kind() string        { return "Looked" }
func (Command) Kind() string       { return "Command" }
func (CommandDone) Kind() string   { return "CommandDone" }
func (OutputRequest) Kind() string { return "OutputRequest" }
func (Output) Kind() string        { return "Output" }
