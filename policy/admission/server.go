package admission

import (
	"fmt"

	"github.com/bourse-grid/bourse"
)

// Server is a number of nodes under one control, driven from outside in virtual
// time. Within one instant its owner's order is: Advance, which tells what ends;
// End for what is cancelled; Arrive for what is new; Pass, which tells what
// starts and what is dropped. After anything else in that instant Pass is due
// again.
//
// Time that runs back or beyond Next, and an id that is there already, are a
// panic. A Server is not safe for concurrent use.
type Server interface {
	// Now is the instant of the last Advance.
	Now() bourse.Time
	// Try says what would become of a job that arrived now. It leaves no trace.
	Try(j Job) Decision
	// Arrive takes the job or refuses it. run is how long a task of it really
	// takes on a node of performance 1 to itself, 1 ms or more; a job whose end
	// is not known has bourse.MaxDuration and is ended with End.
	Arrive(j Job, run bourse.Duration) Decision
	// End takes a job away, wherever it stands; false if there is none.
	End(id int64) bool
	// Next is the next instant at which something happens by itself, Never if
	// nothing does.
	Next() bourse.Time
	// Advance moves the time to now, at most Next, and returns the jobs whose
	// last task ends then, by id. The list is good until the next call.
	Advance(now bourse.Time) []Event
	// Pass starts and drops waiting jobs, in the order in which it happens. The
	// list is good until the next call. Time-shared nodes have none: there a job
	// starts as it arrives.
	Pass() []Event
	// Nodes are those that a job runs on, nil if it waits. The list is good until
	// the next change.
	Nodes(id int64) []int
	// Place, Save and Restore fill a server again after a restart.
	Place(j Job, run bourse.Duration, nodes []int) bool
	Save(m *bourse.ServerMemory)
	Restore(m *bourse.ServerMemory) (lost []int64)
	// Audit checks what must hold at all times; tests call it.
	Audit() error
}

// Decision is what becomes of a job that arrives.
type Decision struct {
	// Nodes are the numbers of the nodes that serve the job, from 0; nil if it
	// waits or is refused. The list is good until the next call.
	Nodes  []int
	Short  int           // how many more suitable nodes it would have needed
	Reason bourse.Reason // why it is refused; Code None if it is not
}

// Event is a thing that happens to a job by itself.
type Event struct {
	Job    int64
	Kind   EventKind
	Reason bourse.Reason // why it is dropped
}

// EventKind says what happens.
type EventKind uint8

const (
	Started EventKind = iota // after a wait
	Ended                    // its last task has ended
	Dropped                  // after a wait, as it cannot meet its deadline any more
)

// Options say what a server is.
type Options struct {
	Control Control
	Nodes   []bourse.Performance // of each node; 1 to MaxNodes of them
	// RefuseLoneLate makes LibraRisk refuse a job on an empty node too if its
	// estimate lies beyond its deadline. Estimates are mostly too long, so such
	// jobs mostly end in time; where they are true, accepting them is of no use.
	RefuseLoneLate bool
	// OverrunBare gives a task that has run past its estimate on a time-shared node what
	// the bare shares of the others leave, and these no more than that; without it the
	// others divide the whole node, and such a task has nothing until it is alone with its
	// like. A job that overruns by seconds can so wait for as long as new ones keep coming.
	OverrunBare bool
	// Tasks bounds those on a time-shared node, 0 for DefaultTasks. A node with
	// so many suits no more jobs.
	Tasks int
	// Queue bounds the jobs that wait under EDF, 0 for DefaultQueue. One more is
	// refused as bourse.QueueFull.
	Queue int
}

const (
	MaxNodes     = 1 << 20
	DefaultTasks = 1000
	DefaultQueue = 100_000
)

// New makes an empty server that stands at now.
func New(opt Options, now bourse.Time) (Server, error) {
	if n := len(opt.Nodes); n < 1 || n > MaxNodes {
		return nil, fmt.Errorf("%d nodes: must be 1 to %d", n, MaxNodes)
	}
	for i, p := range opt.Nodes {
		if p <= 0 || p > bourse.MaxPerformance {
			return nil, fmt.Errorf("node %d has performance %v: must be above 0 and up to %v", i, p, bourse.MaxPerformance)
		}
	}
	if opt.Tasks < 0 || opt.Queue < 0 {
		return nil, fmt.Errorf("bounds of %d tasks on a node and %d jobs that wait: must be 1 or more, or 0 for the defaults", opt.Tasks, opt.Queue)
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

// impossible refuses what makes no sense or is larger than the server.
func impossible(j *Job, now bourse.Time, nodes int) Decision {
	if err := j.Check(now); err != nil {
		return Decision{Reason: bourse.Reason{Code: bourse.Invalid, Detail: err.Error()}}
	}
	if j.Nodes > nodes {
		return Decision{Short: j.Nodes - nodes, Reason: bourse.Reason{Code: bourse.TooLarge,
			Detail: fmt.Sprintf("the job needs %d nodes, there are %d", j.Nodes, nodes)}}
	}
	return Decision{}
}

// checkAdvance panics if time runs back, or beyond what happens next.
func checkAdvance(from, to, next bourse.Time) {
	if to < from || to > next {
		panic(fmt.Sprintf("admission: time moves from %v to %v, and something happens at %v", from, to, next))
	}
}
