package search

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// levels is one group of identical nodes: its free profile and its level sets. For each k
// these are the maximal intervals with at least k nodes free; equal ones are stored once
// with a count. N nodes are free on [s, e) iff levels with a total count of N each cover
// it, so a search over the levels is exact.
type levels struct {
	free grid.Profile
	sets []grid.Level
	// Scratch of follow.
	fresh, next, open, beyond []grid.Level
	hit                       []int32

	// The profile has changed over [from, to), and the sets are those before that change.
	from, to grid.Time
}

func levelSlot(group int32, s grid.Level) slot {
	return slot{start: s.Start, end: s.End, tie: int64(group), class: group, count: int32(s.Count)}
}

// Add adds n, below 0 to take, to the free nodes of a group over [from, to) and the group's
// padding around it. The list must be fungible, and from must not be before its beginning.
// The slots are updated at the next scan.
func (l *List) Add(group int32, n int, from, to grid.Time) {
	from, to = l.padded(group, from, to)
	l.take(group, -n, from, to)
}

// padded returns the interval that a window over [from, to) takes from others. Of two
// windows on the same nodes, one after the other, both take the padding between them.
// During it one node more than necessary seems taken, since counts do not say which nodes
// are used.
func (l *List) padded(g int32, from, to grid.Time) (grid.Time, grid.Time) {
	x := &l.groups[g]
	if x.Padding == 0 {
		return from, to
	}
	from, to = x.Padded(from, to)
	return max(from, l.levels[g].free[0].At), to
}

// Free returns the free profile of a group of a fungible list. It is valid until the next
// change.
func (l *List) Free(group int32) grid.Profile { return l.levels[group].free }

// take takes n nodes of group g over [from, to), or gives them back if n < 0. The slots are
// updated only at the next scan, as much of what is taken is given back before.
func (l *List) take(g int32, n int, from, to grid.Time) {
	v := &l.levels[g]
	if l.changes++; n < 0 {
		l.epoch++ // more is free than before
	}
	v.free.Add(from, to, -n)
	if v.from >= v.to {
		v.from, v.to = from, to
		l.stale = append(l.stale, g)
		return
	}
	v.from, v.to = min(v.from, from), max(v.to, to)
}

// renew brings the slots up to date.
func (l *List) renew() {
	for _, g := range l.stale {
		v := &l.levels[g]
		l.follow(g, v.from, v.to)
		v.from, v.to = 0, 0
	}
	l.stale = l.stale[:0]
	l.spread()
}

// insert puts a slot in its lane.
func (l *List) insert(s slot) { l.slots.of(s).insert(s) }

// follow recomputes those level sets of a group that a change over [from, to) may have
// affected, and replaces only those that differ in the list. (Cutting single intervals
// would lose windows.)
func (l *List) follow(g int32, from, to grid.Time) {
	v := &l.levels[g]
	if from, to = max(from, l.from), min(to, l.to); from >= to {
		return
	}
	first, last := v.around(from, to)
	v.next = v.next[:0]
	fresh, hit := v.fresh, v.hit
	for i := first; i < last; i++ {
		old := &v.sets[i]
		for len(fresh) > 0 && fresh[0].Start <= old.Start && fresh[0].Compare(*old) < 0 {
			l.insert(levelSlot(g, fresh[0]))
			v.next = append(v.next, fresh[0])
			fresh = fresh[1:]
		}
		same, gone := len(fresh) > 0 && fresh[0].Start == old.Start && fresh[0].End == old.End, len(hit) > 0 && int(hit[0]) == i
		if gone {
			hit = hit[1:]
		}
		switch {
		case same:
			x := fresh[0]
			if !gone {
				x.Count += old.Count
			}
			if x.Count != old.Count {
				l.recount(levelSlot(g, *old), x.Count)
			}
			v.next = append(v.next, x)
			fresh = fresh[1:]
		case gone:
			lane := l.slots.of(levelSlot(g, *old))
			lane.remove(lane.find(levelSlot(g, *old)))
		default:
			v.next = append(v.next, *old)
		}
	}
	for _, s := range fresh {
		l.insert(levelSlot(g, s))
		v.next = append(v.next, s)
	}
	v.sets = slices.Replace(v.sets, first, last, v.next...)
}

// recount changes the count of a slot.
func (l *List) recount(s slot, n int) {
	lane := l.slots.of(s)
	ci, i := lane.find(s)
	lane.chunks[ci].slots[i].count = int32(n)
}

// around finds the level sets that a change within [s, e) affects: the old ones as v.hit,
// and their replacements as v.fresh. They lie between two indices of the old sets. Sets no
// deeper than what is left free throughout are unchanged. The others keep what lies outside
// the interval: one open before s still begins where it did, and one free from e on still
// ends where it did. So the walk covers only the steps within.
func (v *levels) around(s, e grid.Time) (first, last int) {
	v.hit, v.open, v.beyond, v.fresh = v.hit[:0], v.open[:0], v.beyond[:0], v.fresh[:0]
	first = -1
	low, deep := max(v.free.Min(s, e), 0), 0
	for last = 0; last < len(v.sets) && v.sets[last].Start <= e; last++ {
		x := &v.sets[last]
		if x.End < s {
			continue
		}
		if first < 0 {
			first = last
		}
		if through := x.Start < s && x.End > e; through && len(v.hit) == 0 && deep+x.Count <= low {
			deep += x.Count
			continue
		}
		v.hit = append(v.hit, int32(last))
	}
	if first < 0 {
		first = last
	}
	depth, left := deep, deep
	for _, i := range v.hit { // nested, the outermost first
		x := &v.sets[i]
		if x.Start < s {
			if n := len(v.open); n > 0 && v.open[n-1].Start == x.Start {
				v.open[n-1].Count += x.Count
			} else {
				v.open = append(v.open, grid.Level{Start: x.Start, Count: x.Count})
			}
			depth += x.Count
		}
		if x.End > e {
			v.beyond = append(v.beyond, *x)
			left += x.Count
		}
	}
	for i := v.free.Index(s); i < len(v.free) && v.free[i].At < e; i++ {
		depth = v.step(max(v.free[i].At, s), depth, max(v.free[i].Free, 0))
	}
	v.step(e, depth, left)
	v.end()
	slices.SortFunc(v.fresh, grid.Level.Compare)
	return first, last
}

// step closes levels, or opens one, where the number of free nodes changes from depth to
// free. It returns free.
func (v *levels) step(at grid.Time, depth, free int) int {
	for depth > free {
		top := &v.open[len(v.open)-1]
		n := min(top.Count, depth-free)
		v.fresh = append(v.fresh, grid.Level{Start: top.Start, End: at, Count: n})
		depth -= n
		if top.Count -= n; top.Count == 0 {
			v.open = v.open[:len(v.open)-1]
		}
	}
	if free > depth {
		v.open = append(v.open, grid.Level{Start: at, Count: free - depth})
	}
	return free
}

// end closes the open levels at the ends of the old levels in beyond.
func (v *levels) end() {
	for open, beyond := v.open, v.beyond; len(open) > 0; {
		x := grid.Level{Start: open[0].Start, End: beyond[0].End, Count: min(open[0].Count, beyond[0].Count)}
		if k := len(v.fresh) - 1; k >= 0 && v.fresh[k].Compare(x) == 0 {
			v.fresh[k].Count += x.Count
		} else {
			v.fresh = append(v.fresh, x)
		}
		if open[0].Count -= x.Count; open[0].Count == 0 {
			open = open[1:]
		}
		if beyond[0].Count -= x.Count; beyond[0].Count == 0 {
			beyond = beyond[1:]
		}
	}
}
