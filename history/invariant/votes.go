package invariant

import "github.com/bourse-grid/bourse/grid"

// I15: nothing is committed of which a leg has gone, and of several legs nothing
// before each was prepared.

// votes is the rule I15.
type votes struct{ *journal }

// voted checks that every leg of what is committed was held.
func (r *votes) voted(x *tx) {
	for i := range x.legs {
		if id := (grid.LegID{Tx: x.begun.Tx, Leg: i}); !x.legs[i].priced && !r.audit.exempt[id] {
			r.breaks("I15", "COMMIT of transaction %v, whose leg %d was never held", x.begun.Tx, i)
		}
	}
}

// unprepared reports whether a leg of several was confirmed without having been
// prepared, by the journal of its site.
func unprepared(x *tx, s *Trail, l *siteLeg) bool {
	return x.commit && len(x.legs) > 1 && s.whole && l.charged && !l.prepared
}
