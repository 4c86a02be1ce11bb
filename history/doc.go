// Package history is the one fold of facts: what became of a job and of its
// transactions, told from the facts of its broker's journal, in words that every view
// shares. The states of a job are those of bourse.JobState; its turns are those of All,
// each with the fact that it follows from and the state that it leads to. How a
// transaction stands is a Transaction, what a single fact says is its Line. The API's
// stream, webhooks, "jobs --follow", "explain", "journal show", a run's report and
// docs/EVENTS.md take them from here.
//
// The package never asks an agent, reads a clock or does I/O: facts in, words out.
package history
