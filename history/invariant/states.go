package invariant

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I5: legs move only along the state table.

// states is the rule I5.
type states struct{ *journal }

// along checks a leg's move.
func (r *states) along(l *siteLeg, f facts.LegMoved, from grid.LegState, known bool) {
	switch {
	case l.tomb || l.forgotten:
		r.breaks("I5", "leg %v, cancelled before it was known or long over, is %v", f.Leg, f.State)
	case known && !from.CanMove(f.State):
		r.breaks("I5", "leg %v goes from %v to %v", f.Leg, from, f.State)
	}
}

// entombs checks that a leg that must never be held is not known.
func (r *states) entombs(l *siteLeg, id grid.LegID) {
	if l != nil && !l.forgotten {
		r.breaks("I5", "leg %v is %v and is cancelled as if it were not known", id, l.State)
	}
}

// forgets checks that a leg whose record is dropped is over.
func (r *states) forgets(l *siteLeg, id grid.LegID) bool {
	switch {
	case l == nil && !r.whole:
	case l == nil:
		r.breaks("I5", "leg %v is forgotten and was never known", id)
	case !l.State.Terminal():
		r.breaks("I5", "leg %v is %v and is forgotten", id, l.State)
	default:
		return true
	}
	return false
}

// shifts checks that a leg that is moved within its window is confirmed.
func (r *states) shifts(l *siteLeg, f facts.LegShifted) bool {
	switch {
	case l == nil && !r.whole:
		return false
	case l == nil || l.tomb || l.forgotten || l.State != grid.Confirmed && l.State != grid.Running:
		r.breaks("I5", "leg %v is moved to [%v, %v), and is not confirmed", f.Leg, f.Start, f.End)
		return false
	}
	return true
}

// remembered checks that an image has a leg as the facts have it.
func (r *states) remembered(l *siteLeg, m *facts.LegMemory) bool {
	switch {
	case l == nil || l.forgotten:
		r.breaks("I5", "the image has leg %v as %v, the facts do not know it", m.Leg, m.State)
	case l.State != m.State || l.tomb != m.Tomb:
		r.breaks("I5", "the image has leg %v as %v, by the facts it is %v", m.Leg, m.State, l.State)
	default:
		return true
	}
	return false
}

// leftOut checks that an image leaves no leg out.
func (r *states) leftOut(l *siteLeg, id grid.LegID) {
	if !l.forgotten && l.State != grid.Asked {
		r.breaks("I5", "the image does not have leg %v, by the facts it is %v", id, l.State)
	}
}
