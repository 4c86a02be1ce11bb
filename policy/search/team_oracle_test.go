package search

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// The oracle for jobs of parts knows only nodes, or numbers of free nodes, at instants one
// second apart. At each start it tries every assignment.

// world is free nodes and a job of parts, so small that all can be tried.
type world struct {
	groups []grid.Group
	slots  []grid.Slot // of named nodes; none: free counts
	free   []grid.Profile
	job    grid.Request
	notice grid.Time
}

const longest = 64 * instant // no slot of a world ends later

// drawWorld draws nodes, or groups, and a job for them.
func drawWorld(rng *rand.Rand, named bool) *world {
	w := &world{notice: grid.Time(rng.IntN(4)) * instant}
	for g := range 1 + rng.IntN(4) {
		x := grid.Group{Site: fmt.Sprint("s", rng.IntN(3)), Name: fmt.Sprint("n", g), Nodes: 1}
		x.Performance, x.Price = grid.Performance([]int{1000, 1000, 2000, 4000}[rng.IntN(4)]), grid.Price(1+rng.IntN(4))*3600e6
		if named {
			at := rng.IntN(6)
			for range 1 + rng.IntN(3) {
				end := at + 2 + rng.IntN(14)
				w.slots = append(w.slots, grid.Slot{Group: int32(g), Count: 1, Start: grid.Time(at) * instant, End: grid.Time(end) * instant, Performance: x.Performance, Price: x.Price})
				at = end + 1 + rng.IntN(4)
			}
		} else {
			x.Nodes = 1 + rng.IntN(5)
			p := grid.NewProfile(0, x.Nodes)
			for range rng.IntN(5) {
				s := grid.Time(rng.IntN(20)) * instant
				e := s + grid.Time(1+rng.IntN(12))*instant
				p.Add(s, e, -min(p.Min(s, e), 1+rng.IntN(3)))
			}
			if rng.IntN(3) == 0 {
				x.Padding = grid.Duration(1+rng.IntN(3)) * tick
			}
			w.free = append(w.free, p)
		}
		w.groups = append(w.groups, x)
	}
	r := grid.Request{Ready: grid.Time(rng.IntN(4)) * instant, Deadline: grid.Never}
	var parts []grid.JobPart
	for i := range 2 + rng.IntN(2) {
		x := grid.JobPart{Name: fmt.Sprint("p", i), Nodes: 1 + rng.IntN(2), Length: grid.Duration(1+rng.IntN(12)) * tick,
			MinPerformance: grid.Performance(1000 * (1 + rng.IntN(2))), MaxPrice: grid.Price(1+rng.IntN(5)) * 3600e6}
		if i > 0 && rng.IntN(2) == 0 {
			x.Offset = grid.Duration(rng.IntN(8)) * tick
		}
		if rng.IntN(4) == 0 {
			x.Sites = []string{"s0", fmt.Sprint("s", rng.IntN(3))}
		}
		if rng.IntN(6) == 0 {
			x.Avoid = []string{"s2"}
		}
		x.OneSite = rng.IntN(4) == 0
		parts = append(parts, x)
	}
	switch rng.IntN(5) {
	case 0:
		r.Together = true
	case 1:
		r.Apart = true
	}
	if rng.IntN(3) == 0 {
		r.Deadline = grid.Time(10+rng.IntN(20)) * instant
	}
	r.Money(parts, false, nil)
	if rng.IntN(3) == 0 {
		r.Budget = r.Budget * 2 / 3
	}
	w.job = r
	return w
}

// list is the world as a search sees it.
func (w *world) list(t *testing.T) *List {
	if w.free == nil {
		l, err := Named(w.groups, w.slots)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	return fungible(w.groups, w.free, 0, longest)
}

// place is somewhere that nodes of a part may be: a slot of a named node, or a group.
type place struct {
	group, at int
	price     grid.Price
	runtime   grid.Duration
	most      int // nodes that a part alone could have
}

// places are those of part i for a start at t, in list order.
func (w *world) places(l *List, a Algorithm, i int, t grid.Time) (list []place) {
	p := &w.job.Parts[i]
	s := t.Add(p.Offset)
	fits := func(g int, perf grid.Performance, price grid.Price, from, to grid.Time) (grid.Duration, bool) {
		rt := perf.Runtime(p.Length)
		return rt, perf >= p.MinPerformance && grid.May(w.groups[g].Site, p.Sites, p.Avoid) && (!a.CapsPrice() || price <= p.MaxPrice) &&
			s >= from && s.Add(rt) <= min(to, w.job.Deadline)
	}
	if w.free == nil {
		for k, x := range slotsOf(l) {
			if rt, ok := fits(int(x.Group), x.Performance, x.Price, x.Start, x.End); ok {
				list = append(list, place{int(x.Group), k, x.Price, rt, 1})
			}
		}
		return list
	}
	for g := range w.groups {
		x := &w.groups[g]
		if rt, ok := fits(g, x.Performance, x.Price, 0, longest); ok {
			if n := l.Free(int32(g)).Min(s, s.Add(rt)); n > 0 {
				list = append(list, place{g, g, x.Price, rt, n})
			}
		}
	}
	return list
}

// choice is an assignment at a start: numbers by part and place.
type choice struct {
	places [][]place
	x      [][]int
	cost   grid.Credits
	time   grid.Duration
}

// choose tries every assignment at t in which no part ends later than within after it.
func (w *world) choose(l *List, a Algorithm, t grid.Time, within grid.Duration) (best *choice) {
	n := len(w.job.Parts)
	c := choice{places: make([][]place, n), x: make([][]int, n)}
	for i := range n {
		c.places[i] = slices.DeleteFunc(w.places(l, a, i, t), func(x place) bool { return w.job.Parts[i].Offset+x.runtime > within })
		c.x[i] = make([]int, len(c.places[i]))
	}
	var next func(i, k, left int)
	next = func(i, k, left int) {
		switch {
		case i == n:
			cost := grid.Credits(0)
			for i := range c.x {
				for k, m := range c.x[i] {
					if !a.CapsPrice() {
						cost += grid.Cost(c.places[i][k].price, c.places[i][k].runtime).Times(m)
					}
				}
			}
			if !a.CapsPrice() && cost > w.job.Budget || best != nil && cost > best.cost || !w.holds(l, t, &c) {
				return
			}
			if best == nil || cost < best.cost || compareAll(c.x, best.x) > 0 {
				best = &choice{places: c.places, cost: cost}
				for i := range c.x {
					best.x = append(best.x, slices.Clone(c.x[i]))
					for k, m := range c.x[i] {
						if m > 0 {
							best.time = max(best.time, w.job.Parts[i].Offset+c.places[i][k].runtime)
						}
					}
				}
			}
		case k == len(c.places[i]):
			if left == 0 {
				more := 0
				if i+1 < n {
					more = w.job.Parts[i+1].Nodes
				}
				next(i+1, 0, more)
			}
		default:
			for m := min(left, c.places[i][k].most); m >= 0; m-- {
				c.x[i][k] = m
				next(i, k+1, left-m)
			}
			c.x[i][k] = 0
		}
	}
	next(0, 0, w.job.Parts[0].Nodes)
	return best
}

func compareAll(a, b [][]int) int { return slices.Compare(slices.Concat(a...), slices.Concat(b...)) }

// holds holds an assignment to the rules on sites, and to what is free at every instant.
func (w *world) holds(l *List, t grid.Time, c *choice) bool {
	used := map[string]int{}
	for i := range c.x {
		mine := map[string]bool{}
		for k, m := range c.x[i] {
			if m > 0 {
				mine[w.groups[c.places[i][k].group].Site] = true
			}
		}
		if len(mine) > 1 && (w.job.Parts[i].OneSite || w.job.Apart) {
			return false
		}
		for s := range mine {
			used[s]++
		}
	}
	for _, parts := range used {
		if w.job.Apart && parts > 1 || w.job.Together && len(used) > 1 {
			return false
		}
	}
	for g := range w.groups {
		for at := grid.Time(0); at < longest; at += instant / 4 { // a runtime may end between two seconds
			here, near := 0, 0
			for i := range c.x {
				for k, m := range c.x[i] {
					if x := &c.places[i][k]; x.group == g && m > 0 {
						s := t.Add(w.job.Parts[i].Offset)
						e := s.Add(x.runtime)
						if s <= at && at < e {
							here += m
						}
						if from, to := w.groups[g].Padded(s, e); from <= at && at < to {
							near += m
						}
					}
				}
			}
			free := 1
			if w.free != nil {
				free = l.Free(int32(g)).At(at)
			}
			if here > 0 && near > free {
				return false
			}
		}
	}
	return true
}

// window is a choice as a search shows it.
func (w *world) window(l *List, t grid.Time, c *choice) grid.Window {
	out := grid.Window{Start: t, Time: c.time}
	for i := range c.x {
		for k, m := range c.x[i] {
			if x := &c.places[i][k]; m > 0 {
				s := t.Add(w.job.Parts[i].Offset)
				p := grid.Part{Group: int32(x.group), Count: int32(m), Start: s, End: s.Add(x.runtime), Cost: grid.Cost(x.price, x.runtime).Times(m), Of: int32(i)}
				out.Parts, out.Cost = append(out.Parts, p), out.Cost+p.Cost
			}
		}
	}
	return out
}

// starts are those that the rule names: the earliest, and s - o_p where nodes come free at s.
// Without padding nothing can begin anywhere else first, so the oracle tries every quarter of a second.
func (w *world) starts(l *List, a Algorithm, every bool) (list []grid.Time) {
	from := max(w.notice, w.job.Ready)
	if every {
		for t := from; t < longest; t += instant / 4 {
			list = append(list, t)
		}
		return list
	}
	list = append(list, from)
	for _, p := range w.job.Parts {
		for g := range w.free {
			if w.groups[g].Performance < p.MinPerformance || !grid.May(w.groups[g].Site, p.Sites, p.Avoid) || a.CapsPrice() && w.groups[g].Price > p.MaxPrice {
				continue // it does not suit the part
			}
			free := l.Free(int32(g))
			for k := 1; k < len(free); k++ {
				if t := free[k].At.Add(-p.Offset); free[k].Free > free[k-1].Free && t > from {
					list = append(list, t)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// earliest is what an algorithm without anyStart must find.
func (w *world) earliest(l *List, a Algorithm, every bool) (grid.Window, bool) {
	for _, t := range w.starts(l, a, every) {
		if c := w.choose(l, a, t, grid.Duration(grid.Never)); c != nil {
			return w.window(l, t, c), true
		}
	}
	return grid.Window{}, false
}

// best is what an algorithm with anyStart must find: at each start and below each time it has the
// window of least cost to choose from.
func (w *world) best(l *List, a Algorithm, by Weights, every bool) (out grid.Window, found bool) {
	for _, t := range w.starts(l, a, every) {
		for within := grid.Duration(grid.Never); ; {
			c := w.choose(l, a, t, within)
			if c == nil {
				break
			}
			v := w.window(l, t, c)
			r := w.job
			r.Ready = max(r.Ready, w.notice)
			if !found || prefers[a](&r, by, &v, &out) < 0 {
				out, found = v, true
			}
			within = c.time - 1
		}
	}
	return out, found
}

// checkAll compares each algorithm that searches for jobs of parts with the oracle.
func (w *world) checkAll(t *testing.T, n int, at bool) (windows int) {
	by := []Weights{{Time: 1000}, {Cost: 1000}, {Time: 1000, Cost: 300}, {Finish: 1000, Cost: 500}, {Value: true, Urgency: 3 * grid.Credit, Haste: grid.Credit}}[n%5]
	for _, a := range Each() {
		if a.Composes() && prefers[a] != nil {
			windows += w.check(t, n, a, by, at)
		}
	}
	return windows
}

// check compares a search with the oracle, for as many windows as there are.
func (w *world) check(t *testing.T, n int, a Algorithm, by Weights, every bool) (windows int) {
	l := w.list(t)
	f := NewFinder(l)
	for windows < 4 {
		want, found := w.earliest(l, a, every)
		if a.anyStart() {
			want, found = w.best(l, a, by, every)
		}
		got, why := f.Find(w.job, a, by, w.notice)
		if found == why.Refused() || found && !reflect.DeepEqual(got, want) {
			t.Fatalf("world %d, %v %+v, window %d:\n got %+v %v\nwant %+v %v\n%+v", n, a, by, windows, got, why, want, found, w)
		}
		if !found {
			return windows
		}
		f.Take()
		windows++
	}
	return windows
}

// On named nodes every window of every algorithm is the one of all assignments.
func TestTeam_NamedNodesEqualBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	windows, worlds := 0, thorough.Count(1500, 300)
	for n := range worlds {
		w := drawWorld(rng, true)
		windows += w.checkAll(t, n, true)
	}
	if windows < worlds/3 {
		t.Errorf("%d windows in all: the worlds have too few", windows)
	}
}

// On groups of alike nodes it is too, also where one node serves two parts and where windows
// are kept apart by padding.
func TestTeam_GroupsEqualBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	windows, worlds := 0, thorough.Count(1500, 300)
	for n := range worlds {
		w := drawWorld(rng, false)
		padded := slices.ContainsFunc(w.groups, func(g grid.Group) bool { return g.Padding > 0 })
		windows += w.checkAll(t, n, !padded)
	}
	if windows < worlds/3 {
		t.Errorf("%d windows in all: the worlds have too few", windows)
	}
}
