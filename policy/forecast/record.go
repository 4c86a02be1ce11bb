package forecast

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Recorded is a job of a record of a queue.
type Recorded struct {
	User       string // "": not known
	Nodes      int
	Limit      grid.Duration
	Submit     grid.Time
	Start, End grid.Time // Never: not by the end of the record
}

// Record is what became of the jobs of a queue, in any order.
type Record struct {
	Jobs   []Recorded
	Nodes  int // of the group
	Policy backfill.Policy
}

// Waited counts the jobs that did not start at their submission, and have started.
func (r *Record) Waited() (n int) {
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.usable(r) && j.waited() {
			n++
		}
	}
	return n
}

func (j *Recorded) waited() bool { return j.Submit < j.Start && j.Start < grid.Never }

func (j *Recorded) usable(r *Record) bool {
	return j.Nodes > 0 && j.Nodes <= r.Nodes && j.Limit > 0 && j.Submit <= j.Start && j.Start <= j.End
}

// Learn goes through a record as if it had been there: the last of its waiting submissions are
// forecast in the queue of their instant, which is rebuilt (those run that had started and not
// ended, those wait that were submitted and had not started), and judged once their start was
// known. Jobs that the record shows beyond the group's nodes, or without a limit, are left out.
// random returns the numbers of the i-th submission; told, if not nil, is called with each
// forecast as it is made. It costs the draws of each forecast.
func (f *Forecaster) Learn(r *Record, last, draws int, random func(i int) Random, told func(*Said)) {
	l := learner{f: f, record: r, jobs: slices.Clone(r.Jobs)}
	l.jobs = slices.DeleteFunc(l.jobs, func(j Recorded) bool { return !j.usable(r) })
	slices.SortStableFunc(l.jobs, func(a, b Recorded) int { return cmp.Compare(a.Submit, b.Submit) })
	skip := r.Waited() - last
	for i := range l.jobs {
		j := &l.jobs[i]
		l.until(j.Submit)
		if j.waited() {
			if skip--; skip < 0 {
				if d := f.Draw(l.state(j.Submit), Job{Nodes: j.Nodes, Limit: j.Limit, Place: Last}, draws, random(i)); d != nil {
					if s := f.Calibrator.Say(int64(i), j.Submit, d); told != nil {
						told(s)
					}
				}
			}
		}
		f.Submitted(int64(i), j.User, j.Submit, j.Nodes, j.Limit)
		l.waiting = append(l.waiting, i)
		l.until(j.Submit) // it may start at once
	}
	l.until(grid.Never - 1)
}

// learner is where the walk through a record is.
type learner struct {
	f       *Forecaster
	record  *Record
	jobs    []Recorded // by submit
	waiting []int      // by submit
	running []int
}

// until tells the forecaster of the starts and ends up to an instant, in their order.
func (l *learner) until(now grid.Time) {
	type event struct {
		at   grid.Time
		ends bool
		job  int
	}
	var list []event
	l.waiting = slices.DeleteFunc(l.waiting, func(i int) bool {
		if l.jobs[i].Start > now {
			return false
		}
		list = append(list, event{l.jobs[i].Start, false, i})
		l.running = append(l.running, i)
		return true
	})
	l.running = slices.DeleteFunc(l.running, func(i int) bool {
		if l.jobs[i].End > now {
			return false
		}
		list = append(list, event{l.jobs[i].End, true, i})
		return true
	})
	slices.SortStableFunc(list, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range list {
		if e.ends {
			l.f.Ended(int64(e.job), e.at)
		} else {
			l.f.Started(int64(e.job), e.at)
		}
	}
}

// state is the queue at an instant. What runs beyond its limit ends any moment; what would
// take more nodes than there are is left out.
func (l *learner) state(now grid.Time) *backfill.State {
	g := backfill.New(l.record.Nodes, l.record.Policy, now)
	for _, i := range l.running {
		j := &l.jobs[i]
		g.Resume(backfill.Running{ID: int64(i), Nodes: j.Nodes, Start: j.Start, End: max(j.Start.Add(j.Limit), now+1)})
	}
	for _, i := range l.waiting {
		j := &l.jobs[i]
		g.Arrive(backfill.Queued{ID: int64(i), Nodes: j.Nodes, Estimate: j.Limit, Submit: j.Submit})
	}
	return g.State()
}
