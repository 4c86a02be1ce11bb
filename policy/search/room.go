package search

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse"
)

// rooms are bounds on what is free at once for long enough. Above the capacity of a grid
// most of a batch finds nothing, and each job that does not costs two scans to the end of
// the list: one that fails, and one that says by how much. What has been seen of a list
// holds for the rest of a batch, since it only shrinks: so many nodes were free at the most
// at any start until t for some length, then no more are for a longer one. A job that needs
// more is not scanned for; one that needs no more is scanned for from the first start that
// may have enough. That finds the same window: of nodes that are free together from some
// instant, the level that begins last begins at an earlier start that would do, or there.
//
// The bounds count the nodes of all groups, whatever they cost and whoever may use them, so
// they hold for every request. Where prices change over time, for named slots and under
// Best, whose ratings look at all starts, there are none. They pay in large batches alone:
// the first of a length is made when a search of it has failed.
type rooms struct {
	of    map[int]*room
	epoch uint64  // of the list
	begin []event // scratch
	end   []event // scratch
	off   bool    // for tests
}

// room is the bound for requests of some length and longer ones.
type room struct {
	steps  []bourse.Step // that many nodes are free at once, at the most, at starts up to the next step's
	failed int           // scans since it was made
	made   uint64        // changes of the list until then
}

// event is when nodes become free, or are free for long enough last.
type event struct {
	at    bourse.Time
	count int32
}

func (e event) compare(x event) int { return cmp.Compare(e.at, x.at) }

// refresh is how many scans fail before a bound is made anew: it costs several of them.
const refresh = 16

// rung is the largest length of the ladder, of eight in an octave, that is not above d.
func rung(d bourse.Duration) (key int, length bourse.Duration) {
	n := max(0, bits.Len64(uint64(d))-4)
	return n<<4 | int(d>>n), d >> n << n
}

// roomFor is the bound that holds for a query; nil if there is none.
func (f *Finder) roomFor(q *query) *room {
	if r := &f.rooms; r.epoch == f.list.epoch {
		key, _ := rung(q.Length)
		return r.of[key]
	}
	return nil
}

// bounded reports whether searches of the list by an algorithm have bounds.
func (f *Finder) bounded(a Algorithm) bool {
	return f.list.fungible && !f.list.curved && a != Best && !f.rooms.off
}

// last is the last start that a query may have.
func (f *Finder) last(q *query) bourse.Time { return min(q.Deadline, f.list.to).Add(-q.least) }

// soonest is a start before which a query has no window, false if it has none at all.
func (f *Finder) soonest(q *query) (bourse.Time, bool) {
	if most, known := q.suit.atMost(q.Length); known && most < q.Nodes {
		return 0, false
	}
	from := max(q.from, q.suit.front.since(q.Nodes, q.Length))
	r := f.roomFor(q)
	if r == nil || q.least > bourse.Duration(bourse.Never) {
		return from, from <= f.last(q) || q.least > bourse.Duration(bourse.Never) // without nodes that suit it, a scan ends at once
	}
	i, _ := slices.BinarySearchFunc(r.steps, q.Nodes, func(s bourse.Step, n int) int { return cmp.Compare(s.Free, n) })
	if i == len(r.steps) {
		return 0, false
	}
	from = max(from, r.steps[i].At)
	return from, from <= f.last(q)
}

// noted has the frontier know from when on a search has come upon nodes enough.
func (f *Finder) noted(q *query) {
	s := q.suit
	if q.dear || q.OneSite || q.Ready > f.notice || q.suited < s.classes || s.classes == 0 {
		return // it has not looked at all nodes that serve it, or not at all starts
	}
	t := f.pools[0].since
	if q.dear = t < f.found.Start; q.Deadline < f.list.to {
		t = min(t, q.Deadline.Add(-s.slowest.Runtime(q.Length)))
	}
	s.front.note(q.Nodes, q.Length, t)
}

// missed notes that a scan has failed, and makes the bound that would have spared it.
func (f *Finder) missed(q *query) {
	if q.least > bourse.Duration(bourse.Never) {
		return // nothing is suited, which no bound shows
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

// staircase is the most nodes of a suit that are free at once for a length, as it grows
// from start to start: a walk over the slots, and two sorts.
func (f *Finder) staircase(steps []bourse.Step, length bourse.Duration) []bourse.Step {
	l, r := f.list, &f.rooms
	l.renew()
	runtimes := make([]bourse.Duration, len(l.classes))
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
				steps = append(steps, bourse.Step{At: e.at, Free: most})
			}
		}
	}
	return steps
}

// mostFree is how many nodes that suit a query are free at once at the most, whatever
// they cost, if that is known: from the peaks, or because the bound is what one start has.
func (f *Finder) mostFree(q *query) (int, bool) {
	if q.suit == nil || q.OneSite || f.rooms.off {
		return 0, false
	}
	if n, known := f.peakOf(q); known {
		return n, true
	}
	r := f.roomFor(q)
	if r == nil || q.least > bourse.Duration(bourse.Never) {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(r.steps, f.last(q), func(s bourse.Step, t bourse.Time) int {
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
