package slurm

import (
	"container/heap"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// follow starts a job as its record says.
func (t *Twin) follow(i int) {
	t.queue = slices.DeleteFunc(t.queue, func(k int) bool { return k == i })
	t.waiting = slices.DeleteFunc(t.waiting, func(k int) bool { return k == i })
	t.start(i, t.jobs[i].On, ByRecord)
}

// Ahead returns a twin in the state of this one that schedules on its own from now on. It
// has outcomes of the jobs that are not over, and of those submitted until an instant.
func (t *Twin) Ahead(until grid.Time) *Twin {
	c := *t
	c.opt.Follow, c.shared = false, true
	for t.oldest < t.fed && t.of(t.oldest).phase >= over {
		t.oldest++
	}
	first, last := t.oldest, t.fed
	for last < len(t.jobs) && t.jobs[last].Submit <= until {
		last++
	}
	c.jobs = t.jobs[:last]
	c.state = slices.Clone(t.state[first-t.base : last-t.base])
	c.base = first
	c.events = slices.DeleteFunc(slices.Clone(t.events), func(e event) bool { return e.kind == follows })
	heap.Init(&c.events)
	c.queue, c.waiting, c.running, c.holder = slices.Clone(t.queue), slices.Clone(t.waiting), slices.Clone(t.running), slices.Clone(t.holder)
	c.idle, c.scratch, c.shares, c.tree = t.idle.Clone(), NewSet(len(t.conf.CPUs)), t.shares.clone(), t.tree.clone()
	c.plan = timetable{}
	return &c
}

// Window is the jobs that a twin made by Ahead has outcomes of: from a place until before
// another.
func (t *Twin) Window() (from, to int) { return t.base, t.base + len(t.state) }

// holds is the nodes that a running job has. In a record, the next job may begin on a node
// in the second in which this one ends.
func (t *Twin) holds(i int) Set {
	s := t.of(i)
	if !t.shared {
		return s.on
	}
	own := NewSet(len(t.conf.CPUs))
	s.on.Each(func(n int) {
		if t.holder[n] == i {
			own.Add(n)
		}
	})
	return own
}
