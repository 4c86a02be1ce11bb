package invariant

import "bourse"

// The fold of a site's facts. What each may break is in the files of the rules.

// siteLeg is a leg as its site's journal shows it.
type siteLeg struct {
	bourse.LegMoved             // its last move
	at              bourse.Time // of it
	tomb            bool        // cancelled before it was known
	forgotten       bool        // long over
	prepared        bool        // it was, once
	charged         bool        // confirmed once
	claims          []claim     // of nodes
	lastShift       uint32      // its number

	by     bourse.LegID        // confirmed in its place
	shifts []bourse.LegShifted // by its site, where all is seen together
}

// claim is nodes that a leg holds over an interval.
type claim struct {
	nodes      int
	start, end bourse.Time
}

// moved checks a move of a leg.
func (t *Trail) moved(at bourse.Time, f bourse.LegMoved) {
	l := t.legs[f.Leg]
	from, known := bourse.Asked, t.whole
	if l != nil {
		from, known = l.State, true
	} else {
		l = &siteLeg{}
		t.legs[f.Leg] = l
	}
	t.movesAlong(l, f, from, known)
	t.heldWithin(l, f, from, known)
	t.confirmedAfter(f)
	t.startsInTime(at, &f)
	t.startsAsPromised(l, f)
	t.money(l, f, known)
	if known {
		t.limits(at, l, f)
	}
	claims := l.claims
	if claims == nil && known && from.Blocks() {
		claims = []claim{} // it is no newcomer
	}
	if old := t.legs[f.Replaces]; old != nil && f.State == bourse.Confirmed && f.Replaces != (bourse.LegID{}) {
		old.by = f.Leg
	}
	l.LegMoved, l.at, l.tomb, l.forgotten = f, at, false, false
	l.prepared = l.prepared || f.State == bourse.Prepared
	l.charged = l.charged || f.State == bourse.Confirmed || f.State == bourse.Running || f.State == bourse.Settled
	t.claim(at, l, claims)
	t.audit.touch(f.Leg.Tx)
	t.runs(f)
}

// restored takes a leg as its broker has asserted it: an amnesia.
func (t *Trail) restored(at bourse.Time, f bourse.LegRestored) {
	t.audit.exempt[f.Was.Leg] = true
	t.proved(f)
	l := t.legs[f.Was.Leg]
	if l == nil {
		l = &siteLeg{}
		t.legs[f.Was.Leg] = l
	}
	claims := l.claims
	*l = siteLeg{LegMoved: f.Was, at: at, prepared: true, charged: f.Was.State >= bourse.Confirmed}
	t.claim(at, l, claims)
}

// imaged is what the parts of a site's image have said so far.
type imaged struct {
	legs             map[bourse.LegID]bool
	pending, account bourse.Credits // of its legs, and by its accounts
}

// image takes a site's own account of itself, or a part of it: where the journal
// has lost its beginning it is believed, else it must be what the facts came to.
func (t *Trail) image(f bourse.SiteImage) {
	t.balanced(f.Accounts)
	if len(t.epochs) == 0 {
		t.epochs = append(t.epochs, f.Epochs...)
	}
	if f.Part == 0 {
		t.imaged = imaged{legs: map[bourse.LegID]bool{}, account: bourse.Total(f.Accounts).PendingCredit}
	}
	x := &t.imaged
	for i := range f.Legs {
		m := &f.Legs[i]
		x.legs[m.Leg] = true
		if m.State == bourse.Held || m.State == bourse.Prepared {
			x.pending += m.Fare.Total()
		}
		l := t.legs[m.Leg]
		switch {
		case !t.whole && l == nil:
			l = &siteLeg{LegMoved: m.LegMoved, at: m.At, tomb: m.Tomb, prepared: m.State == bourse.Prepared, charged: m.Charged, lastShift: m.Shifts}
			t.legs[m.Leg] = l
			t.claim(t.at, l, nil)
		case l == nil || l.forgotten:
			t.breaks("I5", "the image has leg %v as %v, the facts do not know it", m.Leg, m.State)
		case l.State != m.State || l.tomb != m.Tomb:
			t.breaks("I5", "the image has leg %v as %v, by the facts it is %v", m.Leg, m.State, l.State)
		case l.Fare != m.Fare:
			t.breaks("I10", "the image has leg %v at %v credits, by the facts it is %v", m.Leg, m.Fare.Total(), l.Fare.Total())
		}
	}
	if f.Part+1 < f.Parts {
		return
	}
	for _, id := range sortedKeys(t.legs, compareLeg) {
		if l := t.legs[id]; !x.legs[id] && !l.forgotten && l.State != bourse.Asked {
			t.breaks("I5", "the image does not have leg %v, by the facts it is %v", id, l.State)
		}
	}
	if x.account != x.pending {
		t.breaks("I8", "the image has %v credits pending, its held and prepared legs come to %v", x.account, x.pending)
	}
	t.imaged = imaged{}
}
