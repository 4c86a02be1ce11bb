// Package driven is a site of one group whose jobs start when somebody outside says so: a
// program in another language, a learner. The world says what has happened, and is told what
// to do. It never shows how long a job will run. It has no clock and does no I/O.
package driven

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation"
)

// Request is what has happened at an instant, with what is free after it. There is one at each
// instant at which a job ends or arrives, or at which the outside wished to be woken.
type Request struct {
	Now     grid.Time
	Free    int
	Ended   []int64 // jobs, in the order of the log
	Arrived []Job   // in the order of the log
}

// Job is what the outside may know of a job.
type Job struct {
	ID       int64
	Nodes    int
	Estimate grid.Duration
	Submit   grid.Time
	User     string // "": unknown
}

// Answer is what to do at the instant of the request: first kill, then reject, then start. A
// killed job's nodes are free at once; no request names its end.
type Answer struct {
	Start  []int64
	Reject []int64
	Kill   []int64
	Wake   grid.Time // when to ask again, if nothing happens before; it replaces an earlier wish. Never: none
}

// mostWakes bounds how often the outside may be woken in a row while nothing happens.
const mostWakes = 1_000_000

// World is a log that is being replayed. Its memory grows with the log.
type World struct {
	jobs    []state
	index   map[int64]int32 // by ID, of the jobs that have arrived
	out     []simulation.Outcome
	nodes   int
	free    int
	now     grid.Time
	next    int // of jobs: the next to arrive
	head    int // of jobs: all before it wait no more
	waiting int
	ends    ends
	wake    grid.Time
	wakes   int // in a row while nothing happened
	refused int
	extend  bool
	request Request
}

// state is where a job of the log stands.
type state uint8

const (
	coming state = iota
	waits
	runs
	ended
	killed
	rejected
)

func (s state) String() string {
	return [...]string{"is unknown", "waits", "runs already", "has ended", "was killed", "was rejected"}[s]
}

// New returns a world of that many nodes. The jobs are in order of submission, and their IDs
// differ. Jobs of more nodes are left out. With extend a job runs on past its estimate;
// otherwise it is killed there. An error names two jobs of one ID.
func New(jobs []grid.LocalJob, nodes int, extend bool) (*World, error) {
	w := &World{index: make(map[int64]int32, len(jobs)), nodes: nodes, free: nodes, wake: grid.Never, extend: extend}
	seen := make(map[int64]bool, len(jobs))
	for _, j := range jobs {
		if seen[j.ID] {
			return nil, fmt.Errorf("two jobs have the number %d; a scheduler knows jobs by their numbers, so give them others", j.ID)
		}
		if seen[j.ID] = true; j.Nodes > nodes {
			w.refused++
			continue
		}
		w.out = append(w.out, simulation.Outcome{Job: j, Start: grid.Never, End: grid.Never})
	}
	w.jobs = make([]state, len(w.out))
	return w, nil
}

// Jobs is how many jobs will arrive.
func (w *World) Jobs() int { return len(w.jobs) }

// Now is the instant of the last request.
func (w *World) Now() grid.Time { return w.now }

// Refused is how many jobs were left out, for their nodes, or rejected.
func (w *World) Refused() int { return w.refused }

// Outcomes are what has become of the jobs, in the order of the log. They are shared.
func (w *World) Outcomes() []simulation.Outcome { return w.out }

// Next moves to the next instant and says what happened there; valid until the next call. ok
// is false once all is over. An error says that jobs wait for ever.
func (w *World) Next() (r *Request, ok bool, err error) {
	for len(w.ends) > 0 && w.jobs[w.ends[0].job] != runs { // it was killed
		heap.Pop(&w.ends)
	}
	t := w.wake
	if len(w.ends) > 0 {
		t = min(t, w.ends[0].at)
	}
	if w.next < len(w.jobs) {
		t = min(t, w.out[w.next].Job.Submit)
	}
	switch {
	case t == grid.Never && w.waiting > 0:
		return nil, false, fmt.Errorf("at %v: %s for ever, job %d first: nothing runs, is due or arrives; start or reject them, or ask for a wake",
			w.now, grid.Count(w.waiting, "job waits", "jobs wait"), w.out[w.first()].Job.ID)
	case t == grid.Never, w.waiting == 0 && len(w.ends) == 0 && w.next == len(w.jobs): // a wish is left, and nothing to do
		return nil, false, nil
	}
	w.now = t
	r = &w.request
	r.Now, r.Ended, r.Arrived = t, r.Ended[:0], r.Arrived[:0]
	if w.wake <= t {
		w.wake = grid.Never
	}
	for len(w.ends) > 0 && w.ends[0].at <= t {
		x := heap.Pop(&w.ends).(end)
		if j := &w.jobs[x.job]; *j == runs {
			*j = ended
			w.free += w.out[x.job].Job.Nodes
			r.Ended = append(r.Ended, w.out[x.job].Job.ID)
		}
	}
	for ; w.next < len(w.jobs) && w.out[w.next].Job.Submit <= t; w.next++ {
		r.Arrived = append(r.Arrived, w.arrive(w.next))
	}
	r.Free = w.free
	if w.wakes++; len(r.Ended) > 0 || len(r.Arrived) > 0 {
		w.wakes = 0
	}
	if w.wakes > mostWakes {
		return nil, false, fmt.Errorf("at %v: woken %d times in a row while nothing happened; wish for fewer wakes", t, mostWakes)
	}
	return r, true, nil
}

// first is the index of the first job that waits, or of the next to arrive.
func (w *World) first() int {
	for w.head < w.next && w.jobs[w.head] != waits {
		w.head++
	}
	return w.head
}

func (w *World) arrive(i int) Job {
	j := &w.out[i].Job
	w.jobs[i] = waits
	w.index[j.ID] = int32(i)
	w.waiting++
	user := ""
	if j.User >= 0 {
		user = strconv.FormatInt(j.User, 10)
	}
	return Job{ID: j.ID, Nodes: j.Nodes, Estimate: j.Limit(), Submit: j.Submit, User: user}
}

// Apply carries out an answer. After an error, which says when, which job and what would be
// right, the world is of no further use.
func (w *World) Apply(a *Answer) error {
	for _, id := range a.Kill {
		if err := w.kill(id); err != nil {
			return err
		}
	}
	for _, id := range a.Reject {
		i, is := w.find(id)
		if is != waits {
			return w.wrong(id, is, "reject", "only jobs that wait can be rejected")
		}
		w.jobs[i] = rejected
		w.waiting--
		w.refused++
	}
	for _, id := range a.Start {
		if err := w.start(id); err != nil {
			return err
		}
	}
	if a.Wake == grid.Never {
		return nil
	}
	if a.Wake <= w.now {
		return fmt.Errorf("at %v: wake %v is not later; leave it out, or give a later instant", w.now, a.Wake)
	}
	w.wake = a.Wake
	return nil
}

// find is the index and the state of a job.
func (w *World) find(id int64) (int32, state) {
	i, known := w.index[id]
	if !known {
		return 0, coming
	}
	return i, w.jobs[i]
}

func (w *World) wrong(id int64, is state, what, right string) error {
	return fmt.Errorf("at %v: %s of job %d, which %v; %s", w.now, what, id, is, right)
}

func (w *World) kill(id int64) error {
	i, is := w.find(id)
	if is != runs {
		return w.wrong(id, is, "kill", "only jobs that run can be killed")
	}
	w.jobs[i] = killed
	w.out[i].End = w.now
	w.free += w.out[i].Job.Nodes
	return nil
}

func (w *World) start(id int64) error {
	i, is := w.find(id)
	if is != waits {
		return w.wrong(id, is, "start", "only jobs that have arrived and wait can be started")
	}
	o := &w.out[i]
	if o.Job.Nodes > w.free {
		return fmt.Errorf("at %v: start of job %d, which needs %s; %d are free; start it once they are", w.now, id, grid.Count(o.Job.Nodes, "node"), w.free)
	}
	switch {
	case w.first() < int(i):
		o.Class = backfill.Backfilled
	case o.Job.Submit == w.now:
		o.Class = backfill.Immediate
	default:
		o.Class = backfill.Waited
	}
	run := max(o.Job.Run, 0)
	if !w.extend {
		run = min(run, o.Job.Limit())
	}
	o.Start, o.End = w.now, w.now.Add(run)
	w.jobs[i] = runs
	w.free -= o.Job.Nodes
	w.waiting--
	heap.Push(&w.ends, end{o.End, i})
	return nil
}

// end is when a job ends, if it is not killed before.
type end struct {
	at  grid.Time
	job int32
}

// ends is a heap, by time, then by place in the log.
type ends []end

func (h ends) Len() int { return len(h) }
func (h ends) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(h[i].at, h[k].at), cmp.Compare(h[i].job, h[k].job)) < 0
}
func (h ends) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *ends) Push(x any)   { *h = append(*h, x.(end)) }
func (h *ends) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = slices.Delete(*h, last, last+1)
	return x
}
