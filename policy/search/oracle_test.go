package search

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// The oracles work on times and prices so small that every instant can be tried.
const (
	tick    = grid.Duration(1000)
	instant = grid.Time(1000)
)

// drawNamed draws up to ten slots on up to five nodes.
func drawNamed(t *rapid.T) ([]grid.Group, []grid.Slot) {
	var nodes []grid.Group
	var slots []grid.Slot
	for n := range rapid.IntRange(1, 5).Draw(t, "nodes") {
		nodes = append(nodes, grid.Group{Name: fmt.Sprint("n", n), Site: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "site"), Nodes: 1})
		at := rapid.IntRange(0, 6).Draw(t, "at")
		for range rapid.IntRange(0, 3).Draw(t, "slots") {
			end := at + rapid.IntRange(1, 9).Draw(t, "length")
			slots = append(slots, grid.Slot{Group: int32(n), Start: grid.Time(at) * instant, End: grid.Time(end) * instant,
				Performance: grid.Performance(rapid.SampledFrom([]int{500, 1000, 1000, 2000}).Draw(t, "performance")),
				Price:       grid.Price(rapid.IntRange(0, 4).Draw(t, "price")) * 3600e6})
			at = end + rapid.IntRange(0, 3).Draw(t, "gap")
		}
	}
	return nodes, slots
}

func drawRequest(t *rapid.T) grid.Request {
	r := grid.Request{Nodes: rapid.IntRange(1, 4).Draw(t, "N"), Length: grid.Duration(rapid.IntRange(1, 5).Draw(t, "L")) * tick,
		MinPerformance: grid.Performance(rapid.SampledFrom([]int{500, 1000, 2000}).Draw(t, "P")),
		MaxPrice:       grid.Price(rapid.IntRange(0, 4).Draw(t, "C")) * 3600e6, Deadline: grid.Never, OneSite: rapid.Bool().Draw(t, "one site")}
	r.Budget = r.DefaultBudget()
	if rapid.Bool().Draw(t, "bounded") {
		r.Ready = grid.Time(rapid.IntRange(0, 8).Draw(t, "ready")) * instant
		r.Deadline = r.Ready + grid.Time(rapid.IntRange(1, 12).Draw(t, "room"))*instant
	}
	return r
}

// offer is what one node could do for a request at some start.
type offer struct {
	site    int32
	cost    grid.Credits
	runtime grid.Duration
	price   grid.Price
}

// offers are the nodes that could start r at t, each node of a list by itself.
func offers(l *List, r grid.Request, t grid.Time) (list []offer) {
	for _, s := range slotsOf(l) {
		rt := s.Performance.Runtime(r.Length)
		if s.Performance < r.MinPerformance || t < max(s.Start, r.Ready) || t.Add(rt) > min(s.End, r.Deadline) {
			continue
		}
		site := int32(0)
		if r.OneSite {
			site = l.siteOf[l.groups[s.Group].Site]
		}
		for range s.Count {
			list = append(list, offer{site, grid.Cost(s.Price, rt), rt, s.Price})
		}
	}
	return list
}

// subsets calls yield for each set of n offers on one site.
func subsets(list []offer, n int, yield func([]offer)) {
	var set []offer
	var from func(i int)
	from = func(i int) {
		if len(set) == n {
			yield(set)
			return
		}
		for ; i < len(list); i++ {
			if len(set) > 0 && set[0].site != list[i].site {
				continue
			}
			set = append(set, list[i])
			from(i + 1)
			set = set[:len(set)-1]
		}
	}
	from(0)
}

// prefers says which of two windows for a request an algorithm takes: below 0 the first, 0 either.
// Each algorithm of the table has a line here, by which the oracles hold it to its rule.
var prefers = map[Algorithm]func(r *grid.Request, w Weights, x, y *grid.Window) int{
	AMP: func(_ *grid.Request, _ Weights, x, y *grid.Window) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Cost, y.Cost))
	},
	ALP:        earlier,
	AMPLiteral: earlier,
	Best: func(r *grid.Request, w Weights, x, y *grid.Window) int {
		return cmp.Or(cmp.Compare(score(r, w, x.Start, x.Time, x.Cost), score(r, w, y.Start, y.Time, y.Cost)),
			cmp.Compare(x.Time, y.Time), cmp.Compare(x.Cost, y.Cost), cmp.Compare(x.Start, y.Start))
	},
}

func earlier(_ *grid.Request, _ Weights, x, y *grid.Window) int { return cmp.Compare(x.Start, y.Start) }

// oracle tries every subset at every start, and returns the window that the algorithm prefers of
// all within its bound, without its parts.
func oracle(l *List, r grid.Request, a Algorithm, w Weights, notice grid.Time) (best grid.Window, ok bool) {
	for t := notice; t < 80*instant && (!ok || a.anyStart()); t += instant / 2 {
		subsets(offers(l, r, t), r.Nodes, func(set []offer) {
			x, dear := grid.Window{Start: t}, false
			for _, o := range set {
				x.Cost += o.cost
				x.Time = max(x.Time, o.runtime)
				dear = dear || o.price > r.MaxPrice
			}
			if a.CapsPrice() && dear || !a.CapsPrice() && x.Cost > r.Budget {
				return
			}
			if !ok || prefers[a](&r, w, &x, &best) < 0 {
				best, ok = x, true
			}
		})
	}
	return best, ok
}

// Every algorithm of the table has a line in prefers: what it does without one, nobody checks.
func TestPrefers_HasEachAlgorithm(t *testing.T) {
	t.Parallel()
	for _, a := range Each() {
		if prefers[a] == nil {
			t.Fatalf("prefers does not say which of two windows %v takes; write it into oracle_test.go", a)
		}
	}
}

// Every algorithm of the table finds a window iff there is one, the one that it prefers, and
// whatever the Weights unless its line says weighs.
func TestFind_ThePreferredOfAllSubsets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes, slots := drawNamed(t)
		l, err := Named(nodes, slots)
		if err != nil {
			t.Fatal(err)
		}
		r := drawRequest(t)
		notice := grid.Time(rapid.IntRange(0, 4).Draw(t, "notice")) * instant
		f := NewFinder(l)
		for _, a := range Each() {
			if prefers[a] == nil {
				continue
			}
			w, why := f.Find(r, a, Weights{Time: 1000}, notice)
			want, ok := oracle(l, r, a, Weights{Time: 1000}, notice)
			if ok != !why.Refused() {
				t.Fatalf("%v: %v %v, want %v", a, w, why, ok)
			}
			if !ok {
				checkReason(t, l, r, a, notice, why)
				continue
			}
			if prefers[a](&r, Weights{Time: 1000}, &w, &want) != 0 {
				t.Fatalf("%v: start %v, cost %v, want %v, %v, by what prefers says of it and whether its line says anyStart", a, w.Start, w.Cost, want.Start, want.Cost)
			}
			checkWindow(t, l, r, a, notice, &w)
			if x, _ := f.Find(r, a, Weights{Cost: 1000}, notice); !a.Weighs() && !reflect.DeepEqual(x, w) {
				t.Fatalf("%v: %+v for other Weights, want %+v; or is its line without weighs?", a, x, w)
			}
		}
	})
}

// checkReason: OverBudget iff there is a window once prices are ignored.
func checkReason(t *rapid.T, l *List, r grid.Request, a Algorithm, notice grid.Time, why grid.Reason) {
	r.Budget, r.MaxPrice = grid.MaxCredits, grid.MaxPrice
	if _, ok := oracle(l, r, a, Weights{Time: 1000}, notice); ok != (why.Code == grid.OverBudget) {
		t.Fatalf("%v: reason %v, a window at any price: %v", a, why, ok)
	}
}

// checkWindow holds a window to the request and to the slots.
func checkWindow(t *rapid.T, l *List, r grid.Request, a Algorithm, notice grid.Time, w *grid.Window) {
	cost, longest := grid.Credits(0), grid.Duration(0)
	sites, seen := map[string]bool{}, map[int32]bool{}
	for _, p := range w.Parts {
		if seen[p.Group] {
			t.Fatalf("%v: two parts of one group in %+v", a, *w)
		}
		seen[p.Group] = true
		cost += p.Cost
		longest = max(longest, p.End.Sub(p.Start))
		sites[l.groups[p.Group].Site] = true
		free := 0
		for _, s := range slotsOf(l) {
			if s.Group == p.Group && s.Start <= p.Start && p.End <= s.End {
				free += int(s.Count)
			}
		}
		if p.Count < 1 || free < int(p.Count) || p.Start != w.Start || p.Start < max(r.Ready, notice) || p.End > r.Deadline {
			t.Fatalf("%v: part %+v of %+v", a, p, r)
		}
	}
	if w.Nodes() != r.Nodes || cost != w.Cost || longest != w.Time || !a.CapsPrice() && cost > r.Budget || r.OneSite && len(sites) > 1 {
		t.Fatalf("%v: window %+v for %+v", a, w, r)
	}
}

// score is what Weights say, times whatever brings its terms to whole numbers.
func score(r *grid.Request, w Weights, start grid.Time, time grid.Duration, cost grid.Credits) int64 {
	finish := int64(start.Add(time) - r.Ready)
	if w.Value {
		return int64(cost)*int64(grid.Hour) + int64(w.Urgency)*finish + int64(w.Haste)*int64(time)
	}
	budget, runtime := int64(max(r.Budget, 1)), int64(r.MinPerformance.Runtime(r.Length))
	return w.Time*int64(time)*budget + w.Cost*int64(cost)*runtime + w.Finish*finish*budget
}

// Best must find the least weighted sum of all subsets at every start, and of several
// windows with that sum the shortest, then the cheapest, then the earliest.
func TestBest_LeastOfAllSubsets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes, slots := drawNamed(t)
		l, err := Named(nodes, slots)
		if err != nil {
			t.Fatal(err)
		}
		r := drawRequest(t)
		w := rapid.SampledFrom(append([]Weights{{Finish: 1000}, {Value: true}, {Value: true, Haste: 3600e6}, {Value: true, Urgency: 3600e6}, {Value: true, Urgency: 9 * 3600e6}, {Time: 700, Cost: 100, Finish: 300}, {Finish: 1}, {Time: 1, Cost: 1}, {Time: 1_000_000, Cost: 1, Finish: 999}}, rotation...)).Draw(t, "weights")
		f := NewFinder(l)
		got, why := f.Find(r, Best, w, 0)
		want, ok := oracle(l, r, Best, w, 0)
		if ok != !why.Refused() {
			t.Fatalf("%v %v, want %v", got, why, ok)
		}
		if ok {
			checkWindow(t, l, r, Best, 0, &got)
			if prefers[Best](&r, w, &got, &want) != 0 {
				t.Fatalf("%+v, want %+v", got, want)
			}
		}
	})
}

// drawGroups draws groups of alike nodes and when how many are free.
func drawGroups(t *rapid.T) ([]grid.Group, []grid.Profile) {
	var groups []grid.Group
	var free []grid.Profile
	for g := range rapid.IntRange(1, 3).Draw(t, "groups") {
		n := rapid.IntRange(1, 4).Draw(t, "size")
		groups = append(groups, grid.Group{Name: fmt.Sprint("g", g), Site: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "site"), Nodes: n,
			Performance: grid.Performance(rapid.SampledFrom([]int{500, 1000, 2000}).Draw(t, "performance")),
			Price:       grid.Price(rapid.IntRange(0, 4).Draw(t, "price")) * 3600e6})
		p := grid.NewProfile(0, n)
		for range rapid.IntRange(0, 4).Draw(t, "busy") {
			s := grid.Time(rapid.IntRange(0, 20).Draw(t, "from"))
			e := s + grid.Time(rapid.IntRange(1, 8).Draw(t, "for"))
			if k := p.Min(s*instant, e*instant); k > 0 {
				p.Add(s*instant, e*instant, -rapid.IntRange(1, k).Draw(t, "taken"))
			}
		}
		free = append(free, p)
	}
	return groups, free
}

// On fungible nodes N nodes can start at t iff the free counts over their
// runtimes add up to N; cutting single lanes would lose some of that after a
// subtraction. The list must also be the one made anew from what is free.
func TestFungible_ExactWindowAfterWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		groups, free := drawGroups(t)
		to := 30 * instant
		l := fungible(groups, free, 0, to)
		f := NewFinder(l)
		for range 8 {
			r := drawRequest(t)
			r.Deadline = min(r.Deadline, to)
			a := rapid.SampledFrom([]Algorithm{ALP, AMP}).Draw(t, "algorithm")
			w, why := f.Find(r, a, Weights{}, 0)
			start, cost, ok := profileOracle(l, groups, free, r, a)
			if ok != !why.Refused() {
				t.Fatalf("%v: %+v %v, want %v", a, w, why, ok)
			}
			if !ok {
				continue
			}
			if w.Start != start || a == AMP && w.Cost != cost {
				t.Fatalf("%v: start %v, cost %v, want %v, %v", a, w.Start, w.Cost, start, cost)
			}
			checkWindow(t, l, r, a, 0, &w)
			f.Take()
			for _, p := range w.Parts {
				free[p.Group].Add(p.Start, p.End, -int(p.Count))
			}
			if fresh := fungible(groups, free, 0, to); !slices.Equal(slotsOf(l), slotsOf(fresh)) {
				t.Fatalf("after %+v the list is\n%v, made anew\n%v", w, slotsOf(l), slotsOf(fresh))
			}
		}
	})
}

func profileOracle(l *List, groups []grid.Group, free []grid.Profile, r grid.Request, a Algorithm) (grid.Time, grid.Credits, bool) {
	for t := r.Ready; t < 30*instant; t += instant / 2 {
		var list []offer
		for g := range groups {
			rt := groups[g].Performance.Runtime(r.Length)
			if groups[g].Performance < r.MinPerformance || t.Add(rt) > r.Deadline || a == ALP && groups[g].Price > r.MaxPrice {
				continue
			}
			site := int32(0)
			if r.OneSite {
				site = l.siteOf[groups[g].Site]
			}
			for range free[g].Min(t, t.Add(rt)) {
				list = append(list, offer{site: site, cost: grid.Cost(groups[g].Price, rt)})
			}
		}
		slices.SortFunc(list, func(x, y offer) int { return cmp.Compare(x.cost, y.cost) })
		least, ok := grid.Credits(0), false
		subsets(list, r.Nodes, func(set []offer) {
			c := grid.Credits(0)
			for _, o := range set {
				c += o.cost
			}
			if (a == ALP || c <= r.Budget) && (!ok || c < least) {
				least, ok = c, true
			}
		})
		if ok {
			return t, least, true
		}
	}
	return 0, 0, false
}

// The alternatives of a batch are disjoint, and what is left of the list is the
// list less the alternatives.
func TestBatch_AlternativesAreDisjoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes, slots := drawNamed(t)
		l, err := Named(nodes, slots)
		if err != nil {
			t.Fatal(err)
		}
		taken := map[[2]int64]int{} // (node, half tick): times free
		count := func(g int32, s, e grid.Time, by int) {
			for at := s; at < e; at += instant / 2 {
				taken[[2]int64{int64(g), int64(at)}] += by
			}
		}
		for _, s := range slots {
			count(s.Group, s.Start, s.End, 1)
		}
		jobs := []grid.Request{drawRequest(t), drawRequest(t), drawRequest(t)}
		a := rapid.SampledFrom(Each()).Draw(t, "algorithm")
		most := rapid.IntRange(0, 3).Draw(t, "most")
		r := Batch(l, jobs, Options{Algorithm: a, MaxAlternatives: most})
		for j, windows := range r.Alternatives {
			if most > 0 && len(windows) > most || (len(windows) == 0) != r.Reasons[j].Refused() {
				t.Fatalf("job %d: %d alternatives, reason %v", j, len(windows), r.Reasons[j])
			}
			for _, w := range windows {
				for _, p := range w.Parts {
					count(p.Group, p.Start, p.End, -1)
				}
			}
		}
		for _, s := range slotsOf(l) {
			count(s.Group, s.Start, s.End, -1)
		}
		for k, n := range taken {
			if n != 0 {
				t.Fatalf("node %d at %d: %d", k[0], k[1], n)
			}
		}
	})
}

// The heaps serve exactly as the array does, and an array that keeps what has
// expired until it matters as one that drops it at once.
func TestPool_HeapsEqualArray(t *testing.T) {
	t.Parallel()
	var emptied pool
	emptied.reset(1, 0)
	for i := range int64(40) { // each has expired when the next one comes
		if emptied.add(kept{key: 0, latest: grid.Time(i), pos: i, count: 1}, grid.Time(i)); emptied.enoughAt(grid.Time(i + 1)) {
			t.Fatal("what has expired is enough")
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		need := rapid.IntRange(1, 12).Draw(t, "need")
		limit := grid.Credits(rapid.IntRange(0, 60).Draw(t, "limit"))
		var array, heap, lazy pool
		array.reset(need, limit)
		lazy.reset(need, limit)
		heap.reset(need, limit)
		heap.heaps = heap.spare.from(nil, need)
		alike := func() {
			t.Helper()
			if a, h := array.enough(), heap.enough(); a != h || array.live != heap.live {
				t.Fatalf("array %v (%d), heaps %v (%d)", a, array.live, h, heap.live)
			}
			if array.live < need {
				return
			}
			if a, h := array.least(), heap.least(); a != h || array.dearest() != heap.dearest() {
				t.Fatalf("least %v, the last of them %v; heaps %v, %v", a, array.dearest(), h, heap.dearest())
			}
			if a, h := array.choose(nil), heap.choose(nil); !slices.Equal(a, h) {
				t.Fatalf("chosen %v, heaps %v", a, h)
			}
		}
		at := grid.Time(0)
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			at += grid.Time(rapid.IntRange(0, 2).Draw(t, "step"))
			k := kept{key: int64(rapid.IntRange(0, 9).Draw(t, "key")), latest: at + grid.Time(rapid.IntRange(0, 9).Draw(t, "life")),
				pos: int64(i), count: int32(rapid.IntRange(1, 3).Draw(t, "count"))}
			array.expire(at)
			heap.expire(at)
			alike()
			array.add(k, at)
			heap.add(k, at)
			lazy.add(k, at)
			if a, z := array.enough(), lazy.enoughAt(at); a != z {
				t.Fatalf("array %v, lazy %v", a, z)
			}
			alike()
		}
	})
}

// slotsOf returns a copy of the slots in list order.
func slotsOf(l *List) []grid.Slot {
	l.renew()
	var all []slot
	for k := range l.slots {
		for _, ch := range l.slots[k].chunks {
			all = append(all, ch.slots...)
		}
	}
	slices.SortFunc(all, func(a, b slot) int { return a.compare(b) })
	out := make([]grid.Slot, 0, l.Len())
	for _, s := range all {
		c := &l.classes[s.class]
		out = append(out, grid.Slot{Group: c.group, Count: s.count, Start: s.start, End: s.end,
			Performance: c.performance, Price: c.price})
	}
	return out
}

// fungible returns a new list of level sets.
func fungible(groups []grid.Group, free []grid.Profile, from, to grid.Time) *List {
	l := new(List)
	l.ResetFungible(groups, free, from, to)
	return l
}
