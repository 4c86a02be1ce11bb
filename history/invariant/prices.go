package invariant

import "bourse"

// I10: the price charged is the one that Held named, never above the limit.

// heldWithin checks a leg's price at its site: below its limit, and the same from
// Held on.
func (t *Trail) heldWithin(l *siteLeg, f bourse.LegMoved, from bourse.LegState, known bool) {
	switch {
	case f.State == bourse.Held && f.Fare.Total() > f.Limit:
		t.breaks("I10", "leg %v is held at %v credits, above its limit %v", f.Leg, f.Fare.Total(), f.Limit)
	case known && from.Blocks() && f.State != bourse.Held && f.Fare != l.Fare:
		t.breaks("I10", "leg %v was held at %v + %v credits and is %v at %v + %v",
			f.Leg, l.Fare.Base, l.Fare.Additive, f.State, f.Fare.Base, f.Fare.Additive)
	}
	if x := t.of(f.Leg); x != nil && f.State == bourse.Held && f.Fare.Total() > x.begun.Limits[f.Leg.Leg] {
		t.breaks("I10", "leg %v is held at %v credits, its broker's limit is %v", f.Leg, f.Fare.Total(), x.begun.Limits[f.Leg.Leg])
	}
}

// pricedWithin checks a leg's price as its broker has it.
func (t *Trail) pricedWithin(x *tx, l *txLeg, f bourse.LegPriced) {
	if limit := x.begun.Limits[f.Leg.Leg]; f.Fare.Total() > limit {
		t.breaks("I10", "leg %v is priced at %v credits, above its limit %v", f.Leg, f.Fare.Total(), limit)
	}
	if l.priced && l.fare != f.Fare {
		t.breaks("I10", "leg %v is priced at %v credits, and was at %v", f.Leg, f.Fare.Total(), l.fare.Total())
	}
	if !t.audit.together {
		return
	}
	s := t.audit.trails[site(x.begun.Sites[f.Leg.Leg])]
	if s == nil || s.legs[f.Leg] == nil || s.legs[f.Leg].Fare != f.Fare {
		t.breaks("I10", "leg %v is priced at %v credits, which is not what its site held it at", f.Leg, f.Fare.Total())
	}
}

// chargedAs checks that what is charged is the price.
func (t *Trail) chargedAs(l *txLeg, f bourse.LegClosed) {
	if f.Commit && l.priced && f.Posted != l.fare.Total() {
		t.breaks("I10", "leg %v is charged %v credits, Held named %v", f.Leg, f.Posted, l.fare.Total())
	}
}
