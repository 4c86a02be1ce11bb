package queue

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// reservation is what is reserved for a leg: at first nodes locked for it and, once it is
// confirmed, the time in which its work runs.
type reservation struct {
	leg       grid.LegID
	number    int64
	group     int
	what      grid.Leg
	ends      grid.Time // when its work is over
	confirmed bool
	running   bool
	gone      bool  // dropped from Backend.legs
	agreed    int64 // its place in the order of confirmation
	// pieces are the identities of its reservations in the queue: one or, while it counts
	// on another leg's nodes, those that it needs in addition.
	pieces []int64
	over   *reservation // the other leg's
	on     []int32      // of a part: its nodes, by the numbers of their opening
	borne  bool         // another leg counts, or counted, on its nodes; most spare the search for one when they end

	// In a group that makes promises.
	flex   grid.Flex // its window; once it is fixed, its own interval
	shifts uint32    // how often it was moved or fixed
	fixed  bool
}

// Suits refuses a leg whose group does not exist.
func (b *Backend) Suits(m agents.ClusterHold) (why grid.Reason) {
	if b.group(m.What.Group) < 0 {
		why = grid.Reason{Code: grid.Unknown, Detail: fmt.Sprintf("there is no group %q", m.What.Group)}
	} else if m.What.Part.Some() {
		why = m.What.Part.Fault(&b.groups[b.group(m.What.Group)])
	}
	return why
}

// Place locks nodes, or says what is in the way.
func (b *Backend) Place(now grid.Time, m agents.ClusterHold) grid.Reason {
	group := b.group(m.What.Group)
	r := &reservation{leg: m.Leg, group: group, what: m.What, ends: m.What.End}
	if m.Run > 0 {
		r.ends = min(r.ends, m.What.Start.Add(m.Run))
	}
	if m.Replaces != (grid.LegID{}) {
		if over := b.legs[m.Replaces]; over != nil && over.confirmed && over.group == group && !r.what.Part.Some() && !over.what.Part.Some() {
			r.over, over.borne = over, true
			r.flex = b.window(group, m.Flex)
		}
	}
	if r.what.Start < now {
		if !m.Again {
			return grid.Reason{Code: grid.Past, Detail: fmt.Sprintf("start %v lies before the cluster's now, %v", r.what.Start, now)}
		}
		r.what.Start = now
	}
	if m.Flex.Movable(r.what) && r.over == nil && b.queues[group].promises != nil {
		return b.promise(now, r, m.Flex)
	}
	b.number++
	r.number = b.number
	if m.Force {
		b.clear(now, group, r.what.Start, r.what.End, r.what.Nodes)
	}
	b.pin(r.over)
	if why := b.take(now, r); why.Refused() {
		b.unpin(r.over)
		return why
	}
	b.keep(r)
	return grid.Reason{}
}

// keep adds a reservation that has its nodes, and records it.
func (b *Backend) keep(r *reservation) {
	if old := b.legs[r.leg]; old != nil {
		old.gone = true
	}
	b.legs[r.leg] = r
	b.order = append(b.order, r)
	b.agenda.add(r.what.End, ending, r)
	b.version++
	f := facts.NodesLocked{Leg: r.leg, What: r.what, Ends: r.ends, Flex: r.flex, On: r.on}
	if r.over != nil {
		f.Beside = r.over.leg
	}
	b.host.Record(f)
}

// take reserves everything that a leg needs, or nothing.
func (b *Backend) take(now grid.Time, r *reservation) grid.Reason {
	if r.what.End <= r.what.Start {
		return grid.Reason{Code: grid.Past, Detail: fmt.Sprintf("its end, %v, has passed", r.what.End)}
	}
	if r.what.Part.Some() {
		return b.takePart(now, r)
	}
	for _, p := range r.needs() {
		p.Start = max(p.Start, now)
		if p.Start >= p.End || p.Nodes <= 0 {
			continue
		}
		b.number++
		p.ID = b.number
		if why := b.queues[r.group].Reserve(now, p); why.Refused() {
			b.giveBack(now, r)
			return why
		}
		r.pieces = append(r.pieces, p.ID)
	}
	return grid.Reason{}
}

// needs lists what a leg must reserve: all its nodes or, if it counts on another leg's
// nodes, the time before that leg, the nodes that it needs more, and the time after it.
func (r *reservation) needs() []backfill.Reserved {
	n, s, e := r.what.Nodes, r.what.Start, r.what.End
	if r.over == nil {
		return []backfill.Reserved{{Nodes: n, Start: s, End: e}}
	}
	from, to := max(s, r.over.what.Start), min(e, r.over.what.End)
	if from >= to {
		return []backfill.Reserved{{Nodes: n, Start: s, End: e}}
	}
	return []backfill.Reserved{
		{Nodes: n, Start: s, End: from},
		{Nodes: n - r.over.what.Nodes, Start: from, End: to},
		{Nodes: n, Start: to, End: e},
	}
}

// giveBack gives back to the queue the nodes that a leg still has.
func (b *Backend) giveBack(now grid.Time, r *reservation) {
	for _, id := range r.pieces {
		delete(b.flexible, id)
		b.queues[r.group].Release(now, id)
	}
	r.pieces = r.pieces[:0]
	b.leave(now, r, r.on)
	r.on = nil
}

// standAlone makes every leg that counts on r's nodes reserve them itself, now that r has
// given them back. It must be called in the same instant, while they are still free.
func (b *Backend) standAlone(now grid.Time, r *reservation) {
	if !r.borne {
		return
	}
	for _, other := range b.order {
		if other.over != r || other.gone {
			continue
		}
		other.over = nil
		b.giveBack(now, other)
		if why := b.take(now, other); why.Refused() {
			panic(fmt.Sprintf("cluster/queue: lock %v cannot stand for itself: %v", other.leg, why))
		}
	}
}

// Confirm makes work run in a reservation, from its start on.
func (b *Backend) Confirm(now grid.Time, leg grid.LegID, _ *grid.Handover) {
	r := b.legs[leg]
	b.number++
	r.confirmed, r.agreed, r.ends = true, b.number, max(r.ends, now)
	b.open(r)
	if r.ends < r.what.End {
		b.agenda.add(r.ends, ending, r)
	}
	if r.what.Start <= now {
		b.run(now, r)
		return
	}
	b.agenda.add(r.what.Start, starting, r)
}

// run starts the work of a reservation.
func (b *Backend) run(now grid.Time, r *reservation) {
	r.running = true
	b.moved(now, r.leg, facts.LockRunning)
}

// end frees a reservation whose work is over.
func (b *Backend) end(now grid.Time, r *reservation) {
	b.vacate(now, r)
	b.moved(now, r.leg, facts.LockEnded)
}

// Release frees what is kept for a leg. It returns false, because the facts report every
// begin of work.
func (b *Backend) Release(now grid.Time, leg grid.LegID) (begun bool) {
	if r := b.legs[leg]; r != nil {
		b.free(now, r)
	}
	return false
}

// free gives up a leg. If it counted on another leg's nodes, that one may move again.
func (b *Backend) free(now grid.Time, r *reservation) {
	b.vacate(now, r)
	if !r.confirmed {
		b.unpin(r.over)
	}
}

// vacate gives a leg's nodes back.
func (b *Backend) vacate(now grid.Time, r *reservation) {
	b.giveBack(now, r)
	b.standAlone(now, r)
	b.version++
	b.host.Record(facts.NodesFreed{Leg: r.leg, When: b.host.When(now)})
	delete(b.legs, r.leg)
	r.gone = true
	if 4*len(b.order) > 5*len(b.legs)+64 {
		gone := func(r *reservation) bool { return r.gone }
		b.order = slices.DeleteFunc(b.order, gone)
		b.agenda.sweep(gone)
	}
}

// moved records a leg's new state.
func (b *Backend) moved(now grid.Time, leg grid.LegID, to facts.LockState) {
	b.host.Record(facts.LockMoved{Leg: leg, State: to, When: b.host.When(now)})
}
