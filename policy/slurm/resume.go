package slurm

import (
	"container/heap"

	"github.com/bourse-grid/bourse/grid"
)

// Resume returns a twin that goes on from a queue as a controller shows it at an instant: jobs that
// have Started by then run on their nodes, and end after their Run; the others wait. Priorities are
// the controller's own (Job.Priority), of which only the age grows, so no usage is needed; they are
// taken to be half of PriorityCalcPeriod old. Of jobs
// that run on one node, that counts which is to end last. More jobs may follow by Add. The twin
// keeps the list and does not change it.
func Resume(conf *Config, jobs []Job, now grid.Time) *Twin {
	t := New(conf, jobs[:len(jobs):len(jobs)], Options{Said: true})
	t.said, t.shared, t.fed = now.Add(-conf.Priority.CalcPeriod/2), true, len(jobs)
	t.wind(now)
	for i := range jobs {
		if jobs[i].Started <= now {
			t.resume(i)
		}
	}
	for i := range jobs {
		if jobs[i].Started > now {
			t.submit(i)
		}
	}
	t.passes.now(now)
	return t
}

// resume has a job run that has started before.
func (t *Twin) resume(i int) {
	j, s := &t.jobs[i], t.of(i)
	s.phase, s.by, s.start, s.on, s.counted = running, ByRecord, j.Started, j.On, t.now
	s.end = max(j.Started.Add(j.Run), t.now+1)
	t.idle.without(j.On)
	j.On.Each(func(n int) {
		if k := t.holder[n]; k < 0 || t.plannedEnd(k) <= t.plannedEnd(i) {
			t.holder[n] = i
		}
	})
	t.running = append(t.running, i)
	t.count(i, 1)
	heap.Push(&t.events, event{s.end, ends, i})
	t.changed()
}

// Add hands over one more job, submitted at the twin's time or later, and not before those that it
// has. It is in no QOS, array or account.
func (t *Twin) Add(j Job) {
	t.jobs = append(t.jobs, j)
	t.slots = append(t.slots, slots{-1, -1, -1})
	t.state = append(t.state, state{start: grid.Never, end: grid.Never})
}

// StartOf goes on until a job starts, and returns when: Never if it does not by an instant. next
// returns the next job that others submit, by submission; false: none comes. It costs what the
// schedulers do until then.
func (t *Twin) StartOf(i int, by grid.Time, next func() (Job, bool)) grid.Time {
	coming, more := next()
	for {
		if s := t.of(i); s.phase >= running {
			return s.start
		}
		at := t.next()
		if more && coming.Submit <= at {
			t.Add(coming)
			coming, more = next()
			continue
		}
		if at > by {
			return grid.Never
		}
		t.step(at)
	}
}

// grown is the priority that the controller gave a job, and what its age has added since.
func (t *Twin) grown(j *Job, eligible grid.Time) int64 {
	w := &t.conf.Priority
	if !w.Multifactor || w.Age == 0 {
		return j.Priority
	}
	if w.AccrueAlways {
		eligible = j.Submit
	}
	age := func(at grid.Time) int64 {
		return term(w.Age, int64(min(max(at.Sub(eligible), 0), w.MaxAge)/grid.Second), int64(w.MaxAge/grid.Second))
	}
	return j.Priority + (age(t.now)-age(max(t.said, j.Submit)))>>fractionBits
}
