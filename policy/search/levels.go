package search

import (
	"cmp"
	"slices"

	"bourse"
)

// levels is one group of alike nodes: its free count and the level sets of it,
// for each k the maximal intervals with at least k nodes free, equal ones
// carried as one with a count. N nodes are free on [s, e) iff levels with a
// count of N in all cover it; that makes a search over the levels exact.
type levels struct {
	free  bourse.Profile
	sets  []bourse.Level
	fresh []bourse.Level // scratch of take
	open  []bourse.Level // scratch of appendSets
}

func levelSlot(group int32, s bourse.Level) slot {
	return slot{start: s.Start, end: s.End, tie: int64(group), class: group, count: int32(s.Count)}
}

// appendSets is bourse.Profile.Levels without its allocation: a search takes a
// hundred thousand windows.
func (v *levels) appendSets(list []bourse.Level, from, to bourse.Time) []bourse.Level {
	first, depth := len(list), 0
	open := v.open[:0] // nested: earlier start and deeper level first
	closeDown := func(at bourse.Time, free int) {
		for depth > free {
			top := &open[len(open)-1]
			n := min(top.Count, depth-free)
			if at > top.Start {
				list = append(list, bourse.Level{Start: top.Start, End: at, Count: n})
			}
			depth -= n
			if top.Count -= n; top.Count == 0 {
				open = open[:len(open)-1]
			}
		}
	}
	for i, s := range v.free {
		if s.At >= to {
			break
		}
		if i+1 < len(v.free) && v.free[i+1].At <= from {
			continue
		}
		at := max(s.At, from)
		closeDown(at, max(s.Free, 0))
		if s.Free > depth {
			open = append(open, bourse.Level{Start: at, Count: s.Free - depth})
			depth = s.Free
		}
	}
	closeDown(to, 0)
	v.open = open
	slices.SortFunc(list[first:], compareLevels)
	return list
}

func compareLevels(a, b bourse.Level) int {
	if a.Start != b.Start {
		return cmp.Compare(a.Start, b.Start)
	}
	return cmp.Compare(b.End, a.End)
}

// take takes n nodes of group g out over [from, to). The level sets are
// reckoned anew (cutting single lanes would lose windows), and in the list only
// those that differ are replaced.
func (l *List) take(g int32, n int, from, to bourse.Time) {
	v := &l.levels[g]
	v.free.Add(from, to, -n)
	v.fresh = v.appendSets(v.fresh[:0], l.from, l.to)
	old, fresh := v.sets, v.fresh
	for len(old) > 0 || len(fresh) > 0 {
		side := 0
		switch {
		case len(old) == 0:
			side = 1
		case len(fresh) == 0:
			side = -1
		default:
			side = compareLevels(old[0], fresh[0])
		}
		switch {
		case side < 0:
			l.slots.remove(l.slots.find(levelSlot(g, old[0])))
			old = old[1:]
		case side > 0:
			l.slots.insert(levelSlot(g, fresh[0]))
			fresh = fresh[1:]
		default:
			if old[0].Count != fresh[0].Count {
				ci, i := l.slots.find(levelSlot(g, old[0]))
				l.slots.chunks[ci].slots[i].count = int32(fresh[0].Count)
			}
			old, fresh = old[1:], fresh[1:]
		}
	}
	v.sets, v.fresh = v.fresh, v.sets
}
