package invariant

import (
	"bourse"
	"bourse/agents"
)

// I16: a site restores what it had, and has lost, and nothing else.

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
