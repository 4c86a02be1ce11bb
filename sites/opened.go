package sites

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/portions"
)

// Legs that take slices of their nodes lie inside nodes that are open already, as far as there
// is room, and open the others. Only what they open is in the way of the local queue and counts
// towards shares; what lies inside costs its slices at the base price.

// openedOn are the opened nodes of a group from now on, in the order in which they are offered:
// by start, by end, then in that of their opening.
func (v *view) openedOn(i int, now, horizon grid.Time) (list []grid.Opened) {
	if i >= len(v.opened) {
		return nil
	}
	for k := range v.opened[i] {
		if o, any := v.opened[i][k].Within(now, horizon); any {
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(x, y grid.Opened) int { return x.Compare(&y) })
	return list[:min(len(list), grid.MaxOpened)]
}

// opens is a leg with only the nodes that it opens, as far as the set of legs before it, nil:
// none, and the opened nodes leave it no place inside.
func (o *offers) opens(now grid.Time, i int, l grid.Leg, set *trial) grid.Leg {
	if l.Part.Some() {
		opened := set.openedOn(i)
		if opened == nil {
			opened = o.openedOn(i, now, grid.MaxTime)
		}
		l.Nodes -= len(portions.Choose(opened, &l))
	}
	return l
}

// whole yields the open legs with what they hold of whole nodes. Of legs that share a node each
// holds it for as long as no leg before it does.
func (o *openLegs) whole(yield func(l *leg, what grid.Leg) bool) {
	for l := range o.each {
		if !l.What.Part.Some() || len(l.onNodes().On) == 0 {
			if !yield(l, l.What) {
				return
			}
			continue
		}
		for _, number := range l.onNodes().On {
			for _, what := range o.alone(l, number) {
				if !yield(l, what) {
					return
				}
			}
		}
	}
}

// alone is for which times a leg holds one of its nodes, and no leg before it does.
func (o *openLegs) alone(l *leg, number int32) []grid.Leg {
	one := l.What
	one.Nodes = 1
	left := []grid.Leg{one}
	for x := range o.each {
		if x == l || len(left) == 0 {
			break
		}
		if x.What.Group != l.What.Group || !slices.Contains(x.onNodes().On, number) {
			continue
		}
		var rest []grid.Leg
		for _, y := range left {
			before, after := y, y
			before.End, after.Start = min(y.End, x.What.Start), max(y.Start, x.What.End)
			for _, z := range []grid.Leg{before, after} {
				if z.Start < z.End {
					rest = append(rest, z)
				}
			}
		}
		left = rest
	}
	return left
}

// Divides reports an error if a leg that the site has on record takes slices of nodes that its
// groups now divide otherwise.
func (s *Site) Divides() error {
	for l := range s.open.each {
		i := slices.IndexFunc(s.cfg.Groups, func(g grid.Group) bool { return g.Name == l.What.Group })
		if x := l.What.Part; i >= 0 && x.Some() && s.cfg.Groups[i].Divided() != int(x.Of) {
			return fmt.Errorf("group %q divides its nodes into %d slices, and leg %v of job %s lies on one of %d until %v: drain the site first, or keep slices = %d",
				l.What.Group, s.cfg.Groups[i].Divided(), l.Leg, l.Job, x.Of, l.What.End, x.Of)
		}
	}
	return nil
}
