package backfill

import "github.com/bourse-grid/bourse/grid"

// instant is a time at which the number of free nodes may change.
type instant struct {
	at         grid.Time
	free       int32 // from here to the next instant
	ends       int32 // number of starts and ends of guarantees, running jobs and reservations here
	prev, next int32
	starts     int32 // first job whose guarantee starts here
}

const none = -1

// The list lies between two sentinels with -1 free nodes, so that no fit extends past them.
// The first instant after the wall is the group's present.
const (
	wall int32 = iota
	tail
	present
)

// insert adds an instant at the time at, just before instant k, and returns it.
func (t *timeline) insert(at grid.Time, k int32) int32 {
	i := t.spare
	if i == none {
		i = int32(len(t.list))
		t.list = append(t.list, instant{})
	} else {
		t.spare = t.list[i].next
	}
	before := t.list[k].prev
	t.list[i] = instant{at: at, free: t.list[before].free, prev: before, next: k, starts: none}
	t.list[before].next, t.list[k].prev = i, i
	return i
}

// leave records that one start or end fewer lies at k. It drops the instant if that was the
// last.
func (t *timeline) leave(k int32) {
	x := &t.list[k]
	if x.ends--; x.ends <= 0 && k > present && x.free == t.list[x.prev].free {
		t.drop(k)
	}
}

func (t *timeline) drop(k int32) {
	x := &t.list[k]
	t.list[x.prev].next, t.list[x.next].prev = x.next, x.prev
	x.at, x.next, t.spare = -grid.Never, t.spare, k
}

// find returns the instant with the time at, and inserts it if there is none. It searches
// backward from k, which must not lie before at; at must not lie before the present.
func (t *timeline) find(at grid.Time, k int32) int32 {
	for t.list[t.list[k].prev].at >= at {
		k = t.list[k].prev
	}
	if t.list[k].at == at {
		return k
	}
	return t.insert(at, k)
}

// raise adds n to the free nodes from instant a up to instant b.
func (t *timeline) raise(a, b, n int32) {
	for ; a != b; a = t.list[a].next {
		t.list[a].free += n
	}
}

// after returns the first instant later than at, or tail.
func (t *timeline) after(at grid.Time) int32 {
	k := present
	for t.list[k].at <= at && k != tail {
		k = t.list[k].next
	}
	return k
}

// fewest returns the smallest number of free nodes in [s, e).
func (t *timeline) fewest(s, e grid.Time) int {
	k := t.list[t.after(s)].prev
	low := t.list[k].free
	for k = t.list[k].next; t.list[k].at < e; k = t.list[k].next {
		low = min(low, t.list[k].free)
	}
	return int(low)
}

// profile appends the free nodes to p.
func (t *timeline) profile(p grid.Profile) grid.Profile {
	for k := present; k != tail; k = t.list[k].next {
		if x := &t.list[k]; len(p) == 0 || p[len(p)-1].Free != int(x.free) {
			p = append(p, grid.Step{At: x.at, Free: int(x.free)})
		}
	}
	return p
}
