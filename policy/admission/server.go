package admission

import (
	"fmt"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Server is a number of nodes under one control, driven by its owner in virtual time.
// Within one instant the order is: Advance, which returns what ends; End for cancellations;
// Arrive for new jobs; Pass, which returns what starts and what is dropped. Any later
// change in that instant needs another Pass.
//
// Moving the time back or beyond Next, and adding an id that is already there, panic. A
// Server is not safe for concurrent use.
type Server interface {
	// Now returns the instant of the last Advance.
	Now() grid.Time
	// Try returns what Arrive would return now, and changes nothing.
	Try(j Job) Decision
	// Arrive accepts the job or refuses it. run is how long one of its tasks really takes
	// alone on a node of performance 1, at least 1 ms. For a job with an unknown end it is
	// grid.MaxDuration, and End must end the job.
	Arrive(j Job, run grid.Duration) Decision
	// End removes a job, whether it waits or runs; false if there is none.
	End(id int64) bool
	// Next returns the next instant at which something happens by itself, or Never.
	Next() grid.Time
	// Advance moves the time to now, at most Next, and returns the jobs whose last task
	// ends then, by id. The list is valid until the next call.
	Advance(now grid.Time) []Event
	// Pass starts and drops waiting jobs, and returns that in order. The list is valid
	// until the next call. It does nothing on time-shared nodes, where a job starts on
	// arrival.
	Pass() []Event
	// Nodes returns the nodes that a job runs on, nil if it waits. The list is valid until
	// the next change.
	Nodes(id int64) []int
	// Place, Save and Restore refill a server after a restart.
	Place(j Job, run grid.Duration, nodes []int) bool
	Save(m *facts.ServerMemory)
	Restore(m *facts.ServerMemory) (lost []int64)
	// Audit checks the invariants. Tests call it.
	Audit() error
}

// Decision is the outcome for an arriving job.
type Decision struct {
	// Nodes are the numbers, from 0, of the nodes that serve the job; nil if it waits or is
	// refused. The list is valid until the next call.
	Nodes  []int
	Short  int         // how many more suitable nodes it would have needed
	Reason grid.Reason // why it is refused; Code None if it is not
}

// Event is something that happens to a job without its owner's doing.
type Event struct {
	Job    int64
	Kind   EventKind
	Reason grid.Reason // why it is dropped
}

// EventKind says what happens.
type EventKind uint8

const (
	Started EventKind = iota // after a wait
	Ended                    // its last task has ended
	Dropped                  // after a wait, as it can no longer meet its deadline
)

// Options describe a server.
type Options struct {
	Control Control
	Nodes   []grid.Performance // performance of each node; 1 to MaxNodes of them
	// RefuseLoneLate makes LibraRisk also refuse a job on an empty node if its estimate
	// lies beyond its deadline. Estimates are mostly too long, so such jobs mostly end in
	// time; where estimates are true, accepting them is useless.
	RefuseLoneLate bool
	// OverrunBare gives a task that has run past its estimate on a time-shared node the
	// capacity beyond the bare shares of the others, which get no more than those shares.
	// Without it the others divide the whole node among themselves, and such a task gets
	// nothing until only tasks like it are left. A job that overruns by seconds may then
	// wait for as long as new ones keep coming.
	OverrunBare bool
	// Tasks bounds the tasks on a time-shared node; 0 for DefaultTasks. A full node accepts
	// no more jobs.
	Tasks int
	// Queue bounds the waiting jobs under EDF; 0 for DefaultQueue. Further ones are refused
	// as grid.QueueFull.
	Queue int
}

// Bounds of a server: the most nodes, and the tasks and waiting jobs where it names none.
const (
	MaxNodes     = 1 << 20
	DefaultTasks = 1000
	DefaultQueue = 100_000
)

// New returns an empty server at the instant now. Options out of range are an error.
func New(opt Options, now grid.Time) (Server, error) {
	if n := len(opt.Nodes); n < 1 || n > MaxNodes {
		return nil, fmt.Errorf("%s: must be 1 to %d", grid.Count(n, "node"), MaxNodes)
	}
	for i, p := range opt.Nodes {
		if p <= 0 || p > grid.MaxPerformance {
			return nil, fmt.Errorf("node %d has performance %v: must be above 0 and up to %v", i, p, grid.MaxPerformance)
		}
	}
	if opt.Tasks < 0 || opt.Queue < 0 {
		return nil, fmt.Errorf("bounds of %d tasks on a node and %s that wait: must be 1 or more, or 0 for the defaults", opt.Tasks, grid.Count(opt.Queue, "job"))
	}
	if opt.Tasks == 0 {
		opt.Tasks = DefaultTasks
	}
	if opt.Queue == 0 {
		opt.Queue = DefaultQueue
	}
	if opt.Control.TimeShared() {
		return newShares(opt, now), nil
	}
	return newQueue(opt, now), nil
}

// impossible refuses a job that is invalid or larger than the server.
func impossible(j *Job, now grid.Time, nodes int) Decision {
	if err := j.Check(now); err != nil {
		return Decision{Reason: grid.Reason{Code: grid.Invalid, Detail: err.Error()}}
	}
	if j.Nodes > nodes {
		return Decision{Short: j.Nodes - nodes, Reason: grid.Reason{Code: grid.TooLarge,
			Detail: fmt.Sprintf("the job needs %s, there are %d", grid.Count(j.Nodes, "node"), nodes)}}
	}
	return Decision{}
}

// checkAdvance panics if time runs back, or beyond the next event.
func checkAdvance(from, to, next grid.Time) {
	if to < from || to > next {
		panic(fmt.Sprintf("admission: time moves from %v to %v, and something happens at %v", from, to, next))
	}
}
