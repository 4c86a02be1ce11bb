package cluster

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Backend knows nodes and time: where legs lie, when their work begins and ends,
// what else runs there. The Agent knows legs and the site, and is the only one to
// call it. A backend tells what happens on the nodes by facts, through its Host.
// Its state follows from these, so that after a restart the next life goes on
// where the last one ended.
//
// A backend is deterministic and does no I/O. The simulated ones answer in the
// step in which they are asked. A real resource manager answers later: its
// backend compares what should be there, which it keeps, with what it has last
// seen there, and removes the difference, one command at a time. Commands and
// queries are messages to a driver, the only part with I/O; the driver's answers
// come in by Hear. The site repeats a hold until it has an answer, a confirmation
// and a release until they are done, so that such a backend may take several
// steps over each of them.
//
// A leg is placed, then confirmed, then released; it may be released at any time,
// placed or not. Between two facts of a step the process may die: any prefix of
// what a backend records must be a state to go on from.
type Backend interface {
	// Begin begins a life, the first or one after a restart, before anything else
	// is asked but Replay and Save. It puts back what the facts of earlier lives
	// say, and feeds the local jobs that have not been taken yet. A lock for
	// which there are no nodes any more is lost; Begin says so by Host.Recover.
	Begin(h Host, l Life)
	// Replay takes in a fact of an earlier life, recorded at an instant, and
	// returns the latest instant up to which the backend is known to have lived.
	// It has no Host yet, and decides nothing anew.
	Replay(at bourse.Time, f agents.Fact) bourse.Time
	// Save adds to an image what the backend keeps beside the locks.
	Save(f *bourse.ClusterImage)

	// Next is the next instant at which something is due by itself, Never if
	// nothing is. It is now if a message has caused something that waits for the
	// other messages of this instant.
	Next() bourse.Time
	// Reach comes before each message. The backend lives through what has been due
	// before now, at its own instants; where due, the alarm for Next has come, and
	// what is due at now is done too.
	Reach(now bourse.Time, due bool)
	// Settle comes after each message.
	Settle(now bourse.Time)

	// Suits says why such a leg can never be placed, whoever else is there.
	Suits(m agents.ClusterHold) bourse.Reason
	// Place finds nodes for a leg that suits and is not placed and records where, or
	// says why it cannot, and has changed nothing. A backend that does not know yet says
	// Later, and is asked again. If the work of a leg may begin
	// unconfirmed, as on time-shared nodes, it may do so at once.
	Place(now bourse.Time, m agents.ClusterHold) bourse.Reason
	// Elsewhere says what a leg that was refused could have instead: other starts,
	// and legs that are in the way; at most agents.MaxInstead and agents.MaxShifts.
	Elsewhere(now bourse.Time, m agents.ClusterHold) ([]bourse.Time, []agents.LegShift)
	// Confirm has a placed leg's work run in its window, or nothing where it brings
	// none. The agent has recorded that already, and has released the leg that this
	// one replaces.
	Confirm(now bourse.Time, leg bourse.LegID, work *bourse.Handover)
	// Release frees what there is of a leg, which may not be placed, or not yet. Its
	// work ends. It reports whether that may have begun, though no fact says so.
	Release(now bourse.Time, leg bourse.LegID) (begun bool)

	// Show is the state of the nodes with its version, which no two states of any
	// life have in common, or what has changed since the one the site has; nothing
	// but the version if that is the same.
	Show(have uint64) agents.Snapshot
	// Hear takes a message that is not from the site: of a driver, or from a
	// simulated world. It reports whether the backend knows such messages.
	Hear(now bourse.Time, from agents.ID, m agents.Message) bool
	// Audit checks that no node is taken twice at any instant from now on.
	Audit() error
}

// Sleeper is a Backend whose local jobs can be left to themselves for a while: it lives
// through what was due of them when it is next reached, and nothing else is another for
// that.
type Sleeper interface {
	// Wake is the next instant at which something is due that the site hears of, Never if
	// there is none. It is no earlier than Next.
	Wake() bourse.Time
}

// Later is what Place says of a leg that may or may not be placed: no answer leaves
// the cluster, and its site asks again.
var Later = bourse.Reason{Code: "later"}

// Host is what a backend sees of its agent.
type Host interface {
	// Record says that something has happened. The agent brings its locks up to
	// it, keeps it, and tells the site what that must know. Of a lock these are
	// NodesLocked or, where nodes are time-shared, TasksPlaced, which make it;
	// NodesMoved; NodesFreed; and LockMoved, to submitted, running, ended, lost or
	// expired.
	// Other facts are of local jobs and of nodes.
	Record(f agents.Fact)
	// Recover does the same for what Begin finds out. The site is told of it
	// later, with all else that it has not heard yet.
	Recover(f agents.Fact)
	// Send sends a message to the driver of the nodes.
	Send(to agents.ID, m agents.Message)
	// When is what a fact says of its own instant: nothing, 0, if that is now.
	When(at bourse.Time) bourse.Time
}

// Life is what a backend begins with.
type Life struct {
	At      bourse.Time // up to which earlier lives have lived; this one goes on from there
	Now     bourse.Time // of the message that begins it
	Begun   bourse.Time // the zero of the local work's own clock
	Durable bool        // others will follow
	Nonce   uint64      // of no other life; 0 if there is none
	Number  int64       // at least as large as any of LockMemory.Agreed there was
	// Locks are those of earlier lives, in the order in which they were made. The
	// backend clears windows that mean nothing to it.
	Locks []*bourse.LockMemory
}
