package examine

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// If a site's prices change over time, every start may have another base price. Then the
// starts at which prices change are worth a quote too, and offers are compared by their
// whole price.

// maxChanges bounds the starts that are quoted because prices change there.
const maxChanges = 200

// changes adds offers at which the price changes at the start or at the end of the
// reservation, until the prices repeat, at most a week ahead.
func (q *quote) changes(list []pricing.Offer, book pricer, s *backfill.State, g *grid.Group, d grid.Duration) []pricing.Offer {
	if g.Curve == nil {
		return list
	}
	until := s.Now.Add(7 * grid.Day)
	if _, repeat := g.Curve.Steps(); repeat > 0 {
		until = s.Now.Add(repeat)
	}
	list = slices.Clone(list) // the book owns it
	for t, n := g.Curve.Next(s.Now), 0; t < until && n < maxChanges; t, n = g.Curve.Next(t), n+1 {
		for _, at := range []grid.Time{t, t.Add(-d)} {
			if at > s.Now {
				f, ok := book.Additive(at, q.nodes, d)
				list = append(list, pricing.Offer{Start: at, Feasible: ok, Additive: f})
			}
		}
	}
	slices.SortStableFunc(list, func(x, y pricing.Offer) int { return cmp.Compare(x.Start, y.Start) })
	return slices.CompactFunc(list, func(x, y pricing.Offer) bool { return x.Start == y.Start })
}

// whole replaces the additive part of each offer by its whole price, in node-milliseconds
// at the plain price, so that offers can be compared.
func (q *quote) whole(offers []pricing.Offer, g *grid.Group, d grid.Duration) []pricing.Offer {
	if g.Curve == nil {
		return offers
	}
	list := slices.Clone(offers)
	for i := range list {
		if o := &list[i]; o.Feasible {
			hourly := *g
			hourly.Price = grid.Price(grid.Hour)
			weighed := q.base(&hourly, o.Start, d)
			o.Additive = grid.Duration(grid.Credits(o.Additive).Plus(weighed))
		}
	}
	return list
}

// earliestWithin is the index of the earliest offer whose whole price is within a budget,
// -1 if there is none.
func (q *quote) earliestWithin(offers []pricing.Offer, g *grid.Group, d grid.Duration, budget grid.Credits) int {
	if g.Curve == nil {
		return choice.EarliestWithin(offers, g.Price, q.base(g, 0, d), budget)
	}
	best := -1
	for i := range offers {
		o := &offers[i]
		if o.Feasible && q.base(g, o.Start, d).Plus(grid.Cost(g.Price, o.Additive)) <= budget && (best < 0 || o.Start < offers[best].Start) {
			best = i
		}
	}
	return best
}
