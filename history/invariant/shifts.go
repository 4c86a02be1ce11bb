package invariant

import (
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
	t.nodesMoveWithin(at, l, f)
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
		if t.audit.together {
			t.saidBySite(x, f)
		}
		return
	}
	l := t.legs[f.Leg]
	switch {
	case l == nil && !t.whole:
		return
	case l == nil || l.tomb || l.forgotten || l.State != bourse.Confirmed && l.State != bourse.Running:
		t.breaks("I5", "leg %v is moved to [%v, %v), and is not confirmed", f.Leg, f.Start, f.End)
		return
	}
	t.shiftsWithin(at, l, f)
	if t.audit.together {
		l.shifts = append(l.shifts, f)
	}
	l.What.Start, l.What.End, l.lastShift = f.Start, f.End, f.Shifts
	if f.Fixed {
		l.Flex.Ready, l.Flex.Due = f.Start, f.End
	}
	held := l.claims
	if held == nil {
		held = []claim{} // it is no newcomer
	}
	t.claim(at, l, held)
}
