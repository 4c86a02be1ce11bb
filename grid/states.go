package grid

import "slices"

// What a broker knows of its jobs and transactions, in states. A broker's image
// (package facts) holds them as numbers, so the order of each list is that of the
// journals on disk: a new state goes at the end, and none of these types may have a
// MarshalText or MarshalJSON. The states of a leg, which journals spell out, are in
// lease.go.

// JobState is the state of a job at its broker.
type JobState uint8

// The states of a job.
const (
	JobWaiting   JobState = iota // for a cycle
	JobTrying                    // a transaction of it is undecided
	JobPlaced                    // COMMIT is recorded
	JobDone                      // all its legs have ended
	JobAbandoned                 // it can never be placed
	JobWithdrawn                 // its user cancelled it
	JobRunning                   // placed, and a leg of its window has begun: for views, a broker keeps JobPlaced
	JobFailed                    // all its legs have ended, and the work of one of them failed
	JobGathering                 // waiting, and its pilots are gathered: for views, a broker keeps JobWaiting

	AllJobStates int = iota // how many there are
)

// jobStates has the name of each state, and what it means to a user.
var jobStates = [AllJobStates]struct{ name, says string }{
	JobWaiting:   {"waiting", "for a cycle"},
	JobGathering: {"gathering", "its pilots are brought together at sites without reservations"},
	JobTrying:    {"trying", "its transaction is undecided"},
	JobPlaced:    {"placed", "its window is committed"},
	JobRunning:   {"running", "a leg of its window has begun"},
	JobDone:      {"done", "all its legs have ended, and no work failed"},
	JobFailed:    {"failed", "all its legs have ended, and the work of one exited with a status other than 0, was killed at its window's end, or was lost"},
	JobAbandoned: {"abandoned", "it can never be placed, or what it comes after cannot come true any more"},
	JobWithdrawn: {"withdrawn", "its user cancelled it"},
}

// jobOrder is the order in which people see the states: as a job may go through them.
var jobOrder = [AllJobStates]JobState{JobWaiting, JobGathering, JobTrying, JobPlaced, JobRunning, JobDone, JobFailed, JobAbandoned, JobWithdrawn}

// JobStates returns all states of a job, in the order in which a job may go through them.
func JobStates() []JobState { return slices.Clone(jobOrder[:]) }

// ParseJobState reads a state's name.
func ParseJobState(name string) (s JobState, ok bool) {
	for i := range jobStates {
		if jobStates[i].name == name {
			return JobState(i), true
		}
	}
	return 0, false
}

// String names the state.
func (s JobState) String() string { return jobStates[s].name }

// Says explains the state to users, in a few words.
func (s JobState) Says() string { return jobStates[s].says }

// Queued reports whether the job has no window yet and may still get one.
func (s JobState) Queued() bool { return s <= JobTrying || s == JobGathering }

// Open reports whether the job's state may still change by itself.
func (s JobState) Open() bool { return s <= JobPlaced || s == JobRunning || s == JobGathering }

// Ended reports whether the job's window is over: it has run, with or without success.
func (s JobState) Ended() bool { return s == JobDone || s == JobFailed }

// GivenUp reports whether the job is over and has not run to its end.
func (s JobState) GivenUp() bool { return s == JobAbandoned || s == JobWithdrawn }

// Shown is the state that users see of a job that its broker keeps in state s for a reason. A
// job that is given up because of what it comes after is kept as withdrawn, since its legs are
// given back alike; its user has not done that.
func (s JobState) Shown(why Code) JobState {
	if s == JobWithdrawn && why == After {
		return JobAbandoned
	}
	return s
}

// TxState is the state of a transaction at its broker.
type TxState uint8

// The states of a transaction. An image stores undecided ones as TxHolding, because only the
// life that prepares a decision can make it.
const (
	TxHolding   TxState = iota // its legs are asked for
	TxPreparing                // all of several legs are held
	TxCommitted                // COMMIT is recorded
	TxAborted                  // ABORT is recorded
)

var txStates = [...]string{"holding", "preparing", "committed", "aborted"}

// String names the state.
func (s TxState) String() string { return txStates[s] }

// Decided reports whether COMMIT or ABORT is recorded.
func (s TxState) Decided() bool { return s >= TxCommitted }

// txMoves is the state table: which states a transaction may go to from each.
var txMoves = [...][]TxState{
	TxHolding:   {TxPreparing, TxCommitted, TxAborted}, // committed: a window of one leg needs no Prepare
	TxPreparing: {TxCommitted, TxAborted},
	TxCommitted: {TxAborted}, // reversed: it took effect nowhere
	TxAborted:   nil,
}

// CanMove reports whether the state table lets a transaction go from s to next.
func (s TxState) CanMove(next TxState) bool {
	return int(s) < len(txMoves) && slices.Contains(txMoves[s], next)
}

// GivenUp says whether and how the confirmed legs of a transaction must be released.
type GivenUp uint8

// The ways to give up a window. If two apply, the one further down this list counts.
const (
	Kept            GivenUp = iota
	GivenUpByUser           // for the refund that the schedule allows
	GivenUpAsBroken         // for a full refund: the window cannot be made whole
)

var givenUps = [...]string{"kept", "by its user", "as broken"}

// String says in words how the window was given up.
func (g GivenUp) String() string { return givenUps[g] }
