package slurm

import "github.com/bourse-grid/bourse/grid"

// Job is one job, or one task of an array.
type Job struct {
	ID          int64
	Array       int64 // number of the array; ID if it is none
	Task        int64 // 0 if it is none
	Throttle    int   // tasks of the array that may run at once; 0: no bound
	Submit      grid.Time
	Begin       grid.Time // not before; 0 or less than Submit: at once
	After       []int     // places of jobs that must have ended first
	Any         bool      // one of After is enough
	Held        bool
	Partition   int // places in the configuration
	QOS         int // -1: none
	Assoc       int // -1: none
	Reservation int // -1: none
	User        int // any number; equal for the jobs of one user
	Nodes, CPUs int
	Limit, Run  grid.Duration
	Nice        int64

	// What a controller says of a job that waits, for Resume.
	Priority int64
	Eligible grid.Time // 0: it does not say

	// What the record says, for Follow: when the job started and on which nodes.
	Started grid.Time
	On      Set
}

// open is how many jobs must have ended before it is ready.
func (j *Job) open() int {
	if j.Any {
		return min(len(j.After), 1)
	}
	return len(j.After)
}

// Why says what a job waits for.
type Why uint8

// The words of Slurm. Of two that hold, the first in this list is said.
const (
	Nothing Why = iota // it starts with the next pass
	Held
	Dependency
	BeginTime
	JobArrayTaskLimit
	QOSLimit
	AssocLimit
	Reserved
	Priorities
	Resources
	whys
)

var whyWords = [whys]string{"", "Held", "Dependency", "BeginTime", "JobArrayTaskLimit", "QOSLimit", "AssocLimit", "Reservation", "Priority", "Resources"}

// String is Slurm's word; "" if the job waits for nothing.
func (w Why) String() string { return whyWords[w] }

// By says which scheduler started a job.
type By uint8

// The schedulers.
const (
	ByNone By = iota
	ByMain
	ByBackfill
	ByRecord // as the record has it
)

// String is the word of the column "by".
func (b By) String() string { return [...]string{"", "main", "backfill", "record"}[b] }

// Outcome is what became of a job.
type Outcome struct {
	Start, End grid.Time // Never if it did not
	By         By
	Why        Why // what it last waited for
	On         Set
}

// order compares ready jobs: less than 0 if a comes first. Jobs in a reservation come
// first, then PriorityTier, priority, submission, number and task.
func (t *Twin) order(a, b int) int {
	x, y := &t.jobs[a], &t.jobs[b]
	if xr, yr := x.Reservation >= 0, y.Reservation >= 0; xr != yr {
		if xr {
			return -1
		}
		return 1
	}
	if p, q := t.conf.Partitions[x.Partition].Tier, t.conf.Partitions[y.Partition].Tier; p != q {
		return q - p
	}
	if p, q := t.of(a).priority, t.of(b).priority; p != q {
		return compare(q, p)
	}
	if x.Submit != y.Submit {
		return compare(x.Submit, y.Submit)
	}
	if x.Array != y.Array {
		return compare(x.Array, y.Array)
	}
	if x.Task != y.Task {
		return compare(x.Task, y.Task)
	}
	return a - b
}

func compare[T ~int64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
