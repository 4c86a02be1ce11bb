// Package portions says where a leg lies that takes slices of its nodes: inside nodes that
// others have opened, or on nodes that it opens. The broker that plans, the site that quotes
// and the cluster that holds follow the same rule, so that what was planned on an offer costs
// the same when it is held. It knows no jobs and no money.
package portions

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Choose returns which of the opened nodes a leg of a group lies inside, at most one for each
// node that it needs, as indices in order of choice; it opens the others. Of those with enough
// slices free all over the leg it takes the ones with the fewest, then those that have so many
// for the shortest time, then those first in the list. It costs a walk over the list and a
// sort of what suits.
func Choose(opened []grid.Opened, l *grid.Leg) (inside []int) {
	type place struct {
		at, free int
		end      grid.Time
	}
	var places []place
	for i := range opened {
		if end, ok := opened[i].Holds(int(l.Part.Slices), l.Start, l.End); ok {
			places = append(places, place{i, opened[i].Least(l.Start, l.End), end})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.free, b.free), cmp.Compare(a.end, b.end))
	})
	for i := range min(len(places), l.Nodes) {
		inside = append(inside, places[i].at)
	}
	return inside
}

// Ground is what a group has free, for legs that are laid one after the other. Of its group
// only Slices and Padding count. The profiles must be the ground's own.
type Ground struct {
	Group  *grid.Group
	Free   grid.Profile
	Opened []grid.Opened
}

// Lay lays a leg, whole or in parts, and returns how many nodes it opens. It reports false,
// and changes nothing, if there is no place for it.
func (g *Ground) Lay(l *grid.Leg) (opens int, ok bool) {
	var inside []int
	if l.Part.Some() {
		inside = Choose(g.Opened, l)
	}
	opens = l.Nodes - len(inside)
	if opens > 0 && (l.Start < g.Free[0].At || g.Free.Min(l.Start, l.End) < opens) {
		return 0, false
	}
	for _, i := range inside {
		g.Opened[i].Take(l.Start, l.End, int(l.Part.Slices))
	}
	if opens > 0 {
		from, to := g.Group.Padded(l.Start, l.End)
		g.Free.Add(max(from, g.Free[0].At), to, -opens)
	}
	if l.Part.Some() {
		for range opens {
			g.Opened = append(g.Opened, grid.Open(0, l.Start, l.End, int(l.Part.Of-l.Part.Slices)))
		}
	}
	return opens, true
}
