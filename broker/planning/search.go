package planning

import "github.com/bourse-grid/bourse/grid"

// findWindows finds alternatives for all jobs together, so that no two overlap.
func (p *Planner) findWindows(d *Draft) {
	in := d.in
	all := make([]int, len(in.Jobs))
	for i := range all {
		all[i] = i
	}
	r := p.windows(d, all, in.Terms.MaxAlternatives)
	for i := range in.Jobs {
		plan, j := &d.Jobs[i], &in.Jobs[i]
		if plan.Over {
			continue
		}
		plan.add(d, j, r.Alternatives[i])
		plan.addShares(d, j)
		if len(plan.Alternatives) == 0 {
			d.postpone(i, r.Reasons[i])
		}
	}
}

// searchClear searches again, in the clear nodes that are left over, for the jobs that lost
// all their alternatives to the quotes. A window found there overlaps none of the remaining
// alternatives and costs its base price.
func (c *chooser) searchClear() {
	d, in := c.d, c.d.in
	for len(c.rest) < len(d.clear) {
		c.rest = append(c.rest, nil)
	}
	c.rest = c.rest[:len(d.clear)]
	for g := range d.clear {
		c.rest[g] = append(c.rest[g][:0], d.clear[g]...)
	}
	for i := range c.o.Jobs {
		for _, part := range c.o.Jobs[i].parts(d, &in.Jobs[i]) {
			c.rest[part.Group].Add(max(part.Start, c.rest[part.Group][0].At), part.End, -int(part.Count))
		}
	}
	c.open(d, c.rest)
	var who []int
	for i := range c.o.Jobs {
		if p := &c.o.Jobs[i]; !p.Over && len(p.Alternatives) == 0 {
			who = append(who, i)
		}
	}
	r := c.windows(d, who, in.Terms.MaxAlternatives)
	for k, i := range who {
		p := &c.o.Jobs[i]
		p.add(d, &in.Jobs[i], r.Alternatives[k])
		for n := range p.Alternatives {
			a := &p.Alternatives[n]
			a.Quotes = make([]grid.Quote, len(a.Legs))
			for l := range a.Legs {
				a.Quotes[l].Fare = a.Legs[l].Base
			}
		}
		if !p.price(&in.Jobs[i]) { // a cap on each node's price does not limit the sum
			c.giveUp(i, p.Why)
		}
	}
}
