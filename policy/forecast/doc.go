// Package forecast says when a job would start that is submitted now, to a queue
// that is known: at what instant if every job runs to its requested limit, and with
// what spread if jobs run as much of their limits as jobs of the same users did
// before. It serves the queue on by the site's own policy, job by job, until the new
// one starts.
//
// Nobody who comes later is foreseen: a job that overtakes the new one, by its
// priority or by backfilling, is not in the answer.
//
// It changes nothing that it is given, reads no clock, does no I/O and draws no
// random number of its own.
package forecast
