package slurm

import (
	"github.com/bourse-grid/bourse/grid"
)

// cycle is one cycle of the backfill scheduler: ready jobs in order, MaxJobTest of them at
// most, each at the earliest start that leaves the plans of those before it alone. A job
// whose start is now begins; otherwise its nodes are planned. Plans live one cycle, so those
// behind the last job that may still start now are not made.
func (t *Twin) cycle() {
	p := &t.plan
	last := p.fitting(t)
	if last > 0 {
		p.begin(t)
		last = p.hopeful(last)
	}
	tried, started, most := 0, false, t.conf.Scheduler.MaxJobUser
	users, arrays := map[int]int{}, map[int]int{}
	for k, i := range t.queue {
		j, s := &t.jobs[i], t.of(i)
		if limit := t.kept(i); limit != Nothing {
			s.why = limit
			continue
		}
		if k >= last {
			continue
		}
		array := t.slots[i].array
		if most > 0 && users[j.User] >= most || array >= 0 && arrays[array] >= t.planned(j) {
			continue
		}
		if tried == t.conf.Scheduler.MaxJobTest {
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
			if p.keep(on, at, at.Add(j.Limit)); on.overlaps(t.idle) {
				last = p.hopeful(last)
			}
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
			last = p.hopeful(last)
			started = true
		}
	}
	if started {
		t.dequeue()
	}
}

// kept says what keeps a ready job from being tried: its array's throttle, or a limit; see atLimit.
func (t *Twin) kept(i int) Why {
	if t.throttled(i) {
		return JobArrayTaskLimit
	}
	return t.atLimit(i)
}

// planned is how many tasks of a job's array are planned at most.
func (t *Twin) planned(j *Job) int {
	if j.Throttle > 0 {
		return min(j.Throttle, t.conf.Scheduler.MaxJobArrayResv)
	}
	return t.conf.Scheduler.MaxJobArrayResv
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
