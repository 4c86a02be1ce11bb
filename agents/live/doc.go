// Package live runs agents as processes on a network: the same state machines that package
// sim runs in virtual time, each behind an actor of Proto.Actor.
//
// A Host does what package agents asks of a runtime: the facts of a step are on disk before
// anyone learns of their consequences. Commits are grouped: while the disk syncs, messages
// gather, and one sync serves them all. A journal that fails, or an agent that panics, ends
// the process, since its state can no longer be trusted; a restart replays the journal.
// Around the host are discovery by gossip, the directory of who is where, and the links to
// other processes. All queues are bounded, and what happens at each bound is counted
// (Stats).
//
// The package knows neither sites nor brokers, makes no decisions, and treats gossip only
// as a hint. It follows docs/TRANSACTION.md (a fact, then the message), docs/JOURNAL.md
// and, for the clock, docs/FAILURES.md.
package live
