package search

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Finder looks for windows in a list, one at a time, and takes them out of it. It reuses
// the memory of its searches, so a caller with many of them should keep the Finder. It is
// not safe for concurrent use.
type Finder struct {
	list     *List
	pools    []pool  // one in all, or one for each site
	dirty    []int32 // pools with slots added at the candidate start
	cursors  cursors
	lanes    lanes   // scratch of lanesFor
	many     bool    // the last scan walked several lanes
	seen     []*slot // slots by position, if it did
	chosen   []kept
	taken    []slot                     // the found window's slots, in list order, with the count taken
	portions []uint8                    // of the found window: see query
	hook     func(p *pool, t grid.Time) // if set, it is called at every start and the scan does not stop at the first
	array    bool                       // the hook reads the pools' arrays
	best     judge
	instants []grid.Time // possible starts, see curved.go
	tables   tables
	spare    []fit // table for a refusal or a single search
	front    []fit // scratch of Prepare
	arena    []grid.Part
	rooms    rooms
	suits    suits
	notice   grid.Time // of a batch
	said     map[said]string
	since    since // of the last refusal
	found    grid.Window
	team     team // of a search for a job of parts

	standings []standing // scratch of rank
}

// NewFinder returns a Finder over l. From then on only the Finder may change l, until l is
// reset.
func NewFinder(l *List) *Finder { return &Finder{list: l} }

// Find looks for one window for r under algorithm a, starting at or after notice. w weighs
// windows for Best and is otherwise ignored. Find changes nothing; Take takes what it
// found. Without a window the reason is TooLarge, NoNode, NoWindow or OverBudget. It is
// OverBudget iff there would be a window without regard to price and budget.
//
// It panics unless r asks for at least one node, a length and a performance above 0, and a
// budget of at least 0. A search is linear in the slots up to the window's start, times the
// logarithm of the slots free at once.
func (f *Finder) Find(r grid.Request, a Algorithm, w Weights, notice grid.Time) (grid.Window, grid.Reason) {
	q := f.list.prepare(r, a, notice)
	if q.pieces != nil {
		defer f.yield(&q)
	} else if len(f.list.classes) <= maxTable {
		f.spare = q.tabulate(f.list, f.spare[:0])
	}
	if !f.find(&q, a, w) {
		return grid.Window{}, f.refusal(&q, a)
	}
	return f.found, grid.Reason{}
}

func (f *Finder) find(q *query, a Algorithm, w Weights) bool {
	f.portions = q.portions
	if q.pieces != nil {
		return f.findComposed(q, a, w)
	}
	return algorithms.Is(a).find(f, q, w)
}

// earliestWhole finds the window of AMP.
func earliestWhole(f *Finder, q *query, _ Weights) bool { return f.findEarliest(q, true) }

// earliestFirst finds the window of ALP and, as printed, of AMP: as soon as enough slots are
// kept.
func earliestFirst(f *Finder, q *query, _ Weights) bool { return f.findEarliest(q, false) }

// findEarliest finds the window with the earliest start; whole as in scan.
func (f *Finder) findEarliest(q *query, whole bool) bool {
	f.hook, f.array = nil, q.portions != nil
	f.best.lift()
	at := f.scan(q, whole)
	if at < 0 {
		return false
	}
	if q.portions != nil {
		f.rank(&f.pools[at], q, f.found.Start, grid.Duration(grid.Never))
	}
	f.chosen = f.pools[at].choose(f.chosen[:0])
	f.build(q)
	return true
}

// next is find for one job of a batch. It begins at the first start at which enough nodes
// may be free.
func (f *Finder) next(q *query, a Algorithm, w Weights) bool {
	if !f.bounded(a) || q.pieces != nil {
		return f.find(q, a, w)
	}
	if q.portions != nil {
		f.lend(q)
		found := f.find(q, a, w)
		if !q.lasts {
			q.fits = nil
		}
		return found
	}
	from, any := f.soonest(q)
	if !any {
		return false
	}
	asked := q.from
	q.from = from
	f.lend(q)
	found := f.find(q, a, w)
	if q.from = asked; !q.lasts {
		q.fits = nil
	}
	if f.noted(q); !found {
		f.missed(q)
	}
	return found
}

// scan walks the list in order of start and stops at the first start at which a pool has
// enough; if whole, only after the last slot of that start. It returns the pool, or -1 if
// there is none. The start is in f.found.Start.
//
// Slots that start before q.from count as starting at q.from; those that then end too early
// are never kept. Chunks in which all slots end too early are skipped.
func (f *Finder) scan(q *query, whole bool) int {
	l := f.list
	if l.curved {
		return f.scanCurved(q)
	}
	l.renew()
	f.open(q)
	if q.least > grid.Duration(grid.Never) {
		return -1 // no class suits the request
	}
	f.seen = f.seen[:0]
	return f.sweep(q, whole)
}

// sweep takes the slots in order of their starts.
func (f *Finder) sweep(q *query, whole bool) int {
	l, t := f.list, q.from
	ends := q.from.Add(q.least)
	lanes := f.lanesFor(q)
	for f.cursors.enter(lanes, q.least, ends, q.Deadline); len(f.cursors) > 0; {
		c, other := &f.cursors[0], (*slot)(nil)
		if len(f.cursors) > 1 {
			other = f.cursors[1].at
		}
		ch := &c.lane.chunks[c.ci]
		i := c.i
		for ; i < len(ch.slots); i++ {
			s := &ch.slots[i]
			if s.end < ends {
				continue
			}
			if other != nil && other.before(s) {
				break
			}
			fit := q.fit(l, s.class)
			if fit.runtime == 0 || fit.runtime > f.best.longest || fit.key > f.best.dearest {
				continue
			}
			latest := min(s.end, q.Deadline) - grid.Time(fit.runtime)
			start := max(s.start, q.from)
			if latest < start {
				continue
			}
			if start > t {
				if whole {
					if at := f.settle(t); at >= 0 {
						return at
					}
				}
				if f.array && f.best.hopeless(start) {
					return -1
				}
				t = start
			}
			site := 0
			if q.OneSite {
				site = int(l.classes[s.class].site)
			}
			pos := int64(c.ci)<<32 | int64(i)
			if f.many {
				pos = int64(len(f.seen))
				f.seen = append(f.seen, s)
			}
			p := &f.pools[site]
			if whole {
				if !p.dirty {
					p.dirty, p.fresh = true, fit.runtime
					f.dirty = append(f.dirty, int32(site))
				}
				p.fresh = min(p.fresh, fit.runtime)
			}
			p.add(kept{fit.key, latest, pos, s.count, s.class}, t)
			if !whole && p.enoughAt(t) {
				f.found.Start = t
				return site
			}
		}
		c.i = i
		f.cursors.goOn(ends, q.Deadline)
	}
	return f.settle(t)
}

// open resets the pools for a scan.
func (f *Finder) open(q *query) {
	n := 1
	if q.OneSite {
		n = max(1, f.list.sites)
	}
	for len(f.pools) < n {
		f.pools = append(f.pools, pool{})
	}
	f.pools = f.pools[:n]
	for i := range f.pools {
		f.pools[i].reset(q.Nodes, q.limit)
		f.pools[i].array = f.array
	}
	f.dirty = f.dirty[:0]
}

// settle ends a group of equal starts. Of the pools that have enough at t it returns the
// one with the least sum; of equal ones, the first site. It returns -1 if there is none.
func (f *Finder) settle(t grid.Time) int {
	at, best := -1, sum{}
	if f.portions != nil {
		slices.Sort(f.dirty) // a bound may have passed over the slot that a site comes first by
	}
	for _, i := range f.dirty {
		p := &f.pools[i]
		p.dirty = false
		if f.hook != nil {
			f.hook(p, t)
			continue
		}
		if !p.enoughAt(t) {
			continue
		}
		if s := p.least(); at < 0 || s.less(best) || s == best && int(i) < at {
			at, best = int(i), s
		}
	}
	f.dirty = f.dirty[:0]
	f.found.Start = t
	return at
}

// build makes f.found from the chosen slots. Parts are in list order, and the slots of a
// fungible group form one part.
func (f *Finder) build(q *query) {
	l := f.list
	if l.curved {
		f.buildCurved(q)
		return
	}
	if !slices.IsSortedFunc(f.chosen, byPlace) {
		slices.SortFunc(f.chosen, byPlace)
	}
	w := grid.Window{Start: f.found.Start}
	f.taken = f.taken[:0]
	parts := f.room(len(f.chosen))
	for _, k := range f.chosen {
		s := *f.at(k.pos)
		s.count = k.count
		f.taken = append(f.taken, s)
		c := &l.classes[s.class]
		rt := c.performance.Runtime(q.Length)
		cost := q.cost(l, c, c.price, rt).Times(int(k.count))
		w.Time = max(w.Time, rt)
		w.Cost = w.Cost.Plus(cost)
		if l.fungible {
			if i := slices.IndexFunc(parts, func(p grid.Part) bool { return p.Group == c.group }); i >= 0 {
				parts[i].Count += k.count
				parts[i].Cost = parts[i].Cost.Plus(cost)
				continue
			}
		}
		parts = append(parts, grid.Part{Group: c.group, Count: k.count, Start: w.Start, End: w.Start.Add(rt), Cost: cost, Slices: int32(q.slices(c))})
	}
	w.Parts = parts[:len(parts):len(parts)]
	f.arena = f.arena[:len(f.arena)+len(parts)]
	f.found = w
}

// at returns the slot at a position of the last scan.
func (f *Finder) at(pos int64) *slot {
	if f.many {
		return f.seen[pos]
	}
	return &f.list.slots[0].chunks[pos>>32].slots[pos&(1<<32-1)]
}

func byPlace(a, b kept) int { return cmp.Compare(a.pos, b.pos) }

// room returns an empty slice with capacity for n parts from the arena. Many windows share
// one allocation.
func (f *Finder) room(n int) []grid.Part {
	if cap(f.arena)-len(f.arena) < n {
		f.arena = make([]grid.Part, 0, max(n, 256))
	}
	return f.arena[len(f.arena):len(f.arena):cap(f.arena)]
}

// Take removes the window that the last Find found from the list.
func (f *Finder) Take() {
	l, w := f.list, &f.found
	if f.portions != nil && !l.curved {
		f.takePortions(f.portions, w)
		return
	}
	if l.fungible {
		for _, p := range w.Parts {
			l.Add(p.Group, -int(p.Count), p.Start, p.End)
		}
	} else {
		f.takeNamed(w.Parts)
	}
	l.openRest(w.Parts)
}
