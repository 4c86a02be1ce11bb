package slurm

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Begin returns a twin without jobs at an instant. Jobs come by Submit, and what is over is forgotten:
// its memory grows with the jobs that wait and run.
func Begin(conf *Config, now grid.Time) *Twin {
	t := New(conf, nil, Options{})
	t.live = true
	t.wind(now)
	return t
}

// Next is when something happens next, Never if nothing can any more.
func (t *Twin) Next() grid.Time { return t.next() }

// Accepts reports whether a partition takes jobs of so many nodes and such a limit at all.
func (t *Twin) Accepts(partition, nodes int, limit grid.Duration) bool {
	p := &t.conf.Partitions[partition]
	return nodes <= min(p.MaxNodes, p.Nodes.Count()) && limit <= p.MaxTime
}

// Submit hands over a job that waits for no other and that its partition accepts, in order of
// submission and no earlier than the twin's time. It returns its place, which is another job's once it
// is over.
func (t *Twin) Submit(j Job) int {
	i := len(t.jobs)
	if n := len(t.spare); n > 0 {
		i, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		t.jobs, t.slots, t.state = append(t.jobs, Job{}), append(t.slots, slots{}), append(t.state, state{})
	}
	t.jobs[i], t.slots[i] = j, t.slotted.of(t.conf, &j, j.Throttle > 0)
	t.state[i] = state{start: grid.Never, end: grid.Never}
	t.shares.grow(&t.slotted)
	t.fed = len(t.jobs)
	t.handed = append(t.handed, i)
	return i
}

// Started returns the places of the jobs that have started since the last call, in order. It is valid
// until the next.
func (t *Twin) Started() []int {
	list := t.begun
	t.begun = t.begun[len(t.begun):]
	return list
}

// Kill ends a running job now.
func (t *Twin) Kill(i int) {
	if s := t.of(i); s.phase == running {
		s.end = t.now
		t.end(i)
	}
}

// Cancel takes a job away that waits.
func (t *Twin) Cancel(i int) {
	if s := t.of(i); s.phase > ready {
		return
	}
	is := func(k int) bool { return k == i }
	t.handed, t.queue, t.waiting = slices.DeleteFunc(t.handed, is), slices.DeleteFunc(t.queue, is), slices.DeleteFunc(t.waiting, is)
	t.of(i).phase = over
	t.forget(i)
	t.changed()
}

// forget lets another job have the place of one that is over.
func (t *Twin) forget(i int) {
	if t.live {
		t.spare = append(t.spare, i)
	}
}

// Hold keeps n nodes of a partition from the queue from an instant until another, under a number. It
// reports false, and keeps none, if no n nodes are free on all of that time of running jobs, by their
// limits, and of other reservations. The nodes are those that Slurm would take for a job.
func (t *Twin) Hold(number int64, partition int, start, end grid.Time, n int) bool {
	free := t.conf.Partitions[partition].Nodes.Clone()
	for i := range t.conf.Reservations {
		if r := &t.conf.Reservations[i]; r.Start < end && start < r.End {
			free.without(r.Nodes)
		}
	}
	for _, i := range t.running {
		if s := t.of(i); s.phase == running && s.start.Add(t.jobs[i].Limit) > start {
			free.without(s.on)
		}
	}
	if free.Count() < n {
		return false
	}
	t.Reserve(Reservation{Start: start, End: end, Nodes: Pick(free, n), number: number})
	return true
}

// Release gives back what Hold keeps under a number.
func (t *Twin) Release(number int64) {
	for i := t.given; i < len(t.conf.Reservations); i++ {
		if t.conf.Reservations[i].number == number {
			t.conf.Reservations = slices.Delete(t.conf.Reservations, i, i+1)
			t.changed()
			return
		}
	}
}

// Queue lists the places of the jobs that wait: those that are ready in their order, then the others.
func (t *Twin) Queue() []int { return slices.Concat(t.queue, t.waiting, t.handed) }
