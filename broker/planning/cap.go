package planning

import "github.com/bourse-grid/bourse/grid"

// MeanPrice is the mean base price at an instant of a node-hour at the sites with nodes that
// suit a request or a part of it. Each site counts once, with the mean of its groups that suit.
// It reports false if no site suits.
func (x *Reach) MeanPrice(r *grid.Request, now grid.Time) (grid.Price, bool) {
	total, sites := grid.Price(0), 0
	for i := 0; i < len(x.Groups); {
		sum, groups, site := grid.Price(0), 0, x.Groups[i].Site
		for ; i < len(x.Groups) && x.Groups[i].Site == site; i++ {
			if g := &x.Groups[i]; suitsSome(g, r) {
				sum, groups = sum+g.PriceAt(now), groups+1
			}
		}
		if groups > 0 {
			total, sites = total+sum/grid.Price(groups), sites+1
		}
	}
	if sites == 0 {
		return 0, false
	}
	return total / grid.Price(sites), true
}

// suitsSome reports whether nodes of a group suit a request or one of its parts.
func suitsSome(g *grid.Group, r *grid.Request) bool {
	if len(r.Parts) == 0 {
		return Suits(g, r)
	}
	for i := range r.Parts {
		part := r.Parts[i].Request(r)
		if Suits(g, &part) {
			return true
		}
	}
	return false
}
