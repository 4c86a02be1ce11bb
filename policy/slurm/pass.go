package slurm

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// pass is one pass of the main scheduler: it tries ready jobs in order, depth of them at
// most. A job at its array's throttle or at a limit is passed over and blocks nobody; so is
// one whose partition is blocked. One that lacks idle nodes blocks its partition, and takes
// that partition's nodes from all jobs after it, unless only a reservation is in its way.
func (t *Twin) pass(depth int) {
	avail := t.idle.Clone()
	blocked := make([]bool, len(t.conf.Partitions))
	started := false
	for _, i := range t.queue {
		j, s := &t.jobs[i], t.of(i)
		if t.throttled(i) {
			s.why = JobArrayTaskLimit
			continue
		}
		if depth == 0 {
			break
		}
		depth--
		if limit := t.atLimit(i); limit != Nothing {
			s.why = limit
			if t.conf.Scheduler.AssocLimitStop {
				t.block(j, blocked, avail)
			}
			continue
		}
		if blocked[j.Partition] && j.Reservation < 0 {
			s.why = Priorities
			continue
		}
		free := t.scratch
		free.copy(avail)
		t.own(free, j, t.now)
		t.unreserved(free, j, t.now)
		switch {
		case free.Count() >= j.Nodes:
			if limit := t.overLimit(i); limit != Nothing {
				s.why = limit
				if t.conf.Scheduler.AssocLimitStop {
					t.block(j, blocked, avail)
				}
				continue
			}
			on := Pick(free, j.Nodes)
			t.start(i, on, ByMain)
			avail.without(on)
			started = true
		case j.Reservation >= 0 || t.onlyReserved(j):
			s.why = Reserved
		default:
			s.why = Resources
			if t.lacks(j) {
				s.why = Priorities
			}
			t.block(j, blocked, avail)
		}
	}
	if started {
		t.dequeue()
	}
}

// block takes a job's partition, and its nodes, from all jobs after it.
func (t *Twin) block(j *Job, blocked []bool, avail Set) {
	blocked[j.Partition] = true
	avail.without(t.conf.Partitions[j.Partition].Nodes)
}

// lacks reports whether enough nodes of a job's partition are idle, though jobs before it
// wait for them.
func (t *Twin) lacks(j *Job) bool {
	return t.idle.common(t.conf.Partitions[j.Partition].Nodes) >= j.Nodes
}

// dequeue takes jobs that have started out of the queue.
func (t *Twin) dequeue() {
	t.queue = slices.DeleteFunc(t.queue, func(i int) bool { return t.of(i).phase != ready })
}

// own leaves in a set the nodes that a job may use at all: those of its partition and of
// its reservation, of which none may be used by a job that would begin or end outside of it.
func (t *Twin) own(nodes Set, j *Job, at grid.Time) {
	nodes.and(t.conf.Partitions[j.Partition].Nodes)
	if j.Reservation < 0 {
		return
	}
	if r := &t.conf.Reservations[j.Reservation]; at < r.Start || at.Add(j.Limit) > r.End {
		clear(nodes)
	} else {
		nodes.and(r.Nodes)
	}
}

// unreserved takes nodes out of a set that are reserved for others while a job would run
// from an instant on.
func (t *Twin) unreserved(nodes Set, j *Job, at grid.Time) {
	end := at.Add(j.Limit)
	for k := range t.conf.Reservations {
		if r := &t.conf.Reservations[k]; k != j.Reservation && r.Start < end && at < r.End {
			nodes.without(r.Nodes)
		}
	}
}

// onlyReserved reports whether a job's partition would hold it but for reservations.
func (t *Twin) onlyReserved(j *Job) bool {
	free := t.conf.Partitions[j.Partition].Nodes.Clone()
	t.unreserved(free, j, t.now)
	return free.Count() < j.Nodes
}
