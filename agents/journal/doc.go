// Package journal keeps the facts of one agent on a disk, so that a restart is a replay: "a
// site appends each fact to its journal and syncs before it answers" (docs/TRANSACTION.md).
// A journal is a sequence of segment files of records, each with its length, its number and
// a checksum; docs/JOURNAL.md describes the format.
//
// Append buffers. Sync makes everything appended durable with one write and one sync.
// Snapshot begins a new segment with an image of the agent's state, so that a restart need
// not read years of facts. A tail torn by a crash is cut after the last whole record.
// Damage before whole records is refused with file and offset. After a failed write or sync
// it is unknown what the disk holds, so every later call fails too, and the process must
// stop and replay.
//
// The package knows no agent and no clock, and never discards a record that can be read. It
// is not safe for concurrent use: a journal belongs to the one runtime that hosts its
// agent.
package journal
