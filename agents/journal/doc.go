// Package journal keeps the facts of one agent on a disk, so that a restart is a
// replay: "a site appends each fact to its journal and syncs before it answers"
// (docs/TRANSACTION.md). A journal is a row of segment files of records, each
// with its length, its number and a checksum; docs/JOURNAL.md has the format.
//
// Append buffers, Sync makes all that was appended durable with one write and
// one sync, Snapshot begins a new segment with an image of the agent's state, so
// that a restart does not read years. A tail that a crash has torn is cut at the
// last whole record; damage before whole records is refused with file and
// offset. Whatever fails once, fails for good: after a failed write or sync
// nobody knows what the disk holds, and the process must stop and replay.
//
// The package knows no agent and no clock, and never throws away a record that
// can be read. It is not safe for concurrent use: a journal belongs to the one
// runtime that hosts its agent.
package journal
