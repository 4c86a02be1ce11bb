package queue

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/sla"
)

// The cluster's side of flexible legs. Nodes are promised somewhere within the leg's window.
// Until the leg is confirmed they stay where the site was told; after that they may move
// until they are fixed or the work starts. Every move is recorded, and so reported to the
// site.

// window is a leg's window as far as a group supports it: none if the group makes no
// promises, because a lock there lies where it was asked for.
func (b *Backend) window(group int, w grid.Flex) grid.Flex {
	if b.queues[group].promises == nil {
		return grid.Flex{}
	}
	return w
}

// promise locks nodes for a leg somewhere within its window.
func (b *Backend) promise(now grid.Time, r *reservation, w grid.Flex) grid.Reason {
	q := b.queues[r.group]
	q.reach(now)
	b.number++
	r.number = b.number
	got, why := q.promise(sla.ForLeg(b.number, now, r.what, w))
	if why.Refused() {
		return why
	}
	length := r.ends.Sub(r.what.Start)
	r.what.Start, r.what.End = got.Start, got.End()
	r.ends = got.Start.Add(length)
	r.pieces, r.flex = append(r.pieces, b.number), w
	q.promises.Pin(b.number)
	b.flexible[b.number] = r
	b.keep(r)
	return grid.Reason{}
}

// Elsewhere says when nodes could be had instead of what was refused, and which legs could be
// shifted to make room.
func (b *Backend) Elsewhere(now grid.Time, m agents.ClusterHold) ([]grid.Time, []agents.LegShift) {
	return b.instead(now, m), b.shifts(now, m)
}

// instead lists other starts at which the nodes that were refused could be had.
func (b *Backend) instead(now grid.Time, m agents.ClusterHold) []grid.Time {
	for i, q := range b.queues {
		if b.groups[i].Name != m.What.Group || q.promises == nil || m.Flex.Phi == 0 {
			continue
		}
		q.reach(now)
		var list []grid.Time
		for _, o := range q.promises.Alternatives(sla.ForLeg(b.number+1, now, m.What, m.Flex), agents.MaxInstead) {
			list = append(list, o.Start)
		}
		return list
	}
	return nil
}

// shifts lists confirmed legs, each of which, if shifted, would make room for what was
// refused, as far as the cluster can see.
func (b *Backend) shifts(now grid.Time, m agents.ClusterHold) []agents.LegShift {
	i := b.group(m.What.Group)
	if m.Shift <= 0 || i < 0 || b.queues[i].promises == nil {
		return nil
	}
	q := b.queues[i]
	q.reach(now)
	var list []agents.LegShift
	for _, sh := range q.promises.ShiftsOf(sla.ForLeg(b.number+1, now, m.What, m.Flex), m.Shift, b.mayShift) {
		r := b.flexible[sh.ID]
		x := agents.LegShift{Leg: r.leg, Ready: sh.Ready, Due: sh.Due, Start: sh.Ready}
		if at, _ := q.promises.Promise(sh.ID); sh.Ready > at.Ready { // shift it no further than necessary
			x.Start = sh.Due.Add(-r.what.Duration())
		}
		x.End = x.Start.Add(r.what.Duration())
		if list = append(list, x); len(list) == agents.MaxShifts {
			break
		}
	}
	return list
}

// mayShift reports whether a promise belongs to a confirmed leg that is not about to be
// replaced.
func (b *Backend) mayShift(id int64) bool {
	r := b.flexible[id]
	return r != nil && r.confirmed && !r.running && r.promise() == id &&
		!slices.ContainsFunc(b.order, func(o *reservation) bool { return o.over == r && !o.gone })
}

// promise is the identity of a lock's promise, or 0 if it has none because it is rigid or
// counts on another lock's nodes.
func (r *reservation) promise() int64 {
	if r.flex.Due == 0 || r.over != nil || len(r.pieces) != 1 {
		return 0
	}
	return r.pieces[0]
}

// open lets a lock that has just been confirmed move. If it has replaced another one, it has
// nodes of its own by now.
func (b *Backend) open(r *reservation) {
	if b.queues[r.group].promises != nil && r.promise() > 0 {
		b.queues[r.group].reach(b.now)
		b.loosen(r)
	}
}

// loosen lets a lock's promise move within its window from now on.
func (b *Backend) loosen(r *reservation) {
	q := b.queues[r.group]
	if q.promises == nil || r.promise() == 0 || r.fixed || !r.flex.Movable(r.what) {
		return
	}
	fix := r.flex.Fix
	if fix == 0 {
		fix = sla.NeverFix
	}
	if q.promises.Open(r.promise(), r.flex.Ready, r.flex.Due, fix) {
		b.flexible[r.promise()] = r
	}
}

// pin keeps a flexible lock in place while another one counts on its nodes; unpin lets it
// move again, if it is confirmed.
func (b *Backend) pin(r *reservation) {
	if r != nil && r.promise() > 0 {
		b.queues[r.group].reach(b.now)
		b.queues[r.group].promises.Pin(r.promise())
	}
}

func (b *Backend) unpin(r *reservation) {
	if r != nil && !r.gone && r.confirmed && !r.running && r.promise() > 0 {
		b.queues[r.group].reach(b.now)
		b.queues[r.group].promises.Unpin(r.promise())
	}
}

// shifted records that a promise was moved or fixed.
func (b *Backend) shifted(id int64, start, end grid.Time, fixed bool) {
	r := b.flexible[id]
	if r == nil {
		return
	}
	b.version++
	if start != r.what.Start {
		r.ends = r.ends.Add(start.Sub(r.what.Start))
		r.what.Start, r.what.End = start, end
		b.agenda.add(r.what.End, ending, r)
		if r.ends < r.what.End {
			b.agenda.add(r.ends, ending, r)
		}
		b.agenda.add(r.what.Start, starting, r)
	}
	r.shifts++
	r.fixed = fixed
	b.host.Record(facts.NodesMoved{Leg: r.leg, Start: start, End: end, Shifts: r.shifts, Fixed: fixed, When: b.host.When(b.queues[r.group].group.Now())})
}

// plans shows the promises of the groups that make any; nil if none does.
func (b *Backend) plans() []*sla.Image {
	var list []*sla.Image
	for i, q := range b.queues {
		if q.promises == nil {
			continue
		}
		if list == nil {
			list = make([]*sla.Image, len(b.queues))
		}
		m := q.promises.Image()
		list[i] = &m
	}
	return list
}
