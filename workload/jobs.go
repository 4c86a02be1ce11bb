package workload

import "github.com/bourse-grid/bourse/grid"

// JobOptions say which records become jobs, and how. The zero value takes all that ran and
// kills them at their estimates.
type JobOptions struct {
	// Span keeps only records submitted less than Span after the Zero of the trace; 0
	// keeps all.
	Span grid.Duration
	// KeepZero keeps jobs that never ran (run of 0 or less), with a run of zero and, if
	// they have no estimate, an estimate of zero. Otherwise they are dropped.
	KeepZero bool
	// Extend lets a job run longer than its estimate. Otherwise its run is cut there, as on
	// a site that kills overruns.
	Extend bool
}

// Tally counts what became of the records of a trace.
type Tally struct {
	Jobs         int // that were kept
	Later        int // dropped: submitted after the span
	NeverRan     int // dropped, or kept with a run of zero
	NoProcessors int // dropped: neither allocated nor requested processors are known
	NoEstimate   int // kept, with the run as estimate
	Cut          int // kept: the run is cut at the estimate
	Logged       Logged
}

// Logged is how the kept jobs fared on the machine of the log. It counts those whose record
// says how long they waited.
type Logged struct {
	Jobs      int
	wait      grid.Duration // sums
	slowdowns float64
}

// SlowdownBound keeps very short jobs from dominating a bounded slowdown.
const SlowdownBound = 10 * grid.Second

// add counts a record.
func (l *Logged) add(r *Record) {
	wait, run := grid.Duration(r[WaitTime].Millis()), max(r.Run(), 0)
	if wait < 0 {
		return
	}
	l.Jobs++
	l.wait += wait
	l.slowdowns += max(1, (wait+run).Seconds()/max(run, SlowdownBound).Seconds())
}

// MeanWait returns the mean wait in seconds, 0 without jobs.
func (l *Logged) MeanWait() float64 { return l.wait.Seconds() / float64(max(l.Jobs, 1)) }

// BoundedSlowdown returns the mean over the jobs, 0 without jobs.
func (l *Logged) BoundedSlowdown() float64 { return l.slowdowns / float64(max(l.Jobs, 1)) }

// Jobs turns the records into jobs, in order. Processors are those allocated, else those
// requested. An estimate of 0 or less becomes the run. Times are in the trace's own clock,
// and an unknown queue is queue 0.
func (t *Trace) Jobs(opt JobOptions) ([]grid.LocalJob, Tally) {
	var tally Tally
	end := grid.Never
	if opt.Span > 0 && len(t.Records) > 0 {
		end = t.Zero().Add(opt.Span)
	}
	jobs := make([]grid.LocalJob, 0, t.within(end))
	for i := range t.Records {
		if j, kept := opt.job(&t.Records[i], end, &tally); kept {
			jobs = append(jobs, j)
		}
	}
	return jobs, tally
}

// job makes a job out of a record, if it is kept: one submitted before end.
func (opt *JobOptions) job(r *Record, end grid.Time, tally *Tally) (grid.LocalJob, bool) {
	j := grid.LocalJob{
		ID:       r[JobNumber].Whole(),
		Submit:   r.Submit(),
		Run:      max(r.Run(), 0),
		Estimate: r.Estimate(),
		Nodes:    r.Processors(),
		Queue:    int(max(r[QueueNumber].Whole(), 0)),
		User:     r[UserID].Whole(),
	}
	if j.Submit >= end {
		tally.Later++
		return j, false
	}
	if j.Run == 0 {
		tally.NeverRan++
		if !opt.KeepZero {
			return j, false
		}
	}
	if j.Nodes <= 0 {
		tally.NoProcessors++
		return j, false
	}
	if j.Estimate <= 0 {
		tally.NoEstimate++
		j.Estimate = j.Run
	}
	if j.Run > j.Estimate && !opt.Extend {
		tally.Cut++
		j.Run = j.Estimate
	}
	tally.Jobs++
	tally.Logged.add(r)
	return j, true
}

// within counts the records submitted before end.
func (t *Trace) within(end grid.Time) int {
	if end == grid.Never {
		return len(t.Records)
	}
	n := 0
	for i := range t.Records {
		if t.Records[i].Submit() < end {
			n++
		}
	}
	return n
}

// FromJobs makes the trace of a model's jobs; see NewRecord.
func FromJobs(h Header, jobs []grid.LocalJob) *Trace {
	t := &Trace{Header: h, Records: make([]Record, len(jobs))}
	for i, j := range jobs {
		t.Records[i] = NewRecord(j)
	}
	return t
}
