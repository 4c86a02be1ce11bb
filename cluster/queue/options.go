package queue

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
)

// Named is one of a site's named queues for best-effort jobs.
type Named struct {
	Name      string
	Priority  int   // higher first
	Rate      int64 // thousandths of the base price that its jobs pay
	DelayCost int64 // weight of a delay of its jobs in a reservation's price, in thousandths
	Limits    JobLimits
}

// Limit is the most local jobs that may wait in a group if its options do not say.
const Limit = 100_000

// Oracle forecasts when the jobs of a queue start. It is told of each in the order of what
// happens, before the queue changes; ids are of jobs that have not ended. Nothing that a queue
// does depends on it.
type Oracle interface {
	Submitted(s *backfill.State, x *backfill.Queued, user int64)
	Started(id int64, at grid.Time)
	Ended(id int64, at grid.Time)
	Canceled(id int64)
	// BestEffort says when a job would probably start that entered the queue of the state now.
	BestEffort(s *backfill.State, x *backfill.Queued) grid.BestEffort
}

// Options say how a group serves its local jobs.
type Options struct {
	Nodes  int
	Policy backfill.Policy
	Start  grid.Time // when the queue opens; no job is submitted earlier
	Zero   grid.Time // of the clock that orders by formula read
	// Queues are the named queues, indexed by LocalJob.Queue; an index beyond them
	// means the first. None: one queue of priority 0 and delay cost 1.
	Queues []Named
	// Extend lets a job outlive its estimate: its planned end is moved by the same
	// estimate again, unless a reservation needs the nodes. If it cannot be moved, or
	// without Extend, the job is killed.
	Extend bool
	// Limit is the most jobs that may wait; 0: the constant Limit. More are refused,
	// since demand above capacity would make the queue grow without end.
	Limit int
	// EachEvent has the queue looked at after each end and each arrival. Otherwise it is once an
	// instant, after all of them.
	EachEvent bool
	// Estimates says by which run times jobs are planned. In any case they may run for
	// their own estimates.
	Estimates estimates.Rule
	// HalfLife is the time after which only half of a user's past use counts, if the
	// policy asks for it; 0: fairshare.HalfLife.
	HalfLife grid.Duration
	// Limits are for all local jobs together; each queue has its own too. The price of
	// a reservation ignores them: it plans the queue as if there were none.
	Limits JobLimits
	// Oracle, if not nil, forecasts the jobs that have to wait. Not with Slurm or Promises.
	Oracle Oracle
	// Slurm, if not nil, says which jobs start.
	Slurm *Slurm
	// Promises, if not nil, replace the queue: every local job has a slot. Policy,
	// Queues and Extend are then ignored.
	Promises *PromiseOptions
}
