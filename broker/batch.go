package broker

import (
	"cmp"
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
)

// JobState is where a job stands with its broker.
type JobState uint8

// The states of a job.
const (
	Waiting   JobState = iota // for a cycle
	Trying                    // a transaction of it is undecided
	Placed                    // COMMIT is recorded
	Done                      // all its legs have ended
	Abandoned                 // it can never be placed
)

var jobStates = [...]string{"waiting", "trying", "placed", "done", "abandoned"}

// String names the state.
func (s JobState) String() string { return jobStates[s] }

// job is a job and what has become of it.
type job struct {
	bourse.Job
	state  JobState
	fresh  bool          // no cycle has looked at it yet
	due    bool          // the next batch takes it
	taken  bool          // the cycle under way looks at it
	reason bourse.Reason // why it is not placed
	last   *transaction  // its latest try
}

// before is the order in which jobs are served: priority, higher first, then
// submission, then name.
func (j *job) before(o *job) int {
	return cmp.Or(cmp.Compare(o.Priority, j.Priority), cmp.Compare(j.Submit, o.Submit), cmp.Compare(j.Name, o.Name))
}

// queue is the jobs that are not placed, in serving order. A job that a cycle
// has placed or given up stays in the list until the cycle closes.
type queue struct {
	jobs    []*job
	waiting int // jobs in state Waiting or Trying
	fresh   int
	due     int
}

// insert adds j as a fresh job. The order is total, so what is found there is j
// itself, not yet swept.
func (q *queue) insert(j *job) {
	i, there := slices.BinarySearchFunc(q.jobs, j, (*job).before)
	if !there {
		q.jobs = slices.Insert(q.jobs, i, j)
	}
	q.waiting++
	j.fresh = true
	q.fresh++
}

// call makes jobs due: the fresh ones, or all that wait. What the cycle under
// way looks at is left to the next call.
func (q *queue) call(all bool) {
	for _, j := range q.jobs {
		if !j.due && !j.taken && (all || j.fresh) {
			j.due = true
			q.due++
		}
	}
}

// take appends the first n due jobs to batch.
func (q *queue) take(batch []*job, n int) []*job {
	for _, j := range q.jobs {
		if len(batch) == n || q.due == 0 {
			break
		}
		if !j.due {
			continue
		}
		j.due, j.taken = false, true
		q.due--
		q.look(j)
		batch = append(batch, j)
	}
	return batch
}

// look notes that a cycle has looked at j.
func (q *queue) look(j *job) {
	if j.fresh {
		j.fresh = false
		q.fresh--
	}
}

// sweep drops the jobs that no longer wait.
func (q *queue) sweep() {
	if len(q.jobs) > q.waiting {
		q.jobs = slices.DeleteFunc(q.jobs, func(j *job) bool { return j.state > Trying })
	}
}

// submit takes a job or says why not, and calls the fresh ones when they fill a batch.
func (b *Broker) submit(now bourse.Time, from agents.ID, m agents.Submit, out *agents.Outbox) {
	j := m.Job
	j.Submit = now
	r := b.normalise(now, &j)
	if from != "" {
		out.Send(from, agents.SubmitReply{Job: j.Name, Reason: r})
	}
	if r.Refused() {
		b.record(bourse.SubmissionRefused{Job: j.Name, User: j.User, Reason: r}, out)
		return
	}
	b.record(bourse.JobSubmitted{Job: j}, out)
	if b.queue.fresh >= b.cfg.BatchSize {
		b.queue.call(false)
		b.follow = max(b.follow, 1)
	}
}

// normalise fills in what a job leaves to defaults, and refuses what makes no
// sense.
func (b *Broker) normalise(now bourse.Time, j *bourse.Job) bourse.Reason {
	if j.Deadline == 0 {
		j.Deadline = bourse.Never
	}
	if r := sense(now, j); r.Refused() {
		return r
	}
	switch {
	case j.Budget == 0:
		j.Budget = j.DefaultBudget()
	case j.MaxPrice == 0:
		j.MaxPrice = j.PriceWithin()
	}
	switch old, known := b.names[j.Name]; {
	case known:
		return reason(bourse.Conflict, "a job named %q was submitted at %v; names are unique per broker", j.Name, old.Submit)
	case j.Budget > bourse.MaxBudget:
		return reason(bourse.Invalid, "budget %v is above %v credits", j.Budget, bourse.MaxBudget)
	case b.queue.waiting >= b.cfg.MaxQueue:
		return reason(bourse.QueueFull, "%d jobs already wait, the most that %s takes", b.queue.waiting, b.cfg.Name)
	}
	return bourse.Reason{}
}

// sense checks a job by itself.
func sense(now bourse.Time, j *bourse.Job) bourse.Reason {
	switch {
	case j.Name == "":
		return reason(bourse.Invalid, "the job has no name")
	case j.Nodes < 1 || j.Nodes > maxNodes:
		return reason(bourse.Invalid, "nodes %d is outside 1..%d", j.Nodes, maxNodes)
	case j.Length <= 0 || j.Length > bourse.MaxDuration:
		return reason(bourse.Invalid, "length %v is outside 0.001..%v seconds", j.Length, bourse.MaxDuration)
	case j.Run < 0 || j.Run > bourse.MaxDuration:
		return reason(bourse.Invalid, "run %v is outside 0..%v seconds", j.Run, bourse.MaxDuration)
	case j.MinPerformance <= 0 || j.MinPerformance > bourse.MaxPerformance:
		return reason(bourse.Invalid, "min_performance %v is outside 0.001..%v", j.MinPerformance, bourse.MaxPerformance)
	case j.MaxPrice < 0 || j.MaxPrice > bourse.MaxPrice:
		return reason(bourse.Invalid, "max_price %v is outside 0..%v credits per node-hour", j.MaxPrice, bourse.MaxPrice)
	case j.Budget < 0 || j.Budget > bourse.MaxBudget:
		return reason(bourse.Invalid, "budget %v is outside 0..%v credits", j.Budget, bourse.MaxBudget)
	case j.Ready > bourse.MaxTime:
		return reason(bourse.Invalid, "ready %v is after %v", j.Ready, bourse.MaxTime)
	case j.Deadline <= max(now, j.Ready):
		return reason(bourse.Expired, "deadline %v is not after now %v and ready %v", j.Deadline, now, j.Ready)
	}
	return bourse.Reason{}
}

// maxNodes bounds what one job may ask for.
const maxNodes = 1_000_000

func reason(code bourse.Code, format string, args ...any) bourse.Reason {
	return bourse.Reason{Code: code, Detail: fmt.Sprintf(format, args...)}
}
