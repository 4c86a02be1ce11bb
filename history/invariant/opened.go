package invariant

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I1 where legs take slices of their nodes. Legs that share a node take the whole of it once,
// for as long as any of them is on it; together they take no more of it than it has.

// opened is a node that legs share, known by its group and the number of its opening.
type opened struct {
	group  string
	number int32
}

// sharing is the legs on a node, and what they take of whole nodes together.
type sharing struct {
	legs   []slicesOf
	claims []claim
}

// slicesOf is what a leg takes of a node.
type slicesOf struct {
	leg        grid.LegID
	start, end grid.Time
	takes      amounts
}

// amounts are slices of a node, and the resources that legs name.
type amounts struct {
	slices, cores, gpus int
	memory              int64 // bytes
}

func (a amounts) plus(b amounts) amounts {
	return amounts{a.slices + b.slices, a.cores + b.cores, a.gpus + b.gpus, a.memory + b.memory}
}

func amountsOf(p grid.LegPart) amounts {
	return amounts{int(p.Slices), int(p.Cores), int(p.GPUs), p.Memory}
}

// beyond names the first resource of which that is more than a node of a group has, "" if none.
func (a amounts) beyond(g *grid.Group) string {
	for _, r := range [...]struct {
		taken, has int64
		name       string
	}{{int64(a.cores), int64(g.Cores), "cores"}, {int64(a.gpus), int64(g.Machine.GPUs), "GPUs"}, {a.memory, g.Machine.Memory, "bytes of memory"}} {
		if r.taken > r.has {
			return fmt.Sprintf("%d of %d %s", r.taken, r.has, r.name)
		}
	}
	return ""
}

// share puts a leg on its nodes. Only of one that comes new it checks that there is room.
func (r *nodes) share(at grid.Time, leg grid.LegID, what grid.Leg, on []int32, comes bool) {
	if _, ok := r.size(what.Group); !ok {
		return
	}
	for _, number := range on {
		n := r.opened[opened{what.Group, number}]
		if n == nil {
			n = &sharing{}
			r.opened[opened{what.Group, number}] = n
		}
		n.legs = append(n.legs, slicesOf{leg, what.Start, what.End, amountsOf(what.Part)})
		if comes {
			r.fits(at, leg, what, number, n)
		}
		if over := r.cover(at, what.Group, n); over > 0 && comes {
			r.breaks("I1", "leg %v opens node %d of group %s over [%v, %v), and %d nodes are promised twice", leg, number, what.Group, what.Start, what.End, over)
		}
	}
}

// unshare takes a leg off its nodes.
func (r *nodes) unshare(at grid.Time, leg grid.LegID, what grid.Leg, on []int32) {
	for _, number := range on {
		key := opened{what.Group, number}
		n := r.opened[key]
		if n == nil {
			continue
		}
		n.legs = slices.DeleteFunc(n.legs, func(x slicesOf) bool { return x.leg == leg })
		if r.cover(at, what.Group, n); len(n.legs) == 0 {
			delete(r.opened, key)
		}
	}
}

// cover takes of the group's nodes what the legs on one cover, and returns how many nodes are
// then taken more often than there are.
func (r *nodes) cover(at grid.Time, group string, n *sharing) (over int) {
	for _, c := range n.claims {
		r.take(at, group, c, +1)
	}
	list := slices.Clone(n.legs)
	slices.SortFunc(list, func(a, b slicesOf) int { return int(min(max(a.start-b.start, -1), 1)) })
	n.claims = nil
	for _, x := range list {
		if last := len(n.claims) - 1; last >= 0 && x.start <= n.claims[last].end {
			n.claims[last].end = max(n.claims[last].end, x.end)
		} else {
			n.claims = append(n.claims, claim{1, x.start, x.end})
		}
	}
	for _, c := range n.claims {
		over = max(over, r.take(at, group, c, -1))
	}
	return over
}

// fits checks that no more is taken of a node than it has, from now on: of its slices, and where
// the group is known of each resource.
func (r *nodes) fits(now grid.Time, leg grid.LegID, what grid.Leg, number int32, n *sharing) {
	g, known := grid.Group{}, false
	if r.audit.groups != nil {
		g, known = r.audit.groups(r.name(), what.Group)
	}
	for _, x := range n.legs {
		at, taken := max(x.start, now), amounts{}
		for _, y := range n.legs {
			if y.start <= at && at < y.end {
				taken = taken.plus(y.takes)
			}
		}
		beyond := ""
		if taken.slices > int(what.Part.Of) {
			beyond = fmt.Sprintf("%d of %d slices", taken.slices, what.Part.Of)
		} else if known {
			beyond = taken.beyond(&g)
		}
		if beyond != "" {
			r.breaks("I1", "leg %v takes %d slices of node %d of group %s over [%v, %v), where %s are then taken",
				leg, what.Part.Slices, number, what.Group, what.Start, what.End, beyond)
			return
		}
	}
}

// sharedLock is locked for a leg that takes slices.
func (r *nodes) sharedLock(at grid.Time, f facts.NodesLocked) {
	r.locks[f.Leg] = &lock{group: f.What.Group, parts: f}
	r.share(at, f.Leg, f.What, f.On, true)
}

// lies notes on which nodes a leg lies, if a fact says so.
func (l *siteLeg) lies(x *facts.RealLeg) {
	if x != nil && len(x.On) > 0 {
		l.on = x.On
	}
}
