// Package live runs agents as processes on a network: the same state machines
// that package sim runs in virtual time, each behind an actor of Proto.Actor.
//
// A Host carries out what package agents asks of a runtime: the facts of a
// step are on the disk before anybody is told of what follows from them. It is a
// group commit: while the disk syncs, messages gather, and one sync serves them
// all. A journal that fails, or an agent that panics, ends the process, since its state
// could not be trusted; a restart is a replay. Around the host stand discovery by
// gossip, the directory of who is where, and the links to other processes. All
// queues are bounded, and what happens at each bound is counted (Stats).
//
// The package knows no site and no broker, decides nothing, and treats gossip as a hint
// only. It follows docs/TRANSACTION.md (a fact, then the
// message), docs/JOURNAL.md and, for the clock, docs/FAILURES.md.
package live
