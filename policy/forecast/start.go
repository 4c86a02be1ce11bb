package forecast

import (
	"container/heap"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Job is the job that is asked about. It is submitted at the state's instant.
type Job struct {
	Nodes int             // 1 to those of the group
	Limit bourse.Duration // it may run that long; above 0
	// Place is how many of the waiting jobs, in queue order, are before it; Last:
	// all of them.
	Place int
}

// Last is the place behind all waiting jobs.
const Last = -1

// Start returns when j starts if s.Running[i] ends at ends[i] and s.Queue[i] runs for
// runs[i]. Each is cut at the planned end, or at the estimate. No other job arrives.
// Never: j does not start whatever ends. It costs a scheduling pass for each end until j
// starts.
func Start(s *backfill.State, j Job, ends []bourse.Time, runs []bourse.Duration) bourse.Time {
	w := world{runs: runs, group: backfill.Restore(with(s, j))}
	for i, r := range s.Running {
		w.ends = append(w.ends, end{min(max(ends[i], s.Now), r.End), r.ID, r.End})
	}
	heap.Init(&w.ends)
	return w.run()
}

// ByLimits returns when j starts if all jobs run to their planned ends and limits.
func ByLimits(s *backfill.State, j Job) bourse.Time {
	ends, runs := limits(s)
	return Start(s, j, ends, runs)
}

// limits returns the planned ends of running jobs and the estimates of waiting ones.
func limits(s *backfill.State) (ends []bourse.Time, runs []bourse.Duration) {
	for _, r := range s.Running {
		ends = append(ends, r.End)
	}
	for _, q := range s.Queue {
		runs = append(runs, q.Estimate)
	}
	return ends, runs
}

// with returns s with the job in its queue. The Ref of each job is its index in s.Queue;
// that of the new one is newcomer.
func with(s *backfill.State, j Job) *backfill.State {
	c := *s
	c.Queue = make([]backfill.Queued, 0, len(s.Queue)+1)
	id := int64(0)
	for _, r := range s.Running {
		id = max(id, r.ID)
	}
	for i, q := range s.Queue {
		id = max(id, q.ID)
		q.Ref = int32(i)
		c.Queue = append(c.Queue, q)
	}
	place := len(s.Queue)
	if j.Place >= 0 {
		place = min(place, j.Place)
	}
	c.Queue = slices.Insert(c.Queue, place, backfill.Queued{
		ID: id + 1, Nodes: j.Nodes, Estimate: j.Limit, Submit: s.Now, Guarantee: bourse.Never, Ref: newcomer,
	})
	return &c
}

// newcomer is the Ref of the job that is asked about.
const newcomer = -1

// world is a group in which jobs end at their real ends.
type world struct {
	group *backfill.Group
	runs  []bourse.Duration
	ends  ends
}

// run goes on until the job that is asked about starts.
func (w *world) run() bourse.Time {
	for {
		now := w.group.Now()
		for len(w.ends) > 0 && w.ends[0].at <= now {
			x := heap.Pop(&w.ends).(end)
			w.group.End(x.id, x.planned)
		}
		for _, s := range w.group.Pass() {
			if s.Ref == newcomer {
				return now
			}
			heap.Push(&w.ends, end{min(now.Add(max(w.runs[s.Ref], 0)), s.End), s.ID, s.End})
		}
		next := w.group.Next()
		if len(w.ends) > 0 {
			next = min(next, w.ends[0].at)
		}
		if next == bourse.Never {
			return bourse.Never
		}
		w.group.Advance(next)
	}
}

// end is when a running job ends.
type end struct {
	at      bourse.Time
	id      int64
	planned bourse.Time
}

// ends is a heap of ends, by time, then by id.
type ends []end

func (h ends) Len() int { return len(h) }
func (h ends) Less(i, k int) bool {
	return h[i].at < h[k].at || h[i].at == h[k].at && h[i].id < h[k].id
}
func (h ends) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *ends) Push(x any)   { *h = append(*h, x.(end)) }
func (h *ends) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
