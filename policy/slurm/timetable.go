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
	ends  []jobEnd    // of running jobs, in order
	freed []Set       // by place in ends: the nodes that are idle or free by then
	count [][]int     // by partition, then place in ends: how many of its nodes those are
	edges []grid.Time // ends of reservations, and begins of those that jobs may be in, in order
	avail Set
	most  Set   // see bound
	idle  []int // by partition: its nodes that were idle when the cycle began
	spare []row
}

// row is the nodes planned from an instant until the next row.
type row struct {
	at    grid.Time
	nodes Set
	open  []int // by partition: its nodes that are not planned
}

// counted counts the open nodes of a row again.
func (r *row) counted(parts []Partition) {
	r.open = r.open[:0]
	for i := range parts {
		r.open = append(r.open, parts[i].Nodes.outside(r.nodes))
	}
}

// jobEnd is when a running job is taken to end, and its nodes.
type jobEnd struct {
	at    grid.Time
	nodes Set
}

func (p *timetable) begin(t *Twin) {
	p.twin, p.now = t, t.now
	p.spare = append(p.spare, p.rows...)
	p.rows = append(p.rows[:0], p.empty(t.now))
	if p.avail == nil {
		p.avail, p.most = NewSet(len(t.conf.CPUs)), NewSet(len(t.conf.CPUs))
	}
	p.ends = p.ends[:0]
	for _, i := range t.running {
		p.ends = append(p.ends, jobEnd{t.plannedEnd(i), t.holds(i)})
	}
	slices.SortStableFunc(p.ends, func(a, b jobEnd) int { return compare(a.at, b.at) })
	p.free()
	p.edges = p.edges[:0]
	for i := range t.conf.Reservations {
		p.edges = append(p.edges, t.conf.Reservations[i].Start, t.conf.Reservations[i].End)
	}
	slices.Sort(p.edges)
}

// free sums up the nodes that are idle or free by each end.
func (p *timetable) free() {
	by := p.twin.idle
	for k := range p.ends {
		if k == len(p.freed) {
			p.freed = append(p.freed, NewSet(len(p.twin.conf.CPUs)))
		}
		p.freed[k].copy(by)
		p.freed[k].or(p.ends[k].nodes)
		by = p.freed[k]
	}
	parts := p.twin.conf.Partitions
	if p.count == nil {
		p.count = make([][]int, len(parts))
	}
	for i := range parts {
		p.count[i] = p.count[i][:0]
		for k := range p.ends {
			p.count[i] = append(p.count[i], parts[i].Nodes.common(p.freed[k]))
		}
	}
}

// started adds a job that began in this cycle.
func (p *timetable) started(t *Twin, i int) {
	end := jobEnd{t.plannedEnd(i), t.of(i).on}
	k, _ := slices.BinarySearchFunc(p.ends, end.at+1, func(e jobEnd, at grid.Time) int { return compare(e.at, at) })
	p.ends = slices.Insert(p.ends, k, end)
	p.free()
}

// empty returns a row without nodes.
func (p *timetable) empty(at grid.Time) row {
	r := row{nodes: nil}
	if n := len(p.spare); n > 0 {
		r = p.spare[n-1]
		p.spare = p.spare[:n-1]
		clear(r.nodes)
	} else {
		r.nodes = NewSet(len(p.twin.conf.CPUs))
	}
	r.at = at
	r.counted(p.twin.conf.Partitions)
	return r
}

// fitting is the place in the queue after the last job for which enough nodes of its partition are
// idle; 0: there is none.
func (p *timetable) fitting(t *Twin) int {
	p.idle = p.idle[:0]
	for i := range t.conf.Partitions {
		p.idle = append(p.idle, t.idle.common(t.conf.Partitions[i].Nodes))
	}
	end := len(t.queue)
	for end > 0 && !p.fits(&t.jobs[t.queue[end-1]]) {
		end--
	}
	return end
}

func (p *timetable) fits(j *Job) bool { return j.Nodes <= p.idle[j.Partition] }

// hopeful is the place in the queue, up to an end, after the last job that may start now by what is
// planned so far. Plans and starts only take nodes away, so no job behind it will.
func (p *timetable) hopeful(end int) int {
	t := p.twin
	for ; end > 0; end-- {
		if j := &t.jobs[t.queue[end-1]]; p.fits(j) && p.unplanned(j, p.now, 0) && p.avail.common(t.idle) >= j.Nodes {
			break
		}
	}
	return end
}

// find returns the earliest start of a job, and its nodes: enough nodes of the partition
// are unplanned and unreserved on all of [t, t + limit], and free by t. The start is Never
// if it is beyond bf_window.
func (p *timetable) find(j *Job) (grid.Time, Set) {
	last, bounded := p.now.Add(p.twin.conf.Scheduler.Window), false
	for at, k := p.earliest(j); at <= last; {
		if k = p.beyond(j, at, k); p.rows[k].at > at {
			at, bounded = p.rows[k].at, false
			continue
		}
		next := p.after(at, k)
		by := p.freeBy(next)
		few := bounded && p.most.common(by) < j.Nodes
		if few || !p.unplanned(j, at, k) || p.avail.common(by) < j.Nodes {
			bounded = p.bound(j, k, few)
			at, k = next, p.row(next, k)
			continue
		}
		t, free := p.soonest(j.Nodes)
		t = max(t, at)
		switch {
		case t > next: // Never, too
			bounded = p.bound(j, k, false)
			at, k = next, p.row(next, k)
			continue
		case t > last:
			return grid.Never, nil
		case t >= grid.Never:
			return grid.Never, nil
		}
		on := Pick(free, j.Nodes)
		if t > at && !p.clear(j, on, t, k) {
			at, k, bounded = t, p.row(t, k), false
			continue
		}
		return t, on
	}
	return grid.Never, nil
}

// bound leaves in p.most all nodes that a job could have if it began in the row after row k: those that it
// could have in row k, which p.most has already with bounded and p.avail otherwise, and those whose plan
// ends there. Of most rows that a search looks at, too few of these are free in time, and that is all
// that is looked at. It reports false where there is no such bound: reservations end too.
func (p *timetable) bound(j *Job, k int, bounded bool) bool {
	if len(p.edges) > 0 || k+1 == len(p.rows) {
		return false
	}
	if !bounded {
		p.most.copy(p.avail)
	}
	ends, begins := p.rows[k].nodes, p.rows[k+1].nodes
	for i, w := range p.twin.conf.Partitions[j.Partition].Nodes {
		p.most[i] |= w & ends[i] &^ begins[i]
	}
	return true
}

// earliest is where the search for a job's start begins: the last edge before enough nodes of
// its partition can be free at all, whatever is planned; now if they are. Starts found from
// the edges before would be after the next edge.
func (p *timetable) earliest(j *Job) (grid.Time, int) {
	t := p.twin
	if t.idle.common(t.conf.Partitions[j.Partition].Nodes) >= j.Nodes || len(p.ends) == 0 {
		return p.now, 0
	}
	e, _ := slices.BinarySearch(p.count[j.Partition], j.Nodes)
	if e == len(p.ends) {
		return grid.Never, 0
	}
	at, k := p.now, p.row(p.ends[e].at-1, 0)
	at = max(at, p.rows[k].at)
	if i, _ := slices.BinarySearch(p.edges, p.ends[e].at); i > 0 {
		at = max(at, p.edges[i-1])
	}
	return at, k
}

// beyond is the row after the last in the way of a job that would begin at an instant, in
// row k: one with too few open nodes. It is k if none is. No start before it is possible, as
// each runs into that row.
func (p *timetable) beyond(j *Job, at grid.Time, k int) int {
	end := at.Add(j.Limit)
	from := k
	for r := k; r < len(p.rows) && p.rows[r].at < end; r++ {
		if p.rows[r].open[j.Partition] < j.Nodes && r+1 < len(p.rows) {
			from = r + 1
		}
	}
	return from
}

// freeBy returns the nodes that are idle or free by an instant.
func (p *timetable) freeBy(at grid.Time) Set {
	e, there := slices.BinarySearchFunc(p.ends, at, func(e jobEnd, at grid.Time) int { return compare(e.at, at) })
	for ; there && e < len(p.ends) && p.ends[e].at == at; e++ {
	}
	if e == 0 {
		return p.twin.idle
	}
	return p.freed[e-1]
}

// row is the place of the row that holds an instant, from a row before it on.
func (p *timetable) row(at grid.Time, k int) int {
	for k+1 < len(p.rows) && p.rows[k+1].at <= at {
		k++
	}
	return k
}

// after is the next instant at which nodes may become unplanned or unreserved; Never if
// there is none.
func (p *timetable) after(at grid.Time, k int) grid.Time {
	next := grid.Never
	if k+1 < len(p.rows) {
		next = p.rows[k+1].at
	}
	if len(p.edges) > 0 {
		if e, _ := slices.BinarySearch(p.edges, at+1); e < len(p.edges) {
			next = min(next, p.edges[e])
		}
	}
	return next
}

// unplanned leaves in p.avail the nodes that a job could use if it began at an instant, in
// row k, and reports whether they are enough.
func (p *timetable) unplanned(j *Job, at grid.Time, k int) bool {
	t, end := p.twin, at.Add(j.Limit)
	p.avail.copy(t.conf.Partitions[j.Partition].Nodes)
	t.own(p.avail, j, at)
	t.unreserved(p.avail, j, at)
	for ; k < len(p.rows) && p.rows[k].at < end; k++ {
		p.avail.without(p.rows[k].nodes)
	}
	return p.avail.Count() >= j.Nodes
}

// reachStep is what the first end is rounded up to a multiple of, and the first reach
// beyond that.
const reachStep = 30 * grid.Second

// soonest is when n nodes of p.avail are free by the coarse rule, and which are: running
// jobs go in the order of their planned ends, in groups. The first reaches to 30 s after the
// first end rounded up to the next multiple of 30 s; the reach from there doubles for each
// later group (or grows by bf_window_linear) until it holds a job. The instant is the end of
// the last job of the group that makes it enough; now if enough are idle, Never if there are
// too few. Only jobs on nodes of p.avail count.
//
// Groups that hold no job change nothing, so the reaches are fixed once the first end is
// known. The group that makes it enough is found by halving.
func (p *timetable) soonest(n int) (grid.Time, Set) {
	out := p.twin.scratch
	out.copy(p.avail)
	if idle := p.twin.idle; p.avail.common(idle) >= n {
		out.and(idle)
		return p.now, out
	}
	all := len(p.ends)
	if all == 0 || p.avail.common(p.freed[all-1]) < n {
		return grid.Never, nil
	}
	// The first end on these nodes: running jobs have no idle ones, so it is the first that adds any.
	idle := p.avail.common(p.twin.idle)
	first, _ := slices.BinarySearchFunc(p.freed[:all], idle+1, func(freed Set, least int) int { return p.avail.common(freed) - least })
	enough, low := all-1, first // the first end by which there are enough
	for low < enough {
		if middle := (low + enough) / 2; p.avail.common(p.freed[middle]) >= n {
			enough = middle
		} else {
			low = middle + 1
		}
	}
	reached := p.reach(p.ends[first].at, p.ends[enough].at)
	last, _ := slices.BinarySearchFunc(p.ends, reached+1, func(e jobEnd, at grid.Time) int { return compare(e.at, at) })
	for last--; !p.avail.overlaps(p.ends[last].nodes); {
		last--
	}
	out.and(p.freed[last])
	return p.ends[last].at, out
}

// reach is how far the group reaches that holds an end, if the groups begin at the first.
func (p *timetable) reach(first, end grid.Time) grid.Time {
	base, reach := following(first, 0, reachStep), reachStep
	linear := p.twin.conf.Scheduler.WindowLinear
	if linear > 0 && end > base.Add(reach) {
		return base.Add(reach + (end.Sub(base)-reach+linear-1)/linear*linear)
	}
	for end > base.Add(reach) {
		reach *= 2
	}
	return base.Add(reach)
}

// clear reports whether nodes are unplanned and unreserved while a job runs from an instant,
// in row k or after it.
func (p *timetable) clear(j *Job, on Set, at grid.Time, k int) bool {
	return p.unplanned(j, at, p.row(at, k)) && on.common(p.avail) == j.Nodes
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
		p.rows[a].counted(p.twin.conf.Partitions)
	}
}

// cut makes a row begin at an instant, and returns its place; 0 for instants before now.
func (p *timetable) cut(at grid.Time) int {
	if at <= p.now {
		return 0
	}
	k, there := slices.BinarySearchFunc(p.rows, at, func(r row, at grid.Time) int { return compare(r.at, at) })
	if !there {
		r := p.empty(at)
		r.nodes.copy(p.rows[k-1].nodes)
		copy(r.open, p.rows[k-1].open)
		p.rows = slices.Insert(p.rows, k, r)
	}
	return k
}
