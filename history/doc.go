// Package history is the only fold of facts into the history of a job and its transactions.
// It takes the facts of a broker's journal and gives words that every view shares: the API's
// stream, webhooks, "jobs --follow", "explain", "journal show", a run's report and
// docs/EVENTS.md. The states of a job are those of grid.JobState; its turns are listed by
// All, each with the fact behind it. A Transaction is the state of a transaction, and Line
// describes a single fact.
//
// The package never asks an agent, reads a clock or does I/O: facts in, words out.
package history
