package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// rooms are bounds on how many nodes are free at once for long enough. When demand exceeds
// the capacity of a grid most jobs of a batch find nothing, and each of them costs two
// scans to the end of the list: one that fails, and one that finds out by how much. The
// list only shrinks during a batch, so what one scan has seen holds for the rest of it. If
// at most k nodes were free at any start before t for some length, then no more than k are
// for a longer one. A job that needs more than there ever are is not scanned for, and any
// other is scanned for only from the first start that may have enough. That finds the same
// window, as nothing earlier would do.
//
// The bounds count the nodes of all groups, whatever they cost and whoever may use them, so
// they hold for every request. There are none for named slots, for prices that change over
// time, or for Best, which rates all starts. They pay only in large batches, so the first
// bound for a length is made only when a search has failed.
type rooms struct {
	of    map[int]*room
	epoch uint64  // of the list
	begin []event // scratch
	end   []event // scratch
	off   bool    // for tests
}

// room is the bound for requests of a given length and longer ones.
type room struct {
	steps  []grid.Step // at most that many nodes are free at once at starts before the next step's
	failed int         // failed scans since it was made
	made   uint64      // value of List.changes when it was made
}

// event is an instant at which nodes become free, or the last at which they are free for
// long enough.
type event struct {
	at    grid.Time
	count int32
}

func (e event) compare(x event) int { return cmp.Compare(e.at, x.at) }

// refresh is how many scans must fail before a bound is recomputed, which costs as much as
// several scans.
const refresh = 16

// rung returns the largest length not above d on a ladder with eight rungs to an octave,
// and its number.
func rung(d grid.Duration) (key int, length grid.Duration) {
	n := max(0, bits.Len64(uint64(d))-4)
	return n<<4 | int(d>>n), d >> n << n
}

// roomFor returns the bound that holds for a query, or nil.
func (f *Finder) roomFor(q *query) *room {
	if r := &f.rooms; r.epoch == f.list.epoch {
		key, _ := rung(q.Length)
		return r.of[key]
	}
	return nil
}

// bounded reports whether searches of the list by an algorithm use bounds.
func (f *Finder) bounded(a Algorithm) bool {
	return f.list.fungible && !f.list.curved && !a.anyStart() && !f.rooms.off
}

// last returns the latest start that a query may have.
func (f *Finder) last(q *query) grid.Time { return min(q.Deadline, f.list.to).Add(-q.least) }

// soonest returns a time before which a query has no window; false if it has none at all.
func (f *Finder) soonest(q *query) (grid.Time, bool) {
	if most, known := q.suit.atMost(q.Length); known && most < q.Nodes {
		return 0, false
	}
	from := max(q.from, q.suit.front.since(q.Nodes, q.Length))
	r := f.roomFor(q)
	if r == nil || q.least > grid.Duration(grid.Never) {
		return from, from <= f.last(q) || q.least > grid.Duration(grid.Never) // if no nodes suit it, a scan ends at once
	}
	i, _ := slices.BinarySearchFunc(r.steps, q.Nodes, func(s grid.Step, n int) int { return cmp.Compare(s.Free, n) })
	if i == len(r.steps) {
		return 0, false
	}
	from = max(from, r.steps[i].At)
	return from, from <= f.last(q)
}

// noted records in the frontier from when on the last search found enough nodes.
func (f *Finder) noted(q *query) {
	s := q.suit
	if q.dear || q.OneSite || q.Ready > f.notice || q.suited < s.classes || s.classes == 0 {
		return // the search did not look at all nodes that serve q, or not at all starts
	}
	t := f.pools[0].since
	if q.dear = t < f.found.Start; q.Deadline < f.list.to {
		t = min(t, q.Deadline.Add(-s.slowest.Runtime(q.Length)))
	}
	s.front.note(q.Nodes, q.Length, t)
}

// missed records that a scan has failed, and from time to time makes the bound that would
// have avoided it.
func (f *Finder) missed(q *query) {
	if q.least > grid.Duration(grid.Never) {
		return // no class suits the request, which no bound shows
	}
	r := &f.rooms
	if r.epoch != f.list.epoch || r.of == nil {
		r.epoch, r.of = f.list.epoch, map[int]*room{}
	}
	key, length := rung(q.Length)
	x := r.of[key]
	if x == nil {
		x = &room{failed: refresh - 1}
		r.of[key] = x
	}
	if x.failed++; x.failed >= refresh && (x.steps == nil || x.made != f.list.changes) {
		x.failed, x.made, x.steps = 0, f.list.changes, f.staircase(x.steps[:0], length)
	}
}

// staircase appends the most nodes that are free at once for a length, at any start up to a
// given time, as steps. It costs a walk over the slots and two sorts.
func (f *Finder) staircase(steps []grid.Step, length grid.Duration) []grid.Step {
	l, r := f.list, &f.rooms
	l.renew()
	runtimes := make([]grid.Duration, len(l.classes))
	for i := range l.classes {
		runtimes[i] = l.classes[i].performance.Runtime(length)
	}
	r.begin, r.end = r.begin[:0], r.end[:0]
	for k := range l.slots {
		for c := range l.slots[k].chunks {
			slots := l.slots[k].chunks[c].slots
			for i := range slots {
				if latest := slots[i].end.Add(-runtimes[slots[i].class]); latest >= slots[i].start {
					r.begin = append(r.begin, event{slots[i].start, slots[i].count})
					r.end = append(r.end, event{latest, slots[i].count})
				}
			}
		}
	}
	slices.SortFunc(r.begin, event.compare)
	slices.SortFunc(r.end, event.compare)
	free, most, over := 0, 0, r.end
	for _, e := range r.begin {
		for ; over[0].at < e.at; over = over[1:] {
			free -= int(over[0].count)
		}
		if free += int(e.count); free > most {
			if most = free; len(steps) > 0 && steps[len(steps)-1].At == e.at {
				steps[len(steps)-1].Free = most
			} else {
				steps = append(steps, grid.Step{At: e.at, Free: most})
			}
		}
	}
	return steps
}

// mostFree returns the most nodes that suit a query and are free at once, at any cost, if
// that is known. It is known from the peaks, or if some start has as many as the bound
// allows.
func (f *Finder) mostFree(q *query) (int, bool) {
	if q.suit == nil || q.OneSite || f.rooms.off {
		return 0, false
	}
	if n, known := f.peakOf(q); known {
		return n, true
	}
	r := f.roomFor(q)
	if r == nil || q.least > grid.Duration(grid.Never) {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(r.steps, f.last(q), func(s grid.Step, t grid.Time) int {
		if s.At <= t {
			return -1
		}
		return 1
	})
	if i == 0 || r.steps[i-1].Free >= q.Nodes {
		return 0, false
	}
	at := max(q.from, r.steps[i-1].At)
	n := f.freeAt(q, at)
	if n == r.steps[i-1].Free {
		f.peaked(q, n, at)
		return n, true
	}
	return 0, false
}
