package backfill

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// A queue may hold jobs that cannot start yet, whatever is free: one that begins tomorrow, one
// that waits for another's end, a task beyond what its array may run at once. A State says so
// beside the queue. A Group does not know of it: its owner lets such a job arrive once it is
// ready. Releases says when that is.

// Later says what a waiting job waits for besides nodes.
type Later struct {
	Job  int       // its position in Queue
	From grid.Time // it does not start before; 0: it may at once
	// After are ids of jobs that must have ended; one that neither runs nor waits never does. Jobs
	// that wait for the same should share the slice: together they cost no more than one.
	After []int64
	Any   bool // one of After is enough
}

// Throttle is a set of jobs of which only Most may run at once.
type Throttle struct {
	Most int         // above 0
	Jobs []int64     // ids of running and waiting jobs; those that wait in queue order
	Ends []grid.Time // when others end that count, and run where the state does not show it
}

// Releases says from when on the jobs of a queue may start, as far as the ends of others are
// known.
type Releases struct {
	jobs  []release            // by position
	waits map[int64][]*barrier // what waits for an id's end
	sets  map[int64]*waiter    // by id
}

type release struct {
	from  grid.Time
	ends  bool // it waits for the ends of others
	queue bool // it waits for its turn in a set
}

// barrier is jobs that wait for the same ends.
type barrier struct {
	left int       // how many
	any  bool      // the first of them is enough
	from grid.Time // the last so far
	jobs []int     // positions
}

// waiter is a set of jobs of which only some may run at once.
type waiter struct {
	over  int   // how many must end before one more may start
	queue []int // positions of those that wait for their turn
}

// Releases returns what is known before anything ends; nil if every job may start at once. It
// costs a walk over the queue.
func (s *State) Releases() *Releases {
	if len(s.Later) == 0 && len(s.Throttles) == 0 {
		return nil
	}
	r := &Releases{jobs: make([]release, len(s.Queue)), waits: map[int64][]*barrier{}, sets: map[int64]*waiter{}}
	same := map[*int64]*barrier{}
	for _, l := range s.Later {
		x := &r.jobs[l.Job]
		if x.from, x.ends = max(x.from, l.From), len(l.After) > 0; !x.ends {
			continue
		}
		b := same[&l.After[0]]
		if b == nil || b.left != len(l.After) || b.any != l.Any {
			b = &barrier{left: len(l.After), any: l.Any}
			same[&l.After[0]] = b
			for _, id := range l.After {
				r.waits[id] = append(r.waits[id], b)
			}
		}
		b.jobs = append(b.jobs, l.Job)
	}
	runs, place := map[int64]bool{}, map[int64]int{}
	for i := range s.Running {
		runs[s.Running[i].ID] = true
	}
	for i := range s.Queue {
		place[s.Queue[i].ID] = i
	}
	for _, t := range s.Throttles {
		w := &waiter{over: len(t.Ends) - t.Most}
		for _, id := range t.Jobs {
			if r.sets[id] = w; runs[id] {
				w.over++
			}
		}
		for _, id := range t.Jobs {
			at, waits := place[id]
			switch {
			case runs[id] || !waits:
			case w.over < 0:
				w.over++
			default:
				r.jobs[at].queue = true
				w.queue = append(w.queue, at)
			}
		}
		for _, end := range slices.Sorted(slices.Values(t.Ends)) {
			r.turn(w, end)
		}
	}
	return r
}

// From is from when on the job at a position may start, 0: at once; Never while it waits for
// the end of another.
func (r *Releases) From(job int) grid.Time {
	if x := &r.jobs[job]; !x.ends && !x.queue {
		return x.from
	}
	return grid.Never
}

// Ended says that a job ends at an instant, which may lie ahead, and returns the positions of
// the jobs that no longer wait for another's end. A second end of an id is ignored.
func (r *Releases) Ended(id int64, at grid.Time) (free []int) {
	for _, b := range r.waits[id] {
		if b.left == 0 {
			continue
		}
		b.from = max(b.from, at)
		if b.left--; b.any {
			b.left = 0
		}
		if b.left > 0 {
			continue
		}
		for _, job := range b.jobs {
			x := &r.jobs[job]
			if x.ends, x.from = false, max(x.from, b.from); !x.queue {
				free = append(free, job)
			}
		}
	}
	delete(r.waits, id)
	if w := r.sets[id]; w != nil {
		delete(r.sets, id)
		if job := r.turn(w, at); job >= 0 && !r.jobs[job].ends {
			free = append(free, job)
		}
	}
	return free
}

// turn gives the turn of a job of the set that has ended to the next, and returns its
// position; -1 if there is none.
func (r *Releases) turn(w *waiter, at grid.Time) int {
	if w.over > 0 {
		w.over--
		return -1
	}
	if len(w.queue) == 0 {
		return -1
	}
	job := w.queue[0]
	w.queue = w.queue[1:]
	r.jobs[job].queue, r.jobs[job].from = false, max(r.jobs[job].from, at)
	return job
}
