package invariant

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I17: a promise is kept. A leg lies within the window that was agreed and is as long
// as before; its moves are numbered without a gap. It does not move once its work has
// begun, nor where it is one of several with a common start.

// promises is the rule I17.
type promises struct{ *journal }

// nodesMoveWithin checks a move of a lock at its cluster against its window.
func (r *promises) nodesMoveWithin(at grid.Time, l *lock, f facts.NodesMoved) {
	switch {
	case f.End-f.Start != l.whole.end-l.whole.start:
		r.breaks("I17", "leg %v takes [%v, %v) at its cluster and is moved to [%v, %v), which is not as long", f.Leg, l.whole.start, l.whole.end, f.Start, f.End)
	case l.flex.Due > 0 && !l.flex.Holds(f.Start, f.End):
		r.breaks("I17", "leg %v is moved to [%v, %v), out of its window [%v, %v)", f.Leg, f.Start, f.End, l.flex.Ready, l.flex.Due)
	case f.Start != l.whole.start && l.whole.start < cmp.Or(f.When, at):
		r.breaks("I17", "leg %v has begun at %v and is moved to %v", f.Leg, l.whole.start, f.Start)
	case l.fixed && f.Start != l.whole.start:
		r.breaks("I17", "leg %v was to stay at %v and is moved to %v", f.Leg, l.whole.start, f.Start)
	}
}

// shiftsWithin checks a move of a leg, as its site reports it, against its window. The
// leg may run already when its site hears of the move, unless messages take no time.
func (r *promises) shiftsWithin(at grid.Time, l *siteLeg, f facts.LegShifted) {
	switch {
	case f.Shifts <= l.lastShift:
		r.breaks("I17", "leg %v is moved for the %d. time after the %d.", f.Leg, f.Shifts, l.lastShift)
	case !l.Flex.Holds(f.Start, f.End):
		r.breaks("I17", "leg %v is moved to [%v, %v), out of its window [%v, %v)", f.Leg, f.Start, f.End, l.Flex.Ready, l.Flex.Due)
	case f.End.Sub(f.Start) != l.What.Duration():
		r.breaks("I17", "leg %v lies over [%v, %v) and is moved to [%v, %v), which is not as long", f.Leg, l.What.Start, l.What.End, f.Start, f.End)
	}
	if !r.audit.together {
		return
	}
	switch x := r.audit.of(f.Leg); {
	case l.State != grid.Confirmed:
		r.breaks("I17", "leg %v is moved to [%v, %v) and is %v", f.Leg, f.Start, f.End, l.State)
	case f.Shifts != l.lastShift+1:
		r.breaks("I17", "shift %d of leg %v follows shift %d", f.Shifts, f.Leg, l.lastShift)
	case f.Start < at:
		r.breaks("I17", "leg %v is moved to %v, which is past", f.Leg, f.Start)
	case x != nil && len(x.legs) != 1:
		r.breaks("I17", "leg %v is one of %d with a common start, and is moved alone", f.Leg, len(x.legs))
	}
}

// startsAsPromised checks that a leg with a window begins to run where it lay.
func (r *promises) startsAsPromised(l *siteLeg, f facts.LegMoved) {
	if r.audit.together && f.State == grid.Running && f.Flex.Due > 0 && (f.What.Start != l.What.Start || f.What.Start != r.at) {
		r.breaks("I17", "leg %v runs from %v on, promised for %v", f.Leg, r.at, l.What.Start)
	}
}

// liesWithin checks the place that a site has given a leg against the leg's window.
func (r *promises) liesWithin(x *tx, id grid.LegID, start, end grid.Time) {
	switch was, w := x.begun.Legs[id.Leg], x.begun.Flex; {
	case w.Due == 0 || r.audit.exempt[id]:
	case !w.Holds(start, end):
		r.breaks("I17", "leg %v lies over [%v, %v), out of its window [%v, %v)", id, start, end, w.Ready, w.Due)
	case end.Sub(start) != was.Duration():
		r.breaks("I17", "leg %v takes %v in place of %v seconds", id, end.Sub(start), was.Duration())
	}
}

// saidBySite checks that a broker has a leg where its site has said.
func (r *promises) saidBySite(x *tx, f facts.LegShifted) {
	s := r.audit.trails[site(x.begun.Sites[f.Leg.Leg])]
	if s == nil || s.legs[f.Leg] == nil {
		return
	}
	if said := s.legs[f.Leg].shifts; !slices.Contains(said, f) {
		r.breaks("I17", "the broker has leg %v over [%v, %v), shift %d: its site has said %v", f.Leg, f.Start, f.End, f.Shifts, said)
	}
}
