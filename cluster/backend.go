package cluster

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Backend knows nodes and time: which nodes legs have, when their work begins and ends,
// and what else runs there. The Agent, which knows legs and the site, is its only
// caller. A backend reports what happens on the nodes as facts, through its Host. Its
// state follows from those facts, so that after a restart the next life goes on where
// the last one ended.
//
// A backend is deterministic and does no I/O. The simulated ones answer in the same
// step. A real resource manager answers later: its backend keeps what should be there,
// compares that with what it last saw, and removes the difference, one command at a
// time. Commands and queries are messages to a driver, the only part that does I/O; the
// driver's answers come in through Hear. The site repeats a hold until it is answered,
// and a confirmation or a release until it is done, so such a backend may take several
// steps over each of them.
//
// A leg is placed, then confirmed, then released; it may be released at any time,
// placed or not. The process may die between two facts of a step, so any prefix of
// what a backend records must be a state from which it can go on.
type Backend interface {
	// Begin begins a life, the first or one after a restart. Only Replay and Save may
	// be called before it. It restores the state that the facts of earlier lives
	// describe, and feeds the local jobs that have not been taken yet. A lock that no
	// longer has nodes is lost; Begin reports that through Host.Recover.
	Begin(h Host, l Life)
	// Replay applies a fact of an earlier life, recorded at an instant, and returns
	// the latest instant up to which the backend is known to have lived. There is no
	// Host yet, and nothing is decided anew.
	Replay(at grid.Time, f agents.Fact) grid.Time
	// Save adds to an image what the backend keeps apart from the locks.
	Save(f *facts.ClusterImage)

	// Next is the instant at which something is next due without a message, or Never.
	// It is now if a message has caused something that must wait for the other
	// messages of this instant.
	Next() grid.Time
	// Reach is called before each message. The backend carries out whatever was due
	// before now, each at its own instant. If due is set, the alarm for Next has
	// fired, and what is due at now is carried out too.
	Reach(now grid.Time, due bool)
	// Settle is called after each message.
	Settle(now grid.Time)

	// Suits says why such a leg can never be placed, even on empty nodes.
	Suits(m agents.ClusterHold) grid.Reason
	// Place finds nodes for a leg that suits and is not placed yet, and records them;
	// or it changes nothing and says why it cannot. A backend that does not know yet
	// returns Later, and is asked again. If the work of a leg may begin unconfirmed,
	// as on time-shared nodes, Place may begin it at once.
	Place(now grid.Time, m agents.ClusterHold) grid.Reason
	// Elsewhere says what a refused leg could have instead: at most agents.MaxInstead
	// other starts, and at most agents.MaxShifts legs that are in the way.
	Elsewhere(now grid.Time, m agents.ClusterHold) ([]grid.Time, []agents.LegShift)
	// Confirm makes a placed leg's work run in its window; work is nil if the leg
	// brings none. The agent has already recorded the confirmation, and has released
	// the leg that this one replaces.
	Confirm(now grid.Time, leg grid.LegID, work *grid.Handover)
	// Release frees whatever a leg has and ends its work. The leg may not be placed,
	// or not yet. Release reports whether the work may have begun though no fact says
	// so.
	Release(now grid.Time, leg grid.LegID) (begun bool)

	// Show is the state of the nodes with its version, or only what has changed since
	// the version that the site has; if that is current, just the version. No two
	// states of any life share a version.
	Show(have uint64) agents.Snapshot
	// Hear takes a message that is not from the site: from a driver, or from a
	// simulated world. It reports whether the backend knows such messages.
	Hear(now grid.Time, from agents.ID, m agents.Message) bool
	// Audit checks that no node is taken twice at any instant from now on.
	Audit() error
}

// Sleeper is a Backend whose local jobs need no attention for a while. When it is next
// reached it catches up with what was due for them, with the same result.
type Sleeper interface {
	// Wake is the next instant at which something is due that the site must hear of,
	// or Never. It is no earlier than Next.
	Wake() grid.Time
}

// Forecaster is a Backend that can say when local jobs would start.
type Forecaster interface {
	// BestEffort says when each job would probably start that were put at the end of a queue at
	// the instant that Show shows; nil: nothing is known of any. It changes nothing.
	BestEffort([]grid.Queueing) []grid.BestEffort
}

// Later is what Place returns while it does not know whether a leg can be placed. The
// cluster then sends no answer, and its site asks again.
var Later = grid.Reason{Code: "later"}

// Host is what a backend sees of its agent.
type Host interface {
	// Record says that something has happened. The agent applies the fact to its
	// locks, records it, and tells the site what it must know. The facts about a lock
	// are NodesLocked or, where nodes are time-shared, TasksPlaced, which create it;
	// NodesMoved; NodesFreed; and LockMoved, to submitted, running, ended, lost or
	// expired. Other facts are about local jobs and nodes.
	Record(f agents.Fact)
	// Recover is Record for what Begin finds out. The site is told later, with
	// everything else that it has not heard yet.
	Recover(f agents.Fact)
	// Send sends a message to the driver of the nodes.
	Send(to agents.ID, m agents.Message)
	// When is the instant that a fact must state: 0 if it is now.
	When(at grid.Time) grid.Time
}

// Life is what a backend begins with.
type Life struct {
	At      grid.Time // where earlier lives stopped and this one goes on
	Now     grid.Time // of the message that begins this life
	Begun   grid.Time // the zero of the local work's own clock
	Durable bool      // other lives may follow
	Nonce   uint64    // unique to this life; 0 if there is none
	Number  int64     // no smaller than any LockMemory.Agreed so far
	// Locks are those of earlier lives, in order of creation. The backend clears
	// windows that mean nothing to it.
	Locks []*facts.LockMemory
}
