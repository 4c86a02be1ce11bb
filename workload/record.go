package workload

import "github.com/bourse-grid/bourse/grid"

// Field is one of the 18 columns of a record in SWF, counted from 0, or GPUCount.
type Field int

// The fields in the order of the format. Times are in seconds, memory in kilobytes per
// processor. Unknown means that the log does not say.
const (
	JobNumber Field = iota
	SubmitTime
	WaitTime
	RunTime
	AllocatedProcessors
	AverageCPUTime
	UsedMemory
	RequestedProcessors
	RequestedTime // the user's estimate
	RequestedMemory
	Status
	UserID
	GroupID
	Executable
	QueueNumber
	PartitionNumber
	PrecedingJob
	ThinkTime
	GPUCount // that were allocated, or else requested; only tables say it
	fields

	standard = int(GPUCount) // the number of those that SWF has
)

var fieldNames = [fields]string{
	"job number", "submit time", "wait time", "run time", "allocated processors",
	"average CPU time", "used memory", "requested processors", "requested time",
	"requested memory", "status", "user", "group", "executable", "queue",
	"partition", "preceding job", "think time", "GPUs",
}

// String names the field in words.
func (f Field) String() string { return fieldNames[f] }

// Record is one job of a trace. Index it with a Field.
type Record [fields]Number

// Submit is when the job entered the queue, in the trace's own clock.
func (r *Record) Submit() grid.Time { return grid.Time(r[SubmitTime].Millis()) }

// Run is how long the job ran; not above 0 if it never did.
func (r *Record) Run() grid.Duration { return grid.Duration(r[RunTime].Millis()) }

// Estimate is what the user asked for; not above 0 if unknown.
func (r *Record) Estimate() grid.Duration { return grid.Duration(r[RequestedTime].Millis()) }

// Processors is the number allocated or, where that is unknown, requested; not
// above 0 if both are unknown.
func (r *Record) Processors() int {
	if n := r[AllocatedProcessors].Whole(); n > 0 {
		return int(n)
	}
	return int(r[RequestedProcessors].Whole())
}

// NewRecord returns the record of a job drawn from a model: it never waited, it completed,
// and everything else is unknown.
func NewRecord(j grid.LocalJob) Record {
	var r Record
	for f := range r {
		r[f] = Unknown
	}
	r[JobNumber] = Int(j.ID)
	r[SubmitTime] = Millis(int64(j.Submit))
	r[RunTime] = Millis(int64(j.Run))
	r[AllocatedProcessors] = Int(int64(j.Nodes))
	r[RequestedProcessors] = Int(int64(j.Nodes))
	r[RequestedTime] = Millis(int64(j.Estimate))
	r[Status] = Int(1)
	r[UserID] = Int(j.User)
	r[QueueNumber] = Int(int64(j.Queue))
	return r
}

const (
	maxSeconds    = int64(grid.MaxTime) / 1000
	maxProcessors = 1 << 30
)

// Slurm writes these for a number of 32 bits that is infinite, or not set.
const (
	infinite32 = 1<<32 - 1
	notSet32   = 1<<32 - 2
)

// noTime reports whether a number of seconds is one of them: 136 years.
func noTime(n Number) bool {
	v := n.Whole()
	return (v == infinite32 || v == notSet32) && n.scale() == 0
}

// unset makes times unknown that are no times, and counts them.
func (r *Record) unset() (n int) {
	for _, f := range [...]Field{WaitTime, RunTime, AverageCPUTime, RequestedTime} {
		if noTime(r[f]) {
			r[f] = Unknown
			n++
		}
	}
	return n
}

// flaw says what makes a record unusable, "" if it is usable.
func (r *Record) flaw() string {
	if r[SubmitTime].mantissa() < 0 {
		return "submit time " + r[SubmitTime].String() + ": must be a time of 0 or later"
	}
	for _, f := range [...]Field{SubmitTime, RunTime, RequestedTime} {
		if r[f].beyond(maxSeconds) {
			return f.String() + " " + r[f].String() + " is beyond 10^10 seconds"
		}
	}
	for _, f := range [...]Field{AllocatedProcessors, RequestedProcessors} {
		if r[f].beyond(maxProcessors) {
			return f.String() + " " + r[f].String() + " is beyond 2^30"
		}
	}
	return ""
}
