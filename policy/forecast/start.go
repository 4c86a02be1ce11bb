package forecast

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Job is the job that is asked about. It is submitted at the state's instant.
type Job struct {
	Nodes int           // 1 to those of the group
	Limit grid.Duration // it may run that long; above 0
	// Place is how many of the waiting jobs, in queue order, are before it; Last:
	// all of them.
	Place int
}

// Last is the place behind all waiting jobs.
const Last = -1

// Start returns when j starts if s.Running[i] ends at ends[i] and s.Queue[i] runs for
// runs[i]. Each is cut at the planned end, or at the estimate. No other job arrives, and a job
// that cannot start yet (backfill.Later) arrives once it can. Never: j does not start whatever
// ends. It costs a scheduling pass for each end until j starts.
func Start(s *backfill.State, j Job, ends []grid.Time, runs []grid.Duration) grid.Time {
	return start(s, j, ends, runs, nil)
}

// start is Start with the jobs that arrive later; nil: none.
func start(s *backfill.State, j Job, ends []grid.Time, runs []grid.Duration, later *Arrivals) grid.Time {
	return newWorld(s, j).start(ends, runs, later)
}

// StartsNow reports whether j starts at the state's instant, whatever is not known yet. It costs
// a scheduling pass.
func StartsNow(s *backfill.State, j Job) bool {
	w := newWorld(s, j)
	w.begin()
	w.arrive(s.Now)
	return slices.ContainsFunc(w.group.Pass(), func(s backfill.Start) bool { return s.Ref == newcomer })
}

// ByLimits returns when j starts if all jobs run to their planned ends and limits.
func ByLimits(s *backfill.State, j Job) grid.Time {
	ends, runs := limits(s)
	return Start(s, j, ends, runs)
}

// limits returns the planned ends of running jobs and the estimates of waiting ones.
func limits(s *backfill.State) (ends []grid.Time, runs []grid.Duration) {
	for _, r := range s.Running {
		ends = append(ends, r.End)
	}
	for _, q := range s.Queue {
		runs = append(runs, q.Estimate)
	}
	return ends, runs
}

// newWorld returns the queue of a state with the job in it, and without the jobs that cannot start
// yet. The Ref of each job is its index in the whole queue; that of the new one is newcomer.
func newWorld(s *backfill.State, j Job) *world {
	w := &world{state: s, first: *s}
	w.first.Later, w.first.Throttles = nil, nil
	w.first.Queue = make([]backfill.Queued, 0, len(s.Queue)+1)
	for _, r := range s.Running {
		w.last = max(w.last, r.ID)
	}
	for i := range s.Queue {
		w.last = max(w.last, s.Queue[i].ID)
	}
	place := len(s.Queue)
	if j.Place >= 0 {
		place = min(place, j.Place)
	}
	w.releases = s.Releases()
	for i := range s.Queue {
		if i == place {
			w.first.Queue = append(w.first.Queue, w.newcomer(j, place))
		}
		if w.ready(i) {
			w.first.Queue = append(w.first.Queue, w.queued(i))
		}
	}
	if place == len(s.Queue) {
		w.first.Queue = append(w.first.Queue, w.newcomer(j, place))
	}
	return w
}

// begin goes back to the state's instant.
func (w *world) begin() {
	if w.begun && w.releases != nil {
		w.releases = w.state.Releases()
	}
	w.begun = true
	now := w.first
	w.queue = append(w.queue[:0], w.first.Queue...)
	now.Queue = w.queue
	w.group, w.ends, w.coming = backfill.Rehearse(&now), w.ends[:0], append(w.coming[:0], w.firstComing...)
}

// start returns when the job starts if running jobs end at ends and others run for runs.
func (w *world) start(ends []grid.Time, runs []grid.Duration, later *Arrivals) grid.Time {
	w.begin()
	w.runs, w.later = append(w.runs[:0], runs...), later
	for i, r := range w.state.Running {
		w.ends.push(end{min(max(ends[i], w.state.Now), r.End), r.ID, r.End})
	}
	return w.run()
}

// newcomer is the job that is asked about, before the job at a place of the queue.
func (w *world) newcomer(j Job, place int) backfill.Queued {
	return backfill.Queued{
		ID: w.last + 1, Nodes: j.Nodes, Estimate: j.Limit, Submit: w.state.Now, Guarantee: grid.Never, Ref: newcomer,
		Priority: 2*(len(w.state.Queue)-place) + 1,
	}
}

// queued is the job at a place of the queue. Its priority keeps it at its place if it arrives
// later.
func (w *world) queued(i int) backfill.Queued {
	q := w.state.Queue[i]
	q.Ref, q.Priority = int32(i), 2*(len(w.state.Queue)-i)
	return q
}

// ready reports whether a job of the queue may start now. If it is known that it may later,
// it is among those that come.
func (w *world) ready(i int) bool {
	if w.releases == nil {
		return true
	}
	from := w.releases.From(i)
	if from > w.state.Now && from < grid.Never {
		w.firstComing = append(w.firstComing, coming{from, int32(i)})
	}
	return from <= w.state.Now
}

// newcomer is the Ref of the job that is asked about.
const newcomer = -1

// world is a group in which jobs end at their real ends. It can begin again, draw after draw,
// and then uses its memory again.
type world struct {
	state       *backfill.State
	first       backfill.State // at the state's instant, with the newcomer
	firstComing []coming
	last        int64 // the largest id of a job

	group    *backfill.Group
	queue    []backfill.Queued // the group's
	runs     []grid.Duration
	ends     ends
	releases *backfill.Releases // nil: every job may start at once
	coming   []coming
	later    *Arrivals // nil: nobody comes later
	begun    bool
}

// coming is when a job of the queue may start.
type coming struct {
	at  grid.Time
	job int32
}

// arrive lets the jobs arrive that may start now, and returns when the next may.
func (w *world) arrive(now grid.Time) (next grid.Time) {
	next = w.submit(now)
	if len(w.coming) == 0 {
		return next
	}
	w.coming = slices.DeleteFunc(w.coming, func(c coming) bool {
		if c.at > now {
			next = min(next, c.at)
			return false
		}
		w.group.Arrive(w.queued(int(c.job)))
		return true
	})
	return next
}

// submit lets the jobs of others arrive that are submitted by now, and returns when the next is.
func (w *world) submit(now grid.Time) (next grid.Time) {
	if w.later == nil {
		return grid.Never
	}
	for {
		at, x := w.later.next()
		if at > now {
			return at
		}
		if w.later.advance(); x.Nodes > w.state.Nodes {
			continue
		}
		id := w.last + 2 + int64(len(w.runs)) // behind the newcomer's
		w.group.Arrive(backfill.Queued{ID: id, Nodes: x.Nodes, Estimate: x.Limit, Submit: at, Guarantee: grid.Never, Ref: int32(len(w.runs))})
		w.runs = append(w.runs, w.later.run(x))
	}
}

// end ends a running job, for which others may have waited.
func (w *world) end(x end) {
	w.group.End(x.id, x.planned)
	if w.releases == nil {
		return
	}
	for _, i := range w.releases.Ended(x.id, w.group.Now()) {
		w.coming = append(w.coming, coming{w.releases.From(i), int32(i)})
	}
}

// run goes on until the job that is asked about starts.
func (w *world) run() grid.Time {
	for {
		now := w.group.Now()
		for len(w.ends) > 0 && w.ends[0].at <= now {
			w.end(w.ends.pop())
		}
		arrives := w.arrive(now)
		for _, s := range w.group.Pass() {
			if s.Ref == newcomer {
				return now
			}
			w.ends.push(end{min(now.Add(max(w.runs[s.Ref], 0)), s.End), s.ID, s.End})
		}
		next := min(w.group.Next(), arrives)
		if len(w.ends) > 0 {
			next = min(next, w.ends[0].at)
		}
		if next == grid.Never {
			return grid.Never
		}
		w.group.Advance(next)
	}
}

// end is when a running job ends.
type end struct {
	at      grid.Time
	id      int64
	planned grid.Time
}

// ends is a heap of ends, by time, then by id: that of container/heap, which would allocate each.
type ends []end

func (h ends) less(i, k int) bool {
	return h[i].at < h[k].at || h[i].at == h[k].at && h[i].id < h[k].id
}

func (h *ends) push(x end) {
	*h = append(*h, x)
	for i := len(*h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(i, up) {
			return
		}
		(*h)[i], (*h)[up] = (*h)[up], (*h)[i]
		i = up
	}
}

func (h *ends) pop() end {
	list := *h
	first, last := list[0], len(list)-1
	list[0] = list[last]
	list = list[:last]
	for i := 0; ; {
		low := 2*i + 1
		if low+1 < last && list.less(low+1, low) {
			low++
		}
		if low >= last || !list.less(low, i) {
			break
		}
		list[i], list[low] = list[low], list[i]
		i = low
	}
	*h = list
	return first
}
