package invariant

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// I32: a site holds no more for VOs than its operator allows: vo_share of its node-time for
// all, and for one of them, and max_share of a group's nodes at once. It takes what a site's
// operator has set, which no journal says, and holds it against what is held anew.

// Allowance is what a site's operator allows.
type Allowance struct {
	Span   grid.Duration  // what shares are shares of, from now on
	Share  int            // of all VOs, in thousandths
	Shares map[string]int // of single ones
	AtOnce int            // of each group's nodes, in thousandths; 0: no limit
}

// Allow gives what the operators of all sites allow: what is held is then checked against
// that, where all facts are seen together.
func (a *Audit) Allow(of func(site string) (Allowance, bool)) { a.allowed = of }

// shares is the rule I32.
type shares struct {
	*journal
	open []*siteLeg // that hold nodes, in the order of their holds
}

// moved takes a leg's move.
func (r *shares) moved(l *siteLeg) {
	if r.audit.allowed == nil || !r.audit.together {
		return
	}
	i := slices.Index(r.open, l)
	switch {
	case !l.State.Blocks() && i >= 0:
		r.open = slices.Delete(r.open, i, i+1)
	case l.State.Blocks() && i < 0:
		r.open = append(r.open, l)
	}
	if set, ok := r.audit.allowed(r.name()); ok && l.State == grid.Held {
		r.share(l, &set)
		r.atOnce(l, &set)
	}
}

// share checks the node-time that VOs hold with a leg. Of a leg and the one that is to take
// its place the larger counts.
func (r *shares) share(l *siteLeg, set *Allowance) {
	end, nodes := r.at.Add(set.Span), 0
	for key, n := range r.audit.nodes { // a sum, in whatever order
		if strings.HasPrefix(key, r.name()+"/") {
			nodes += n
		}
	}
	next := map[grid.LegID]int64{}
	for _, o := range r.open {
		if o != l && o.Replaces != (grid.LegID{}) {
			next[o.Replaces] = nodeTime(&o.What, r.at, end)
		}
	}
	all, own, vo := int64(0), int64(0), grid.VOOf(l.Leg.Tx.Broker)
	for _, o := range r.open {
		if o.Leg == l.Replaces {
			continue
		}
		x := max(0, nodeTime(&o.What, r.at, end)-next[o.Leg])
		if all += x; grid.VOOf(o.Leg.Tx.Broker) == vo {
			own += x
		}
	}
	most := func(part int) int64 { return grid.MulDiv(int64(nodes)*int64(set.Span), int64(part), 1000) }
	if most := most(set.Share); all > most {
		r.breaks("I32", "leg %v is held, and VOs hold %v node-seconds of the next %s, their share is %v", l.Leg, grid.Duration(all), set.Span.Words(), grid.Duration(most))
	}
	part, ok := set.Shares[vo]
	if most := most(part); ok && own > most {
		r.breaks("I32", "leg %v is held, and %s holds %v node-seconds of the next %s, its share is %v", l.Leg, vo, grid.Duration(own), set.Span.Words(), grid.Duration(most))
	}
}

// atOnce checks the nodes of a group that legs hold while a new one lasts.
func (r *shares) atOnce(l *siteLeg, set *Allowance) {
	size, ok := r.audit.nodes[r.name()+"/"+l.What.Group]
	if set.AtOnce == 0 || set.AtOnce >= 1000 || !ok {
		return
	}
	most := size * max(set.AtOnce, 0) / 1000
	for _, first := range r.open { // the most is reached where one of them begins
		at := max(first.What.Start, l.What.Start)
		held, opened := 0, map[int32]bool{}
		for _, o := range r.open {
			switch {
			case o.What.Group != l.What.Group || o.Leg == l.Replaces || o.What.Start > at || at >= o.What.End:
			case o.What.Part.Some():
				for _, number := range o.on {
					opened[number] = true
				}
			default:
				held += o.What.Nodes
			}
		}
		held += len(opened)
		if at < l.What.End && held > most {
			r.breaks("I32", "leg %v is held, and reservations have %d nodes of group %s at %v, %d are allowed", l.Leg, held, l.What.Group, at, most)
			return
		}
	}
}

// nodeTime is what of a leg lies in [from, to), in milliseconds of a node. Slices count for what
// they are; the site counts the whole of the nodes that they open.
func nodeTime(l *grid.Leg, from, to grid.Time) int64 {
	s, e := max(l.Start, from), min(l.End, to)
	if l.Work > 0 { // a share
		e = min(e, s.Add(l.Work))
	}
	return l.Part.Time(l.Nodes, max(0, e.Sub(s)))
}
