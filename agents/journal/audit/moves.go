package audit

import (
	"cmp"
	"slices"

	"bourse"
	"bourse/agents"
)

// Legs that leave their site a choice are moved within their windows: by the
// cluster, which keeps the nodes, and says so to the site, which says so to the
// broker.

// nodesMoved has a lock lie elsewhere. Whether there is room is seen when all that
// move together have.
func (t *Trail) nodesMoved(at bourse.Time, f bourse.NodesMoved) {
	l := t.locks[f.Leg]
	if l == nil {
		if t.whole {
			t.breaks("I1", "nodes are moved for leg %v, and none are locked for it", f.Leg)
		}
		return
	}
	to := claim{l.whole.nodes, f.Start, f.End}
	switch {
	case to.end-to.start != l.whole.end-l.whole.start:
		t.breaks("I9", "leg %v takes [%v, %v) at its cluster and is moved to [%v, %v), which is not as long", f.Leg, l.whole.start, l.whole.end, f.Start, f.End)
	case l.flex.Due > 0 && !l.flex.Holds(f.Start, f.End):
		t.breaks("I9", "leg %v is moved to [%v, %v), out of its window [%v, %v)", f.Leg, f.Start, f.End, l.flex.Ready, l.flex.Due)
	case to.start != l.whole.start && l.whole.start < cmp.Or(f.When, at):
		t.breaks("I9", "leg %v has begun at %v and is moved to %v", f.Leg, l.whole.start, f.Start)
	case l.fixed && to.start != l.whole.start:
		t.breaks("I9", "leg %v was to stay at %v and is moved to %v", f.Leg, l.whole.start, f.Start)
	}
	for _, c := range l.claims {
		t.take(at, l.group, c, +1)
	}
	l.whole, l.claims, l.fixed = to, []claim{to}, f.Fixed
	t.take(at, l.group, to, -1)
	t.moves = append(t.moves, f.Leg)
}

// together holds those that were moved one after the other to I1, at the first fact
// after their moves that is of something else. A journal that ends among them may
// be torn, and what comes of that its next life says.
func (t *Trail) together(f agents.Fact) {
	switch f.(type) {
	case bourse.NodesMoved, bourse.JobPromised, bourse.NodesFreed, bourse.LockMoved, bourse.JobRefused, bourse.JobEnded:
		return
	}
	for _, id := range t.moves {
		l := t.locks[id]
		if l == nil {
			continue
		}
		free := t.free[l.group]
		if free == nil {
			continue
		}
		if s := max(l.whole.start, (*free)[0].At); s < l.whole.end && free.Min(s, l.whole.end) < 0 {
			t.breaks("I1", "leg %v is moved to [%v, %v), and %d nodes of group %s are promised twice",
				id, l.whole.start, l.whole.end, -free.Min(s, l.whole.end), l.group)
		}
	}
	t.moves = t.moves[:0]
}

// shifted takes note that a leg lies elsewhere within its window, or is fixed: of
// a site, or of a broker.
func (t *Trail) shifted(at bourse.Time, f bourse.LegShifted) {
	if x := t.txs[f.Leg.Tx]; x != nil {
		t.lies(x, f.Leg, f.Start, f.End)
		return
	}
	l := t.legs[f.Leg]
	switch {
	case l == nil && !t.whole:
		return
	case l == nil || l.tomb || l.forgotten || l.State != bourse.Confirmed && l.State != bourse.Running:
		t.breaks("I5", "leg %v is moved to [%v, %v), and is not confirmed", f.Leg, f.Start, f.End)
		return
	case f.Turn <= l.turn:
		t.breaks("I5", "leg %v is moved for the %d. time after the %d.", f.Leg, f.Turn, l.turn)
	case !l.Flex.Holds(f.Start, f.End):
		t.breaks("I9", "leg %v is moved to [%v, %v), out of its window [%v, %v)", f.Leg, f.Start, f.End, l.Flex.Ready, l.Flex.Due)
	case f.End.Sub(f.Start) != l.What.Duration():
		t.breaks("I9", "leg %v lies over [%v, %v) and is moved to [%v, %v), which is not as long", f.Leg, l.What.Start, l.What.End, f.Start, f.End)
	}
	l.What.Start, l.What.End, l.turn = f.Start, f.End, f.Turn
	if f.Fixed {
		l.Flex.Ready, l.Flex.Due = f.Start, f.End
	}
	held := l.claims
	if held == nil {
		held = []claim{} // it is no newcomer
	}
	t.claim(at, l, held)
}

// lies takes note where the site has placed a leg that leaves it a choice, and
// holds the place to the job's request.
func (t *Trail) lies(x *tx, id bourse.LegID, start, end bourse.Time) {
	if id.Leg < 0 || id.Leg >= len(x.legs) || id.Leg >= len(x.begun.Legs) {
		t.breaks("I2", "transaction %v has %d legs, not %v", id.Tx, len(x.legs), id)
		return
	}
	if w := x.begun.Flex; w.Due > 0 && !w.Holds(start, end) && !t.audit.exempt[id] {
		t.breaks("I9", "leg %v lies over [%v, %v), out of its window [%v, %v)", id, start, end, w.Ready, w.Due)
	}
	x.begun.Legs = slices.Clone(x.begun.Legs)
	x.begun.Legs[id.Leg].Start, x.begun.Legs[id.Leg].End = start, end
}
