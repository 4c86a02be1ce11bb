package audit

import (
	"bourse"
	"bourse/agents"
)

// siteLeg is a leg as its site's journal shows it.
type siteLeg struct {
	bourse.LegMoved             // its last move
	at              bourse.Time // of it
	tomb            bool        // cancelled before it was known
	forgotten       bool        // long over
	prepared        bool        // it was, once
	charged         bool        // confirmed once
	claims          []claim     // of nodes
	turn            uint32      // of its last shift

	by bourse.LegID // confirmed in its place
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
	switch {
	case l.tomb || l.forgotten:
		t.breaks("I5", "leg %v, cancelled before it was known or long over, is %v", f.Leg, f.State)
	case known && !from.CanMove(f.State):
		t.breaks("I5", "leg %v goes from %v to %v", f.Leg, from, f.State)
	}
	switch {
	case f.State == bourse.Held && f.Fare.Total() > f.Limit:
		t.breaks("I10", "leg %v is held at %v credits, above its limit %v", f.Leg, f.Fare.Total(), f.Limit)
	case known && from.Blocks() && f.State != bourse.Held && f.Fare != l.Fare:
		t.breaks("I10", "leg %v was held at %v + %v credits and is %v at %v + %v",
			f.Leg, l.Fare.Base, l.Fare.Additive, f.State, f.Fare.Base, f.Fare.Additive)
	}
	if (f.State == bourse.Running || f.State == bourse.Settled) && f.Flex.Early(f.What, at) && !t.audit.exempt[f.Leg] {
		t.breaks("I9", "leg %v is %v at %v, and its window begins at %v", f.Leg, f.State, at, f.What.Start)
	}
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
}

// money checks what a move posts back: once, of what was charged, no more.
func (t *Trail) money(l *siteLeg, f bourse.LegMoved, known bool) {
	if f.Refund < 0 || f.Penalty < 0 {
		t.breaks("I8", "leg %v is given back %v and a penalty of %v credits", f.Leg, f.Refund, f.Penalty)
	}
	switch {
	case f.Refund == 0:
	case known && !l.charged:
		t.breaks("I8", "leg %v was never charged, and %v credits are given back", f.Leg, f.Refund)
	case l.Refund > 0 && f.Refund != l.Refund:
		t.breaks("I8", "leg %v is given back %v credits, and %v before", f.Leg, f.Refund, l.Refund)
	case f.Refund > f.Fare.Total():
		t.breaks("I8", "leg %v cost %v credits, and %v are given back", f.Leg, f.Fare.Total(), f.Refund)
	case known && f.State == bourse.Released:
		t.swapped(l, f)
	}
	if f.Kept < 0 || f.Kept > f.Fare.Total() {
		t.breaks("I8", "leg %v costs %v credits, and %v of them are kept", f.Leg, f.Fare.Total(), f.Kept)
	}
}

// swapped holds what a leg brings back that another has taken the place of to what
// is kept of that one: the rest is what a schedule gives back, and no schedule gives
// back the additive part, nor what was kept of the leg itself (S121). Versions before
// this rule kept nothing.
func (t *Trail) swapped(l *siteLeg, f bourse.LegMoved) {
	by := t.legs[l.by]
	if by == nil || t.audit.exempt[f.Leg] || t.audit.exempt[l.by] {
		return
	}
	most := min(f.Fare.Base, f.Fare.Total()-l.Kept)
	switch back := f.Refund - by.Kept; {
	case back <= most || by.Kept == by.Fare.Total():
	case by.Kept == 0 && l.Kept == 0:
		t.notes("I8", "leg %v at %v + %v credits gives way to leg %v, %v come back and nothing is kept of that: right only of an earlier version",
			f.Leg, f.Fare.Base, f.Fare.Additive, l.by, f.Refund)
	default:
		t.breaks("I8", "leg %v, of which a schedule gives back %v credits at most, gives way to leg %v: %v come back, and %v are kept of that",
			f.Leg, most, l.by, f.Refund, by.Kept)
	}
}

// limits checks how long the leg stayed held or prepared. A restart begins a
// limit afresh, and the journal does not show restarts; but none lasts past the
// start.
func (t *Trail) limits(at bourse.Time, l *siteLeg, f bourse.LegMoved) {
	if l.State != bourse.Held && l.State != bourse.Prepared {
		return
	}
	if f.State == bourse.Confirmed && at > l.What.Start {
		t.breaks("I4", "leg %v starts at %v and was still %v at %v", f.Leg, l.What.Start, l.State, at)
		return
	}
	if l.For > 0 && at > l.at.Add(l.For) {
		t.notes("I4", "leg %v was %v for %v s, its limit is %v s: right only if the site restarted meanwhile",
			f.Leg, l.State, at.Sub(l.at), l.For)
	}
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

// proved checks that a leg is restored for what its site once answered, which the
// journal has lost, and not for more. A site that does not record its lives is of
// an older build, which proved nothing.
func (t *Trail) proved(f bourse.LegRestored) {
	w, p := &f.Was, f.Proof
	paid := w.State == bourse.Confirmed || w.State == bourse.Running || w.State == bourse.Settled || w.State == bourse.Released || w.State == bourse.Lost
	switch {
	case w.Fare.Base < 0 || w.Fare.Additive < 0 || w.Refund < 0 || w.Penalty < 0 || w.Refund > w.Fare.Total():
		t.breaks("I16", "leg %v is restored as one that cost %v credits and brought back %v, and %v as a penalty", w.Leg, w.Fare.Total(), w.Refund, w.Penalty)
	case len(t.epochs) == 0 || !w.State.Blocks() && !paid:
	case p == bourse.Proof{}:
		t.breaks("I16", "leg %v is restored as %v, and no answer of the site stands behind it", w.Leg, w.State)
	case !proves(p.State, w.State):
		t.breaks("I16", "leg %v is restored as %v, and the site had answered no more than that it was %v", w.Leg, w.State, p.State)
	case t.reaches(p):
		t.breaks("I16", "leg %v is restored as %v by an answer that the journal reaches: the site had forgotten nothing", w.Leg, w.State)
	default:
		key := t.audit.keys[t.name()]
		if key != nil && !key.Proves(&agents.ListedLeg{Leg: w.Leg, What: w.What, Fare: w.Fare, Version: w.Version, Refund: w.Refund, Penalty: w.Penalty, Proof: p}) {
			t.breaks("I16", "leg %v is restored as %v by a proof that was not made with the site's key", w.Leg, w.State)
		}
	}
}

// proves reports whether having answered one state is enough to restore another.
func proves(answered, restored bourse.LegState) bool {
	switch restored {
	case bourse.Held, bourse.Prepared:
		return answered == bourse.Held
	case bourse.Settled:
		return answered == bourse.Held || answered == bourse.Confirmed
	case bourse.Running:
		return answered == bourse.Confirmed
	}
	return answered == restored
}

// reaches reports whether the journal holds, before the present fact, what had been
// recorded when an answer was given.
func (t *Trail) reaches(p bourse.Proof) bool {
	for i, e := range t.epochs {
		if e.Epoch != p.Epoch {
			continue
		}
		end := t.last.Number - 1
		if i+1 < len(t.epochs) {
			end = t.epochs[i+1].From
		}
		return p.Seq <= end
	}
	return p.Seq <= t.epochs[0].From
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
			l = &siteLeg{LegMoved: m.LegMoved, at: m.At, tomb: m.Tomb, prepared: m.State == bourse.Prepared, charged: m.Charged, turn: m.Turn}
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
