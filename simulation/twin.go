package simulation

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// RunTwin schedules the jobs of a record, in order of submit, as Slurm's rules say, until
// nothing can happen any more. With cut, jobs end at their limits; otherwise they run as
// long as recorded. progress, if set, is called now and then with the jobs submitted.
func RunTwin(conf *slurm.Config, jobs []slurm.Job, cut bool, progress func(jobs int)) *slurm.Twin {
	t := slurm.New(conf, jobs, slurm.Options{Cut: cut})
	const each = 256
	for i := each; progress != nil && i < len(jobs); i += each {
		t.Until(jobs[i].Submit)
		progress(i)
	}
	t.Run()
	return t
}

// TwinDeviation says how far a twin's starts are from the recorded ones.
type TwinDeviation struct {
	Jobs     int     `json:"jobs"`     // that started in both
	MeanWait float64 `json:"meanWait"` // the mean wait less the recorded one, as a share of that
	// Within is the share of starts at most one bf_interval off; starts in a record are
	// whole seconds, so those of the twin count as such.
	Within         float64 `json:"within"`
	MeanDifference float64 `json:"meanDifference"` // of starts, in s, without sign
}

// DeviateTwin compares a twin's starts with the recorded ones.
func DeviateTwin(t *slurm.Twin, jobs []slurm.Job, interval grid.Duration) TwinDeviation {
	var d TwinDeviation
	var record, waits, differences float64
	for i := range jobs {
		o := t.Outcome(i)
		if o.Start >= grid.Never {
			continue
		}
		d.Jobs++
		record += jobs[i].Started.Sub(jobs[i].Submit).Seconds()
		waits += o.Start.Sub(jobs[i].Submit).Seconds()
		off := apart(o.Start, jobs[i].Started)
		differences += off.Seconds()
		if off <= interval {
			d.Within++
		}
	}
	if d.Jobs > 0 {
		d.Within /= float64(d.Jobs)
		d.MeanDifference = differences / float64(d.Jobs)
	}
	if record > 0 {
		d.MeanWait = (waits - record) / record
	}
	return d
}

// apart is how far a start is from a recorded one, which is cut to whole seconds.
func apart(start, recorded grid.Time) grid.Duration {
	if recorded%1000 == 0 {
		start -= start % 1000
	}
	return max(start.Sub(recorded), recorded.Sub(start))
}

// TwinAhead is how well a twin foretells the next starts from the recorded state.
type TwinAhead struct {
	Every  grid.Duration `json:"every"`  // s
	Starts int           `json:"starts"` // of jobs that waited at an instant, until the next
	Within float64       `json:"within"` // the share that is at most one bf_interval off
}

// RunTwinAhead sets a twin to the recorded state, of the jobs' recorded starts and nodes, at
// every so many seconds, and lets it go on until the next such instant. It costs a copy of
// the waiting and running jobs each.
func RunTwinAhead(conf *slurm.Config, jobs []slurm.Job, every grid.Duration, progress func(jobs int)) TwinAhead {
	a := TwinAhead{Every: every}
	record := slurm.New(conf, jobs, slurm.Options{Follow: true})
	hits := 0
	for at := jobs[0].Submit.Add(every); !record.Over(); at = at.Add(every) {
		record.Until(at)
		end := at.Add(every)
		t := record.Ahead(end)
		from, to := t.Window()
		if progress != nil {
			progress(from)
		}
		var waiting []int
		for i := from; i < to; i++ {
			if t.Waiting(i) && jobs[i].Started <= end {
				waiting = append(waiting, i)
			}
		}
		if len(waiting) == 0 {
			continue
		}
		t.Until(end)
		for _, i := range waiting {
			a.Starts++
			if o := t.Outcome(i); o.Start < grid.Never && apart(o.Start, jobs[i].Started) <= conf.Scheduler.Interval {
				hits++
			}
		}
	}
	if a.Starts > 0 {
		a.Within = float64(hits) / float64(a.Starts)
	}
	return a
}

// Waits are the figures of some jobs' waits, in s.
type Waits struct {
	Jobs   int     `json:"jobs"`
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"` // 95 % wait no longer
}

// WaitsOf returns the figures of waits, which it sorts. A quantile is the least wait that
// so many do not exceed.
func WaitsOf(waits []grid.Duration) Waits {
	w := Waits{Jobs: len(waits)}
	if len(waits) == 0 {
		return w
	}
	slices.Sort(waits)
	var sum grid.Duration
	for _, d := range waits {
		sum += d
	}
	at := func(percent int) float64 { return waits[(len(waits)*percent+99)/100-1].Seconds() }
	w.Mean, w.Median, w.P95 = sum.Seconds()/float64(len(waits)), at(50), at(95)
	return w
}
