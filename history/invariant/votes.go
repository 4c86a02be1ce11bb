package invariant

import "bourse"

// I15: nothing is committed of which a leg has gone, and of several legs nothing
// before each was prepared.

// voted checks that every leg of what is committed was held.
func (t *Trail) voted(x *tx) {
	for i := range x.legs {
		if id := (bourse.LegID{Tx: x.begun.Tx, Leg: i}); !x.legs[i].priced && !t.audit.exempt[id] {
			t.breaks("I15", "COMMIT of transaction %v, whose leg %d was never held", x.begun.Tx, i)
		}
	}
}

// unprepared reports whether a leg of several was confirmed without having been
// prepared, by the journal of its site.
func unprepared(x *tx, s *Trail, l *siteLeg) bool {
	return x.commit && len(x.legs) > 1 && s.whole && l.charged && !l.prepared
}
