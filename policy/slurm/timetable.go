package slurm

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// timetable is what one backfill cycle has planned, and when running jobs are taken to end.
type timetable struct {
	twin  *Twin
	now   grid.Time
	rows  []row       // from now on, in order; nothing is planned after the last begins
	ends  []nodeEnd   // of busy nodes, in order
	edges []grid.Time // ends of reservations, and begins of those that jobs may be in, in order
	avail Set
	least []int
	spare []Set
}

// row is the nodes planned from an instant until the next row.
type row struct {
	at    grid.Time
	nodes Set
}

// nodeEnd is when a busy node is taken to be free.
type nodeEnd struct {
	at   grid.Time
	node int
}

func (p *timetable) begin(t *Twin) {
	p.twin, p.now = t, t.now
	for _, r := range p.rows {
		p.spare = append(p.spare, r.nodes)
	}
	p.rows = append(p.rows[:0], row{t.now, p.empty()})
	if p.avail == nil {
		p.avail = p.empty()
	}
	p.ends = p.ends[:0]
	for _, i := range t.running {
		p.busy(t, i)
	}
	slices.SortStableFunc(p.ends, func(a, b nodeEnd) int { return compare(a.at, b.at) })
	p.edges = p.edges[:0]
	for i := range t.conf.Reservations {
		p.edges = append(p.edges, t.conf.Reservations[i].Start, t.conf.Reservations[i].End)
	}
	slices.Sort(p.edges)
}

func (p *timetable) busy(t *Twin, i int) {
	at := t.plannedEnd(i)
	t.of(i).on.Each(func(n int) {
		if t.holder[n] == i {
			p.ends = append(p.ends, nodeEnd{at, n})
		}
	})
}

// started adds a job that began in this cycle.
func (p *timetable) started(t *Twin, i int) {
	old := len(p.ends)
	p.busy(t, i)
	added := slices.Clone(p.ends[old:])
	p.ends = p.ends[:old]
	k, _ := slices.BinarySearchFunc(p.ends, added[0].at+1, func(e nodeEnd, at grid.Time) int { return compare(e.at, at) })
	p.ends = slices.Insert(p.ends, k, added...)
}

// empty returns an empty set.
func (p *timetable) empty() Set {
	if n := len(p.spare); n > 0 {
		s := p.spare[n-1]
		p.spare = p.spare[:n-1]
		clear(s)
		return s
	}
	return NewSet(len(p.twin.conf.CPUs))
}

// open counts the nodes that are idle now and not planned now.
func (p *timetable) open() int {
	return p.twin.idle.Count() - p.twin.idle.common(p.rows[0].nodes)
}

// find returns the earliest start of a job, and its nodes: enough nodes of the partition
// are unplanned and unreserved on all of [t, t + limit], and free by t. The start is Never
// if it is beyond bf_window.
func (p *timetable) find(j *Job) (grid.Time, Set) {
	last := p.now.Add(p.twin.conf.Scheduler.Window)
	for at := p.now; at <= last; {
		next := p.after(at)
		enough, from := p.unplanned(j, at)
		if !enough {
			if at = max(next, from); next >= grid.Never {
				break
			}
			continue
		}
		t, free := p.free(j.Nodes)
		t = max(t, at)
		switch {
		case t >= grid.Never:
			at = next
			continue
		case t > next:
			at = next
			continue
		case t > last:
			return grid.Never, nil
		}
		on := Pick(free, j.Nodes)
		if t > at && !p.clear(j, on, t) {
			at = t
			continue
		}
		return t, on
	}
	return grid.Never, nil
}

// after is the next instant at which nodes may become unplanned or unreserved; Never if
// there is none.
func (p *timetable) after(at grid.Time) grid.Time {
	next := grid.Never
	if k, _ := slices.BinarySearchFunc(p.rows, at+1, func(r row, at grid.Time) int { return compare(r.at, at) }); k < len(p.rows) {
		next = p.rows[k].at
	}
	if k, _ := slices.BinarySearch(p.edges, at+1); k < len(p.edges) {
		next = min(next, p.edges[k])
	}
	return next
}

// unplanned leaves in p.avail the nodes that a job could use if it began at an instant, and
// reports whether they are enough. If they are not, no start before from is possible.
func (p *timetable) unplanned(j *Job, at grid.Time) (enough bool, from grid.Time) {
	t, end := p.twin, at.Add(j.Limit)
	p.avail.copy(t.conf.Partitions[j.Partition].Nodes)
	t.own(p.avail, j, at)
	t.unreserved(p.avail, j, at)
	if p.avail.Count() < j.Nodes {
		return false, at
	}
	all := len(p.rows)
	k, _ := slices.BinarySearchFunc(p.rows, at+1, func(r row, at grid.Time) int { return compare(r.at, at) })
	for k = max(k-1, 0); k < all && p.rows[k].at < end; k++ {
		if p.avail.without(p.rows[k].nodes); p.avail.Count() >= j.Nodes {
			continue
		}
		part := t.conf.Partitions[j.Partition].Nodes
		if part.Count()-part.common(p.rows[k].nodes) < j.Nodes && k+1 < all { // this row alone is in its way
			return false, p.rows[k+1].at
		}
		return false, at
	}
	return true, at
}

// step is the first reach beyond the first end, and what it and the first end are rounded by.
const reachStep = 30 * grid.Second

// free is when n nodes of p.avail are free by the coarse rule, and which are: running jobs
// go in the order of their planned ends, in groups. The first reaches to 30 s after the
// first end rounded up to the next multiple of 30 s; the reach from there doubles for each
// later group (or grows by bf_window_linear) until it holds a job. The instant is the end
// of the last job of the group that makes it enough; now if enough are idle, Never if there
// are too few.
func (p *timetable) free(n int) (grid.Time, Set) {
	idle := p.twin.idle
	count := p.avail.common(idle)
	if count >= n {
		return p.now, p.freed(p.ends[:0])
	}
	var base, last grid.Time
	reach := grid.Duration(0)
	for k, e := range p.ends {
		if !p.avail.Has(e.node) {
			continue
		}
		switch {
		case reach == 0:
			base, reach = following(e.at, 0, reachStep), reachStep
		case e.at > base.Add(reach):
			if count >= n {
				return last, p.freed(p.ends[:k])
			}
			for e.at > base.Add(reach) {
				if linear := p.twin.conf.Scheduler.WindowLinear; linear > 0 {
					reach += linear
				} else {
					reach *= 2
				}
			}
		}
		count++
		last = e.at
	}
	if count >= n {
		return last, p.freed(p.ends)
	}
	return grid.Never, nil
}

// freed returns the nodes of p.avail that are idle or among the ends.
func (p *timetable) freed(ends []nodeEnd) Set {
	free := p.twin.scratch
	free.copy(p.avail)
	free.and(p.twin.idle)
	for _, e := range ends {
		if p.avail.Has(e.node) {
			free.Add(e.node)
		}
	}
	return free
}

// clear reports whether nodes are unplanned and unreserved while a job runs from an instant.
func (p *timetable) clear(j *Job, on Set, at grid.Time) bool {
	if enough, _ := p.unplanned(j, at); !enough {
		return false
	}
	return on.common(p.avail) == j.Nodes
}

// keep plans nodes from an instant until another, both rounded down to bf_resolution, and
// for one step at least.
func (p *timetable) keep(on Set, from, to grid.Time) {
	step := grid.Time(p.twin.conf.Scheduler.Resolution)
	from -= ((from % step) + step) % step
	to -= ((to % step) + step) % step
	if to <= from {
		to = from + step
	}
	a, b := p.cut(from), p.cut(to)
	for ; a < b; a++ {
		p.rows[a].nodes.or(on)
	}
}

// cut makes a row begin at an instant, and returns its place; 0 for instants before now.
func (p *timetable) cut(at grid.Time) int {
	if at <= p.now {
		return 0
	}
	k, there := slices.BinarySearchFunc(p.rows, at, func(r row, at grid.Time) int { return compare(r.at, at) })
	if !there {
		nodes := p.empty()
		nodes.copy(p.rows[k-1].nodes)
		p.rows = slices.Insert(p.rows, k, row{at, nodes})
	}
	return k
}
