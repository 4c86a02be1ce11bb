package planning

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/placement"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// addShares adds alternatives on time-shared nodes: one for each group of them that could
// serve the job alone. Such work starts at once and should end by the deadline, or by the
// horizon if that is earlier. Its site says in a quote whether there is room and at what
// price; until then the base price is a lower bound. If a price cap holds for each node, no
// node may cost more than the job allows. A moldable job has one alternative for each size,
// at most MaxAlternatives for a group.
func (p *Plan) addShares(d *Draft, j *Job) {
	r, from, most := &j.Request, d.in.From, d.in.Terms.MaxAlternatives
	end := min(r.Deadline, d.in.Horizon)
	if r.Composed() || r.Deadline == grid.Never || r.Ready > from || end <= from {
		return
	}
	sizes, barred := r.Dealt(most), d.in.barredSites(j)
	for _, i := range d.sharedGroups(j) {
		g := &d.Groups[i]
		if barred != nil && barred[d.siteOf[i]] || !serves(g, r) || d.in.Terms.capped() && g.Price > r.MaxPrice {
			continue
		}
		left := most
		for _, z := range sizes {
			if g.Nodes < z.Nodes || left == 0 {
				continue
			}
			l := Leg{Group: i, Site: d.siteOf[i], Contended: true,
				What: grid.Leg{Group: g.Name, Nodes: z.Nodes, Start: from, End: end, Work: z.Length},
				Base: pricing.Share(g.Price, z.Nodes, g.Performance.Runtime(z.Length), end.Sub(from), 0)}
			p.Found++
			left--
			p.Alternatives = append(p.Alternatives, Alternative{Number: p.Found, Size: z, Time: l.What.Duration(), End: end,
				Cost: l.Base.Total(), Legs: []Leg{l}})
		}
	}
}

// sharedGroups lists the groups of time-shared nodes in the order in which they are tried.
// With the goals value and finish each job has its own order, so that among equal groups
// none gains from its site's name.
func (d *Draft) sharedGroups(j *Job) []int32 {
	var list []int32
	for i := range d.Groups {
		if d.shared[i] {
			list = append(list, int32(i))
		}
	}
	if goal := d.in.Terms.Minimize; len(list) < 2 || goal != grid.GoalValue && goal != grid.GoalFinish {
		return list
	}
	if d.ties == nil {
		d.ties = placement.NewTies(d.market())
	}
	d.ties.Draw(d.in.seed(j.Name))
	slices.SortStableFunc(list, d.ties.CompareGroups)
	return list
}
