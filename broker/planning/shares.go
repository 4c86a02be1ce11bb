package planning

import (
	"bourse"
	"bourse/policy/pricing"
)

// addShares makes alternatives of time-shared nodes: one for each group of them
// that could serve the job by itself. Such work starts at once, and should have
// ended by the deadline, or the horizon if that comes first; whether there is room
// for it, and for how much, its site says in a quote. Its base price is a bound
// from below until then. Where a price cap holds for each node, no node may be
// dearer than the job allows. A moldable job has one for each of its sizes, at most
// MaxAlternatives of a group.
func (p *Plan) addShares(d *Draft, j *Job) {
	r, from, most := &j.Request, d.in.From, d.in.Terms.MaxAlternatives
	end := min(r.Deadline, d.in.Horizon)
	if r.Deadline == bourse.Never || r.Ready > from || end <= from {
		return
	}
	sizes, barred := r.Dealt(most), d.in.barredSites(j)
	for i := range d.Groups {
		g := &d.Groups[i]
		if !d.shared[i] || barred != nil && barred[d.siteOf[i]] || !serves(g, r) || d.in.Terms.capped() && g.Price > r.MaxPrice {
			continue
		}
		left := most
		for _, z := range sizes {
			if g.Nodes < z.Nodes || left == 0 {
				continue
			}
			l := Leg{Group: int32(i), Site: d.siteOf[i], Contended: true,
				What: bourse.Leg{Group: g.Name, Nodes: z.Nodes, Start: from, End: end, Work: z.Length},
				Base: pricing.Share(g.Price, z.Nodes, g.Performance.Runtime(z.Length), end.Sub(from), 0)}
			p.Found++
			left--
			p.Alternatives = append(p.Alternatives, Alternative{Number: p.Found, Size: z, Time: l.What.Duration(), End: end,
				Cost: l.Base.Total(), Legs: []Leg{l}})
		}
	}
}
