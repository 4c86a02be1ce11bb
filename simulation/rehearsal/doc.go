// Package rehearsal plays how a job's parts are gathered at clusters as their logs have them: each
// cluster replays its log under EASY, and pilots stand in its queue as any other job, in others' way.
// The rules are the product's own (policy/gather), "Co-start without rights". A forecast rehearses
// the job at instants of the last weeks, and says what came of it.
package rehearsal
