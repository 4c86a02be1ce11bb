package search

import "bourse"

// levels is one group of alike nodes: its free count and the level sets of it,
// for each k the maximal intervals with at least k nodes free, equal ones
// carried as one with a count. N nodes are free on [s, e) iff levels with a
// count of N in all cover it; that makes a search over the levels exact.
type levels struct {
	free  bourse.Profile
	sets  []bourse.Level
	fresh []bourse.Level // scratch of take
	open  []bourse.Level // scratch of both
}

func levelSlot(group int32, s bourse.Level) slot {
	return slot{start: s.Start, end: s.End, tie: int64(group), class: group, count: int32(s.Count)}
}

// Add changes the number of free nodes of a group over [from, to) by n, negative to
// take. The list must be of fungible groups; from is not before it begins.
func (l *List) Add(group int32, n int, from, to bourse.Time) { l.take(group, -n, from, to) }

// take takes n nodes of group g out over [from, to). The level sets are
// reckoned anew (cutting single lanes would lose windows), and in the list only
// those that differ are replaced.
func (l *List) take(g int32, n int, from, to bourse.Time) {
	v := &l.levels[g]
	v.free.Add(from, to, -n)
	v.fresh = v.free.Levels(v.fresh[:0], &v.open, l.from, l.to)
	old, fresh := v.sets, v.fresh
	for len(old) > 0 || len(fresh) > 0 {
		side := 0
		switch {
		case len(old) == 0:
			side = 1
		case len(fresh) == 0:
			side = -1
		default:
			side = old[0].Compare(fresh[0])
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
