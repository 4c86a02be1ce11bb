package invariant

import (
	"cmp"
	"slices"

	"bourse"
)

// I17: a promise is kept. A leg lies within the window that was agreed and is as long
// as before; its moves are numbered without a gap. It does not move once its work has
// begun, nor where it is one of several with a common start.

// nodesMoveWithin holds a move of a lock at its cluster to its window.
func (t *Trail) nodesMoveWithin(at bourse.Time, l *lock, f bourse.NodesMoved) {
	switch {
	case f.End-f.Start != l.whole.end-l.whole.start:
		t.breaks("I17", "leg %v takes [%v, %v) at its cluster and is moved to [%v, %v), which is not as long", f.Leg, l.whole.start, l.whole.end, f.Start, f.End)
	case l.flex.Due > 0 && !l.flex.Holds(f.Start, f.End):
		t.breaks("I17", "leg %v is moved to [%v, %v), out of its window [%v, %v)", f.Leg, f.Start, f.End, l.flex.Ready, l.flex.Due)
	case f.Start != l.whole.start && l.whole.start < cmp.Or(f.When, at):
		t.breaks("I17", "leg %v has begun at %v and is moved to %v", f.Leg, l.whole.start, f.Start)
	case l.fixed && f.Start != l.whole.start:
		t.breaks("I17", "leg %v was to stay at %v and is moved to %v", f.Leg, l.whole.start, f.Start)
	}
}

// shiftsWithin holds a move of a leg, as its site tells it, to its window. A site may
// hear of it when the leg runs already; where messages take no time it may not.
func (t *Trail) shiftsWithin(at bourse.Time, l *siteLeg, f bourse.LegShifted) {
	switch {
	case f.Shifts <= l.lastShift:
		t.breaks("I17", "leg %v is moved for the %d. time after the %d.", f.Leg, f.Shifts, l.lastShift)
	case !l.Flex.Holds(f.Start, f.End):
		t.breaks("I17", "leg %v is moved to [%v, %v), out of its window [%v, %v)", f.Leg, f.Start, f.End, l.Flex.Ready, l.Flex.Due)
	case f.End.Sub(f.Start) != l.What.Duration():
		t.breaks("I17", "leg %v lies over [%v, %v) and is moved to [%v, %v), which is not as long", f.Leg, l.What.Start, l.What.End, f.Start, f.End)
	}
	if !t.audit.together {
		return
	}
	switch x := t.of(f.Leg); {
	case l.State != bourse.Confirmed:
		t.breaks("I17", "leg %v is moved to [%v, %v) and is %v", f.Leg, f.Start, f.End, l.State)
	case f.Shifts != l.lastShift+1:
		t.breaks("I17", "shift %d of leg %v follows shift %d", f.Shifts, f.Leg, l.lastShift)
	case f.Start < at:
		t.breaks("I17", "leg %v is moved to %v, which is past", f.Leg, f.Start)
	case x != nil && len(x.legs) != 1:
		t.breaks("I17", "leg %v is one of %d with a common start, and is moved alone", f.Leg, len(x.legs))
	}
}

// startsAsPromised holds a leg with a window that begins to run to where it lay.
func (t *Trail) startsAsPromised(l *siteLeg, f bourse.LegMoved) {
	if t.audit.together && f.State == bourse.Running && f.Flex.Due > 0 && (f.What.Start != l.What.Start || f.What.Start != t.at) {
		t.breaks("I17", "leg %v runs from %v on, promised for %v", f.Leg, t.at, l.What.Start)
	}
}

// lies takes note where the site has placed a leg that leaves it a choice, and holds
// the place to the window that its job leaves.
func (t *Trail) lies(x *tx, id bourse.LegID, start, end bourse.Time) {
	if id.Leg < 0 || id.Leg >= len(x.legs) || id.Leg >= len(x.begun.Legs) {
		t.breaks("I2", "transaction %v has %d legs, not %v", id.Tx, len(x.legs), id)
		return
	}
	switch was, w := x.begun.Legs[id.Leg], x.begun.Flex; {
	case w.Due == 0 || t.audit.exempt[id]:
	case !w.Holds(start, end):
		t.breaks("I17", "leg %v lies over [%v, %v), out of its window [%v, %v)", id, start, end, w.Ready, w.Due)
	case end.Sub(start) != was.Duration():
		t.breaks("I17", "leg %v takes %v in place of %v seconds", id, end.Sub(start), was.Duration())
	}
	x.begun.Legs = slices.Clone(x.begun.Legs)
	x.begun.Legs[id.Leg].Start, x.begun.Legs[id.Leg].End = start, end
}

// saidBySite checks that a broker has a leg where its site has said.
func (t *Trail) saidBySite(x *tx, f bourse.LegShifted) {
	s := t.audit.trails[site(x.begun.Sites[f.Leg.Leg])]
	if s == nil || s.legs[f.Leg] == nil {
		return
	}
	if said := s.legs[f.Leg].shifts; !slices.Contains(said, f) {
		t.breaks("I17", "the broker has leg %v over [%v, %v), shift %d: its site has said %v", f.Leg, f.Start, f.End, f.Shifts, said)
	}
}
