package queue

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// nodesLost takes failed nodes out of a group for a time, by a reservation that belongs to
// nobody. Those that a message draws fail under what they carry. Otherwise, and where the
// others are needed by then, it takes idle nodes first; if those are too few, nodes of local
// jobs, which are killed, the latest to start first; then held nodes, the latest first; then
// those of the reservation confirmed last.
func (b *Backend) nodesLost(now grid.Time, m agents.NodesLost) {
	g := b.group(m.Group)
	if g < 0 || m.For <= 0 {
		return
	}
	q := b.queues[g]
	end := now.Add(m.For)
	if m.Chance != 0 {
		b.strike(now, g, m.Count, m.Chance)
	}
	if q.promises != nil && b.aside(now, q, m, end) {
		return
	}
	count := b.clear(now, g, now, end, m.Count) // any others have failed already
	if count <= 0 {
		return
	}
	b.number++
	lost := backfill.Reserved{ID: b.number, Nodes: count, Start: now, End: end}
	for why := q.Reserve(now, lost); why.Refused(); why = q.Reserve(now, lost) {
		if q.slurm == nil || !b.evictWithin(now, g, end) { // by Slurm's rules a reservation has the same nodes all the time
			panic("cluster/queue: nodes that are free cannot fail: " + why.String())
		}
	}
	b.down(m.Group, count, end)
}

// aside moves promises to make room for failed nodes. If that is possible, nobody loses
// anything.
func (b *Backend) aside(now grid.Time, q *Queue, m agents.NodesLost, end grid.Time) bool {
	b.number++
	if m.Count < 1 || q.Reserve(now, backfill.Reserved{ID: b.number, Nodes: m.Count, Start: now, End: end}).Refused() {
		return false
	}
	b.down(m.Group, m.Count, end)
	return true
}

// down records that nodes have failed.
func (b *Backend) down(group string, count int, end grid.Time) {
	b.version++
	now := b.now
	f := facts.NodesDown{Group: group, Nodes: count, Until: end}
	b.outages = append(slices.DeleteFunc(b.outages, func(o facts.NodesDown) bool { return o.Until <= now }), f)
	b.host.Record(f)
}

// clear makes count nodes of a group free over [from, to), by the order of
// nodesLost, and returns how many are.
func (b *Backend) clear(now grid.Time, group int, from, to grid.Time, count int) int {
	q := b.queues[group]
	q.reach(now)
	for count > 0 {
		at, free := worst(q.State().Firm(), from, to)
		if free >= count {
			break
		}
		if !b.evict(now, group, at) {
			count = free
		}
	}
	return count
}

// worst is the first instant of [from, to) at which the fewest nodes are free.
func worst(p grid.Profile, from, to grid.Time) (at grid.Time, free int) {
	at, free = from, p.At(from)
	for _, step := range p {
		if step.At > from && step.At < to && step.Free < free {
			at, free = step.At, step.Free
		}
	}
	return at, free
}

// evictWithin evicts whoever is first in the way at any instant from now until another.
func (b *Backend) evictWithin(now grid.Time, group int, to grid.Time) bool {
	if b.evict(now, group, now) {
		return true
	}
	for _, r := range b.order {
		if !r.gone && r.group == group && r.what.Start > now && r.what.Start < to && b.evict(now, group, r.what.Start) {
			return true
		}
	}
	return false
}

// evict frees nodes in use at an instant, in the order of nodesLost. It reports false if
// there are none left to free.
func (b *Backend) evict(now grid.Time, group int, at grid.Time) bool {
	q := b.queues[group]
	var job *backfill.Running
	for i := range q.State().Running {
		r := &q.State().Running[i]
		if r.Last() > at && (job == nil || r.Start > job.Start || r.Start == job.Start && r.ID > job.ID) {
			job = r
		}
	}
	if job != nil {
		q.Kill(now, job.ID)
		b.version++
		return true
	}
	if q.promises != nil && q.breakPromise(now, at) {
		b.version++
		return true
	}
	var victim *reservation
	for _, r := range b.order {
		if r.gone || r.group != group || r.leg.Tx.Broker == "" || r.what.Start > at || r.what.End <= at || len(r.pieces) == 0 && len(r.on) == 0 && r.over == nil {
			continue
		}
		if victim == nil || before(victim, r) {
			victim = r
		}
	}
	if victim == nil {
		return false
	}
	if len(victim.on) > 0 {
		b.evictNode(now, victim, at)
		return true
	}
	b.vacate(now, victim)
	b.moved(now, victim.leg, facts.LockLost)
	return true
}

// before reports whether r loses its nodes before v does.
func before(v, r *reservation) bool {
	if v.confirmed != r.confirmed {
		return v.confirmed
	}
	if r.confirmed {
		return r.agreed > v.agreed
	}
	return r.number > v.number
}

// Kill ends a running job before its time and reports whether it ran. Its nodes
// are free from now on.
func (q *Queue) Kill(now grid.Time, id int64) bool {
	q.reach(now)
	for i := range q.ends {
		if x := q.ends[i]; x.id == id {
			q.ends.remove(i)
			if q.slurm != nil {
				q.slurm.Kill(q.slurm.places[id])
			}
			q.end(now, x)
			q.armed = true
			return true
		}
	}
	return false
}
