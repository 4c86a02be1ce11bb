package invariant

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The fold of a site's facts. What each may break is in the files of the rules.

// siteLeg is a leg as its site's journal shows it.
type siteLeg struct {
	facts.LegMoved            // its last move
	on              []int32   // of a part: its nodes
	at              grid.Time // of it
	tomb            bool      // cancelled before it was known
	forgotten       bool      // long over
	prepared        bool      // it was, once
	charged         bool      // confirmed once
	claims          []claim   // of nodes
	lastShift, told uint32    // the number of its last shift, and of the last that its broker has noted

	by     grid.LegID         // confirmed in its place
	shifts []facts.LegShifted // by its site, where all is seen together
}

// siteLegs are the legs of a site.
type siteLegs map[grid.LegID]*siteLeg

// claim is nodes that a leg holds over an interval.
type claim struct {
	nodes      int
	start, end grid.Time
}

// moved checks a move of a leg.
func (t *Trail) moved(at grid.Time, f facts.LegMoved) {
	l := t.legs[f.Leg]
	from, known := grid.Asked, t.whole
	if l != nil {
		from, known = l.State, true
	} else {
		l = &siteLeg{}
		t.legs[f.Leg] = l
	}
	t.states.along(l, f, from, known)
	t.prices.heldWithin(l, f, from, known)
	t.agreement.confirmedAfter(f)
	t.windows.startsInTime(at, &f)
	t.promises.startsAsPromised(l, f)
	t.money.postedBack(l, f, known)
	if known {
		t.limits.kept(at, l, f)
	}
	claims := l.claims
	if claims == nil && known && from.Blocks() {
		claims = []claim{} // it is no newcomer
	}
	if old := t.legs[f.Replaces]; old != nil && f.State == grid.Confirmed && f.Replaces != (grid.LegID{}) {
		old.by = f.Leg
	}
	l.LegMoved, l.at, l.tomb, l.forgotten = f, at, false, false
	l.lies(f.Real)
	l.prepared = l.prepared || f.State == grid.Prepared
	l.charged = l.charged || f.State == grid.Confirmed || f.State == grid.Running || f.State == grid.Settled
	t.nodes.claim(at, l, claims)
	t.shares.moved(l)
	t.audit.touch(f.Leg.Tx)
	t.order.runs(f)
}

// restored takes a leg as its broker has asserted it: an amnesia.
func (t *Trail) restored(at grid.Time, f facts.LegRestored) {
	t.audit.exempt[f.Was.Leg] = true
	t.proofs.proved(f)
	l := t.legs[f.Was.Leg]
	if l == nil {
		l = &siteLeg{}
		t.legs[f.Was.Leg] = l
	}
	claims := l.claims
	t.nodes.unshare(at, l.Leg, l.What, l.on)
	*l = siteLeg{LegMoved: f.Was, at: at, prepared: true, charged: f.Was.State >= grid.Confirmed}
	l.lies(f.Was.Real)
	t.nodes.claim(at, l, claims)
}

// imaged is what the parts of a site's image have said so far.
type imaged struct {
	legs             map[grid.LegID]bool
	pending, account grid.Credits // of its legs, and by its accounts
}

// image takes an image of a site, or a part of it. It is believed where the journal has
// lost its beginning, and must agree with the facts elsewhere.
func (t *Trail) image(f facts.SiteImage) {
	t.money.balanced(f.Accounts)
	t.proofs.remembers(f.Epochs)
	t.nodes.set(t.at, f.Sizes)
	if f.Part == 0 {
		t.imaged = imaged{legs: map[grid.LegID]bool{}, account: grid.Total(f.Accounts).PendingCredit}
	}
	x := &t.imaged
	for i := range f.Legs {
		m := &f.Legs[i]
		x.legs[m.Leg] = true
		if m.State == grid.Held || m.State == grid.Prepared {
			x.pending += m.Fare.Total()
		}
		l := t.legs[m.Leg]
		switch {
		case !t.whole && l == nil:
			l = &siteLeg{LegMoved: m.LegMoved, at: m.At, tomb: m.Tomb, prepared: m.State == grid.Prepared, charged: m.Charged, lastShift: m.Shifts, told: m.Told}
			l.lies(m.Real)
			t.legs[m.Leg] = l
			t.nodes.claim(t.at, l, nil)
		case t.states.remembered(l, m):
			t.prices.remembered(l, m)
		}
	}
	if f.Part+1 < f.Parts {
		return
	}
	for _, id := range sortedKeys(t.legs, compareLeg) {
		if !x.legs[id] {
			t.states.leftOut(t.legs[id], id)
		}
	}
	t.money.remembered(x)
	t.imaged = imaged{}
}

// entomb notes that a leg must never be held.
func (t *Trail) entomb(id grid.LegID) {
	t.states.entombs(t.legs[id], id)
	t.legs[id] = &siteLeg{LegMoved: facts.LegMoved{Leg: id, State: grid.Cancelled}, at: t.at, tomb: true}
}

// forgotten notes legs whose record is dropped.
func (t *Trail) forgotten(legs []grid.LegID) {
	for _, id := range legs {
		if l := t.legs[id]; t.states.forgets(l, id) {
			l.forgotten, l.tomb = true, false
		}
	}
}

// shifted notes that a leg was moved within its window, or fixed, by the facts of a site
// or of a broker.
func (t *Trail) shifted(at grid.Time, f facts.LegShifted) {
	if x := t.txs[f.Leg.Tx]; x != nil {
		t.lies(x, f.Leg, f.Start, f.End)
		if i := f.Leg.Leg; f.Fixed && i >= 0 && i < len(x.legs) {
			x.legs[i].fixed = true
		}
		t.order.touch(x.begun.Job)
		t.audit.touch(f.Leg.Tx)
		if t.audit.together {
			t.promises.saidBySite(x, f)
		}
		return
	}
	l := t.legs[f.Leg]
	if !t.states.shifts(l, f) {
		return
	}
	t.promises.shiftsWithin(at, l, f)
	if t.audit.together {
		l.shifts = append(l.shifts, f)
		t.audit.touch(f.Leg.Tx)
	}
	l.What.Start, l.What.End, l.lastShift = f.Start, f.End, f.Shifts
	if f.Fixed {
		l.Flex.Ready, l.Flex.Due = f.Start, f.End
	}
	held := l.claims
	if held == nil {
		held = []claim{} // it is no newcomer
	}
	t.nodes.claim(at, l, held)
}
