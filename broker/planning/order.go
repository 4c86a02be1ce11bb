package planning

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/placement"
)

// order is the order in which a search by the papers' rules looks at the groups. With the
// papers' own goals, time and cost, it is the draft's order. With the goal finish, groups
// that a search cannot tell apart (equal performance, price and machine) change places, so
// that none gains from its site's name: those whose site has the largest free share come
// first, and a permutation drawn for the cycle breaks ties.
type order struct {
	to []int32 // by place: the group looked at there; nil: the draft's order
}

// newOrder is the order for a draft's cycle.
func newOrder(d *Draft) order {
	if d.in.Terms.Minimize != grid.GoalFinish {
		return order{}
	}
	groups := d.Groups
	places := map[alike][]int32{}
	several := false
	for g := range groups {
		k := likeness(&groups[g])
		places[k] = append(places[k], int32(g))
		several = several || len(places[k]) > 1
	}
	if !several {
		return order{}
	}
	ties := placement.NewTies(d.market())
	ties.Draw(d.in.draw(""))
	o := order{to: make([]int32, len(groups))}
	for g := range groups {
		mine := places[likeness(&groups[g])]
		if mine[0] != int32(g) {
			continue
		}
		sorted := slices.Clone(mine)
		slices.SortStableFunc(sorted, ties.CompareGroups)
		for i, place := range mine {
			o.to[place] = sorted[i]
		}
	}
	return o
}

// alike is what a search sees of a group, apart from what is free.
type alike struct {
	performance grid.Performance
	price       grid.Price
	curve       string
	padding     grid.Duration
	longest     grid.Duration
	memory      int64
	disk        int64
	gpus        int
	cores       int
	slices      int
	words       string
}

func likeness(g *grid.Group) alike {
	m := &g.Machine
	return alike{g.Performance, g.Price, g.Curve.String(), g.Padding, g.Longest, m.Memory, m.Disk, m.GPUs, g.Cores, g.Divided(), m.OS + "\n" + m.Arch + "\n" + strings.Join(m.Features, "\n")}
}

// arrange puts a list by group in the order of the search.
func arrange[T any](o *order, list []T) []T {
	if o.to == nil || list == nil {
		return list
	}
	out := make([]T, len(list))
	for place, g := range o.to {
		out[place] = list[g]
	}
	return out
}

// back replaces the search's group numbers in windows by the draft's.
func (o *order) back(windows []grid.Window) []grid.Window {
	if o.to == nil {
		return windows
	}
	for i := range windows {
		for k := range windows[i].Parts {
			windows[i].Parts[k].Group = o.to[windows[i].Parts[k].Group]
		}
	}
	return windows
}
