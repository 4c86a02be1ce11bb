package invariant

import "bourse"

// I5: legs move only along the state table.

// movesAlong checks a leg's move.
func (t *Trail) movesAlong(l *siteLeg, f bourse.LegMoved, from bourse.LegState, known bool) {
	switch {
	case l.tomb || l.forgotten:
		t.breaks("I5", "leg %v, cancelled before it was known or long over, is %v", f.Leg, f.State)
	case known && !from.CanMove(f.State):
		t.breaks("I5", "leg %v goes from %v to %v", f.Leg, from, f.State)
	}
}

// entomb notes that a leg is never to be held.
func (t *Trail) entomb(id bourse.LegID) {
	l := t.legs[id]
	if l != nil && !l.forgotten {
		t.breaks("I5", "leg %v is %v and is cancelled as if it were not known", id, l.State)
	}
	t.legs[id] = &siteLeg{LegMoved: bourse.LegMoved{Leg: id, State: bourse.Cancelled}, at: t.at, tomb: true}
}

// forgotten notes legs whose memory is given up: none that is not over.
func (t *Trail) forgotten(legs []bourse.LegID) {
	for _, id := range legs {
		switch l := t.legs[id]; {
		case l == nil && !t.whole:
		case l == nil:
			t.breaks("I5", "leg %v is forgotten and was never known", id)
		case !l.State.Terminal():
			t.breaks("I5", "leg %v is %v and is forgotten", id, l.State)
		default:
			l.forgotten, l.tomb = true, false
		}
	}
}
