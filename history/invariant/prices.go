package invariant

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I10: the price charged is the one that Held named, never above the limit.

// prices is the rule I10.
type prices struct{ *journal }

// heldWithin checks a leg's price at its site: below its limit, and the same from
// Held on.
func (r *prices) heldWithin(l *siteLeg, f facts.LegMoved, from grid.LegState, known bool) {
	switch {
	case f.State == grid.Held && f.Fare.Total() > f.Limit:
		r.breaks("I10", "leg %v is held at %v credits, above its limit %v", f.Leg, f.Fare.Total(), f.Limit)
	case known && from.Blocks() && f.State != grid.Held && f.Fare != l.Fare:
		r.breaks("I10", "leg %v was held at %v + %v credits and is %v at %v + %v",
			f.Leg, l.Fare.Base, l.Fare.Additive, f.State, f.Fare.Base, f.Fare.Additive)
	}
	if x := r.audit.of(f.Leg); x != nil && f.State == grid.Held && f.Fare.Total() > x.begun.Limits[f.Leg.Leg] {
		r.breaks("I10", "leg %v is held at %v credits, its broker's limit is %v", f.Leg, f.Fare.Total(), x.begun.Limits[f.Leg.Leg])
	}
}

// pricedWithin checks a leg's price as its broker has it.
func (r *prices) pricedWithin(x *tx, l *txLeg, f facts.LegPriced) {
	if limit := x.begun.Limits[f.Leg.Leg]; f.Fare.Total() > limit {
		r.breaks("I10", "leg %v is priced at %v credits, above its limit %v", f.Leg, f.Fare.Total(), limit)
	}
	if l.priced && l.fare != f.Fare {
		r.breaks("I10", "leg %v is priced at %v credits, and was at %v", f.Leg, f.Fare.Total(), l.fare.Total())
	}
	if !r.audit.together {
		return
	}
	s := r.audit.trails[site(x.begun.Sites[f.Leg.Leg])]
	if s == nil || s.legs[f.Leg] == nil || s.legs[f.Leg].Fare != f.Fare {
		r.breaks("I10", "leg %v is priced at %v credits, which is not what its site held it at", f.Leg, f.Fare.Total())
	}
}

// chargedAs checks that what is charged is the price.
func (r *prices) chargedAs(l *txLeg, f facts.LegClosed) {
	if f.Commit && l.priced && f.Posted != l.fare.Total() {
		r.breaks("I10", "leg %v is charged %v credits, Held named %v", f.Leg, f.Posted, l.fare.Total())
	}
}

// remembered checks that an image has a leg's price as the facts have it.
func (r *prices) remembered(l *siteLeg, m *facts.LegMemory) {
	if l.Fare != m.Fare {
		r.breaks("I10", "the image has leg %v at %v credits, by the facts it is %v", m.Leg, m.Fare.Total(), l.Fare.Total())
	}
}
