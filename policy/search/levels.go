package search

import "github.com/bourse-grid/bourse"

// levels is one group of alike nodes: its free count and the level sets of it,
// for each k the maximal intervals with at least k nodes free, equal ones
// carried as one with a count. N nodes are free on [s, e) iff levels with a
// count of N in all cover it; that makes a search over the levels exact.
type levels struct {
	free  bourse.Profile
	sets  []bourse.Level
	fresh []bourse.Level // scratch of renew
	next  []bourse.Level // the same
	open  []bourse.Level // scratch of both

	// What is free has changed over [from, to), and the sets are of before.
	from, to bourse.Time
}

func levelSlot(group int32, s bourse.Level) slot {
	return slot{start: s.Start, end: s.End, tie: int64(group), class: group, count: int32(s.Count)}
}

// Add changes the number of free nodes of a group over [from, to), and the group's padding
// around it, by n, negative to take. The list must be of fungible groups; from is not
// before it begins.
func (l *List) Add(group int32, n int, from, to bourse.Time) {
	from, to = l.padded(group, from, to)
	l.take(group, -n, from, to)
}

// padded is what a window over [from, to) takes from others. Of two windows that are on the
// same nodes one after the other both take the time between: for so long a node more than
// is kept seems taken, since counts do not say which nodes it is.
func (l *List) padded(g int32, from, to bourse.Time) (bourse.Time, bourse.Time) {
	x := &l.groups[g]
	if x.Padding == 0 {
		return from, to
	}
	from, to = x.Padded(from, to)
	return max(from, l.levels[g].free[0].At), to
}

// Free is how many nodes of a group of a fungible list are free. It is to be read at
// once: it follows Add.
func (l *List) Free(group int32) bourse.Profile { return l.levels[group].free }

// take takes n nodes of group g out over [from, to). The slots follow with the next
// scan: much of what is taken is given back before.
func (l *List) take(g int32, n int, from, to bourse.Time) {
	v := &l.levels[g]
	if n < 0 {
		l.epoch++ // what is free has become more
	}
	v.free.Add(from, to, -n)
	if v.from >= v.to {
		v.from, v.to = from, to
		l.stale = append(l.stale, g)
		return
	}
	v.from, v.to = min(v.from, from), max(v.to, to)
}

// renew has the slots follow what was taken.
func (l *List) renew() {
	for _, g := range l.stale {
		v := &l.levels[g]
		l.follow(g, v.from, v.to)
		v.from, v.to = 0, 0
	}
	l.stale = l.stale[:0]
}

// follow makes the level sets of a group anew that touch [from, to) (cutting single
// lanes would lose windows), and replaces in the list only those that differ.
func (l *List) follow(g int32, from, to bourse.Time) {
	v := &l.levels[g]
	v.fresh = v.free.LevelsAround(v.fresh[:0], &v.open, l.from, l.to, from, to)
	v.next = v.next[:0]
	fresh := v.fresh
	for i := range v.sets {
		old := &v.sets[i]
		for len(fresh) > 0 && fresh[0].Compare(*old) < 0 {
			l.slots.insert(levelSlot(g, fresh[0]))
			v.next = append(v.next, fresh[0])
			fresh = fresh[1:]
		}
		switch touches := old.End >= from && old.Start <= to; {
		case !touches:
			v.next = append(v.next, *old)
		case len(fresh) > 0 && fresh[0].Compare(*old) == 0:
			if old.Count != fresh[0].Count {
				ci, i := l.slots.find(levelSlot(g, *old))
				l.slots.chunks[ci].slots[i].count = int32(fresh[0].Count)
			}
			v.next = append(v.next, fresh[0])
			fresh = fresh[1:]
		default:
			l.slots.remove(l.slots.find(levelSlot(g, *old)))
		}
	}
	for _, s := range fresh {
		l.slots.insert(levelSlot(g, s))
		v.next = append(v.next, s)
	}
	v.sets, v.next = v.next, v.sets
}
