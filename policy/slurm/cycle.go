package slurm

import (
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// cycle is one cycle of the backfill scheduler: ready jobs in order, MaxJobTest of them at
// most, each at the earliest start that leaves the plans of those before it alone. A job
// whose start is now begins; otherwise its nodes are planned. Plans live one cycle.
func (t *Twin) cycle() {
	p := &t.plan
	p.begin(t)
	tried, started, most := 0, false, t.conf.Scheduler.MaxJobUser
	least := t.least()
	users, arrays := map[int]int{}, map[int]int{}
	for k, i := range t.queue {
		j, s := &t.jobs[i], t.of(i)
		if t.throttled(i) {
			s.why = JobArrayTaskLimit
			continue
		}
		if limit := t.atLimit(i); limit != Nothing {
			s.why = limit
			continue
		}
		array := t.slots[i].array
		if most > 0 && users[j.User] >= most || array >= 0 && arrays[array] >= t.planned(j) {
			continue
		}
		if tried == t.conf.Scheduler.MaxJobTest || p.open() < least[k] { // so few that no job after this one can start now
			break
		}
		tried++
		if most > 0 {
			users[j.User]++
		}
		at, on := p.find(j)
		switch {
		case at >= grid.Never:
		case at > t.now:
			p.keep(on, at, at.Add(j.Limit))
			if array >= 0 {
				arrays[array]++
			}
		default:
			if limit := t.overLimit(i); limit != Nothing {
				s.why = limit
				continue
			}
			t.start(i, on, ByBackfill)
			p.started(t, i)
			started = true
		}
	}
	if started {
		t.dequeue()
	}
}

// planned is how many tasks of a job's array are planned at most.
func (t *Twin) planned(j *Job) int {
	if j.Throttle > 0 {
		return min(j.Throttle, t.conf.Scheduler.MaxJobArrayResv)
	}
	return t.conf.Scheduler.MaxJobArrayResv
}

// least is the fewest nodes that a job of the queue needs, from each place on.
func (t *Twin) least() []int {
	out := append(t.plan.least[:0], make([]int, len(t.queue))...)
	n := math.MaxInt
	for k, i := range slices.Backward(t.queue) {
		n = min(n, t.jobs[i].Nodes)
		out[k] = n
	}
	t.plan.least = out
	return out
}

// plannedEnd is when a running job's nodes are taken to be free: at its limit; past that,
// KillWait and OverTimeLimit later, and at the earliest in a second.
func (t *Twin) plannedEnd(i int) grid.Time {
	s := t.of(i)
	end := s.start.Add(t.jobs[i].Limit)
	if s.phase == completing {
		end = t.now
	} else if end <= t.now {
		end = end.Add(t.conf.KillWait + t.conf.OverTimeLimit)
	}
	return max(end, t.now.Add(grid.Second))
}
