package slurm

import (
	"math"

	"github.com/bourse-grid/bourse/grid"
)

// Unlimited is the limit that is none.
const Unlimited = math.MaxInt32

// Config is what the controller knows before the first job: nodes, partitions, limits and
// the parameters of its schedulers. A Twin does not change it.
type Config struct {
	CPUs         []int // of each node; the nodes are numbered in the order of the cluster
	Partitions   []Partition
	QOS          []QOS
	Assocs       []Assoc // parents first; the first is root. None: no fair share, no limits of associations
	Reservations []Reservation

	Scheduler Scheduler
	Priority  Priority

	KillWait      grid.Duration
	OverTimeLimit grid.Duration
	Epilog        grid.Duration // from the end of a job until its nodes are back
	Limits        bool          // limits are enforced
	QOSLimits     bool          // those of QOS too
}

// Scheduler holds the parameters of the two schedulers (SchedulerParameters).
type Scheduler struct {
	Interval         grid.Duration // bf_interval
	Resolution       grid.Duration // bf_resolution
	Window           grid.Duration // bf_window
	WindowLinear     grid.Duration // bf_window_linear; 0: reaches double
	MaxJobTest       int           // bf_max_job_test
	MaxJobUser       int           // bf_max_job_user; 0: no bound
	MaxJobArrayResv  int           // bf_max_job_array_resv
	QueueDepth       int           // default_queue_depth
	SchedInterval    grid.Duration // sched_interval; below 0: never
	BatchDelay       grid.Duration // batch_sched_delay
	AssocLimitStop   bool          // assoc_limit_stop
	Defer            bool          // defer
	CyclePhase       grid.Time     // when the first backfill cycle may begin
	PassPhase        grid.Time     // when the first periodic pass of the main scheduler begins
	Cycles           []grid.Time   // the instants of backfill cycles, if they are known; else nil
	PriorityInstants grid.Time     // an instant at which priorities were calculated
}

// Priority holds the weights of priority/multifactor.
type Priority struct {
	Multifactor bool // else priority/basic

	Age, Size, FairShare, Partition, QOS int64 // weights

	MaxAge       grid.Duration
	HalfLife     grid.Duration // 0: usage does not decay
	CalcPeriod   grid.Duration
	FavorSmall   bool
	AccrueAlways bool // age counts from the submission
}

// Defaults returns the configuration of a slurm.conf that sets nothing. It has no nodes.
func Defaults() Config {
	return Config{
		Scheduler: Scheduler{Interval: 30 * grid.Second, Resolution: grid.Minute, Window: grid.Day, MaxJobTest: 500,
			MaxJobArrayResv: 20, QueueDepth: 100, SchedInterval: grid.Minute, BatchDelay: 3 * grid.Second},
		Priority: Priority{MaxAge: 7 * grid.Day, HalfLife: 7 * grid.Day, CalcPeriod: 5 * grid.Minute, Multifactor: true},
		KillWait: 30 * grid.Second,
		Epilog:   500 * grid.Millisecond,
	}
}

// Partition is a partition of the nodes.
type Partition struct {
	Name        string
	Nodes       Set
	Tier        int           // PriorityTier
	JobFactor   int64         // PriorityJobFactor
	MaxNodes    int           // Unlimited: none
	MaxTime     grid.Duration // grid.MaxDuration: none
	DefaultTime grid.Duration // 0: MaxTime
}

// Limit returns the time limit of a job that asks for none.
func (p *Partition) Limit() grid.Duration {
	if p.DefaultTime > 0 {
		return p.DefaultTime
	}
	return min(p.MaxTime, 365*grid.Day) // Slurm takes a year for no limit
}

// Limits are those of a QOS or an association. Each is Unlimited if it is not set.
type Limits struct {
	GrpJobs, GrpNodes, GrpCPUs    int           // of all jobs together
	MaxJobs                       int           // of an association
	UserJobs, UserNodes, UserCPUs int           // of each user, in a QOS
	AcctJobs, AcctNodes, AcctCPUs int           // of each account, in a QOS
	JobNodes, JobCPUs             int           // of one job
	JobTime                       grid.Duration // of one job; grid.MaxDuration: none
}

// NoLimits returns limits of which none is set.
func NoLimits() Limits {
	return Limits{Unlimited, Unlimited, Unlimited, Unlimited, Unlimited, Unlimited, Unlimited, Unlimited, Unlimited, Unlimited, Unlimited, Unlimited, grid.MaxDuration}
}

// QOS is a quality of service.
type QOS struct {
	Name        string
	Priority    int64
	UsageFactor int64 // in thousandths: how much a second counts as usage
	Limits
}

// Assoc is an association: an account, or a user in an account.
type Assoc struct {
	Parent  int // its place in the list, less than the association's own; -1 for root
	Account string
	User    string // "" for an account
	Shares  int64
	Usage   int64 // past usage of a user when the run begins, in CPU seconds
	Limits
}

// Reservation keeps nodes for its own jobs.
type Reservation struct {
	Name       string
	Start, End grid.Time
	Nodes      Set

	number int64 // of one that Hold made
}
