// Package forecast predicts when a job that is submitted now would start, in a queue
// that is known. There are two answers: the instant if every job runs to its requested
// limit, and the spread if jobs use as much of their limits as earlier jobs of the same
// users did. The package runs the queue by the site's own policy, job by job, until the
// new job starts.
//
// It does not foresee jobs that come later: one that overtakes the new job, by priority
// or by backfilling, is not in the answer.
//
// It does not change its arguments, reads no clock, does no I/O and draws no
// random number of its own.
package forecast
