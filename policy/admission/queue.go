package admission

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Queue is a Server whose nodes run one task at a time, under EDF. Jobs wait in order of
// their deadlines, ties in order of arrival. The head blocks the others, however late it
// is, until enough nodes are free; only then is its deadline checked. An arrival costs the
// logarithm of the queue, a start a walk over the nodes.
//
// A job gets the fastest free nodes, ties by number, and keeps all of them until the
// slowest has finished its part. A running job is never stopped early.
type Queue struct {
	opt     Options
	now     grid.Time
	order   []int  // the nodes, the fastest first
	busy    []bool // by node
	free    int
	seen    int64
	waiting waiting
	running running
	ids     map[int64]struct{} // of waiting and running jobs
	picks   []int
	events  []Event
}

// waiter is a waiting job.
type waiter struct {
	Job
	run grid.Duration
	seq int64 // of arrival
}

// waiting is a heap by deadline, then arrival.
type waiting []waiter

func (w waiting) Len() int { return len(w) }
func (w waiting) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(w[i].Deadline, w[j].Deadline), cmp.Compare(w[i].seq, w[j].seq)) < 0
}
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(x any)   { *w = append(*w, x.(waiter)) }
func (w *waiting) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// runner is a running job.
type runner struct {
	id    int64
	end   grid.Time
	nodes []int
}

// running is a heap by end, then id.
type running []runner

func (r running) Len() int { return len(r) }
func (r running) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(r[i].end, r[j].end), cmp.Compare(r[i].id, r[j].id)) < 0
}
func (r running) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *running) Push(x any)   { *r = append(*r, x.(runner)) }
func (r *running) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

func newQueue(opt Options, now grid.Time) *Queue {
	q := &Queue{opt: opt, now: now, free: len(opt.Nodes), busy: make([]bool, len(opt.Nodes)), ids: make(map[int64]struct{})}
	for i := range opt.Nodes {
		q.order = append(q.order, i)
	}
	slices.SortStableFunc(q.order, func(a, b int) int { return cmp.Compare(opt.Nodes[b], opt.Nodes[a]) })
	return q
}

// Now returns the instant of the last Advance.
func (q *Queue) Now() grid.Time { return q.now }

// Next returns the next end of a job.
func (q *Queue) Next() grid.Time {
	if len(q.running) == 0 {
		return grid.Never
	}
	return q.running[0].end
}

// Try says whether the job would be accepted into the queue.
func (q *Queue) Try(j Job) Decision {
	d := impossible(&j, q.now, len(q.busy))
	if !d.Reason.Refused() && len(q.waiting) >= q.opt.Queue {
		d.Reason = grid.Reason{Code: grid.QueueFull, Detail: fmt.Sprintf("%s, no more may", grid.Count(len(q.waiting), "job waits", "jobs wait"))}
	}
	return d
}

// Arrive accepts the job into the queue, or refuses it.
func (q *Queue) Arrive(j Job, run grid.Duration) Decision {
	_, there := q.ids[j.ID]
	checkArrival(there, j.ID, run)
	d := q.Try(j)
	if d.Reason.Refused() {
		return d
	}
	q.enter(j, run)
	return d
}

// End removes a job from the queue or its nodes.
func (q *Queue) End(id int64) bool {
	if i := slices.IndexFunc(q.waiting, func(w waiter) bool { return w.ID == id }); i >= 0 {
		heap.Remove(&q.waiting, i)
	} else if i := slices.IndexFunc(q.running, func(r runner) bool { return r.id == id }); i >= 0 {
		q.release(heap.Remove(&q.running, i).(runner))
	} else {
		return false
	}
	delete(q.ids, id)
	return true
}

// release frees the nodes of a job.
func (q *Queue) release(r runner) {
	for _, i := range r.nodes {
		q.busy[i] = false
	}
	q.free += len(r.nodes)
}

// Advance moves the time to now, at most Next, and returns the jobs that end then, by id.
func (q *Queue) Advance(now grid.Time) []Event {
	checkAdvance(q.now, now, q.Next())
	q.now, q.events = now, q.events[:0]
	for len(q.running) > 0 && q.running[0].end == now {
		r := heap.Pop(&q.running).(runner)
		q.release(r)
		delete(q.ids, r.id)
		q.events = append(q.events, Event{Job: r.id, Kind: Ended})
	}
	return q.events
}

// Pass starts the heads of the queue while there are nodes for them, and drops those with
// estimates that do not fit before their deadlines.
func (q *Queue) Pass() []Event {
	q.events = q.events[:0]
	for len(q.waiting) > 0 && q.waiting[0].Nodes <= q.free {
		w := heap.Pop(&q.waiting).(waiter)
		slowest := q.pick(w.Nodes)
		if end := q.now.Add(slowest.Runtime(w.Estimate)); end > w.Deadline && q.opt.Control != EDFOpen {
			delete(q.ids, w.ID)
			q.events = append(q.events, Event{w.ID, Dropped, grid.Because(grid.Expired, "it would end at %v, after its deadline %v", end, w.Deadline)})
			continue
		}
		q.occupy(runner{w.ID, q.now.Add(slowest.Runtime(w.run)), slices.Clone(q.picks)})
		q.events = append(q.events, Event{Job: w.ID, Kind: Started})
	}
	return q.events
}

// pick chooses the n fastest free nodes, and returns the performance of the slowest of
// them.
func (q *Queue) pick(n int) grid.Performance {
	q.picks = q.picks[:0]
	for _, i := range q.order {
		if !q.busy[i] {
			q.picks = append(q.picks, i)
		}
		if len(q.picks) == n {
			break
		}
	}
	return q.opt.Nodes[q.picks[n-1]]
}

// Audit checks that no node runs two tasks, that the number of free ones is right and that
// nothing is overdue.
func (q *Queue) Audit() error {
	users := make([]int, len(q.busy))
	free := len(q.busy)
	for _, r := range q.running {
		if r.end <= q.now {
			return fmt.Errorf("job %d should have ended at %v, now is %v", r.id, r.end, q.now)
		}
		free -= len(r.nodes)
		for _, i := range r.nodes {
			if users[i]++; users[i] > 1 || !q.busy[i] {
				return fmt.Errorf("node %d of job %d runs %d tasks", i, r.id, users[i])
			}
		}
	}
	if free != q.free || len(q.ids) != len(q.waiting)+len(q.running) {
		return fmt.Errorf("%d nodes are free, %d are counted as free; %d jobs known, %d wait, %d run", free, q.free, len(q.ids), len(q.waiting), len(q.running))
	}
	return nil
}
