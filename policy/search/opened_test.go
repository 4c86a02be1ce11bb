package search

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// TestFinder_PortionsWorkedExample takes six jobs one after the other on two nodes of 8 GPUs
// and 64 cores.
func TestFinder_PortionsWorkedExample(t *testing.T) {
	node := func(name string) grid.Group {
		return grid.Group{Name: name, Nodes: 1, Slices: 8, Cores: 64, Machine: grid.Machine{GPUs: 8}}
	}
	nodes := []grid.Group{node("n1"), node("n2")}
	var free []grid.Slot
	for g := range nodes {
		free = append(free, grid.Slot{Group: int32(g), End: grid.Time(8 * grid.Hour), Performance: grid.Unit, Price: 8 * grid.Price(grid.Credit)})
	}
	l, err := Named(nodes, free)
	if err != nil {
		t.Fatal(err)
	}
	f := NewFinder(l)
	for _, x := range []struct {
		name        string
		count       int
		portion     grid.Portion
		hours       grid.Duration
		slices      int32
		start       grid.Time // in hours
		cost        grid.Credits
		first, last int32
	}{
		{"A", 1, grid.Portion{GPUs: 4}, 4, 4, 0, 16, 0, 0},
		{"B", 1, grid.Portion{GPUs: 1, Cores: 20}, 2, 3, 0, 6, 0, 0},
		{"C", 1, grid.Portion{GPUs: 1}, 6, 1, 0, 6, 1, 1},
		{"D", 2, grid.Portion{GPUs: 2}, 1, 2, 2, 4, 1, 0}, // in order of their slots
		{"E", 1, grid.Portion{}, 1, 0, 4, 8, 0, 0},
		{"F", 1, grid.Portion{GPUs: 8}, 2, 0, 5, 16, 0, 0},
	} {
		r := grid.Request{Nodes: x.count, Length: x.hours * grid.Hour, MinPerformance: grid.Unit, MaxPrice: 100 * grid.Price(grid.Credit),
			Deadline: grid.Never, Portion: x.portion}
		r.Budget = r.DefaultBudget()
		w, why := f.Find(r, AMP, Weights{}, 0)
		if why.Refused() {
			t.Fatalf("%s: %v", x.name, why)
		}
		first, last := w.Parts[0], w.Parts[len(w.Parts)-1]
		if w.Start != x.start*grid.Time(grid.Hour) || w.Cost != x.cost*grid.Credit || len(w.Parts) != x.count ||
			first.Slices != x.slices || first.Group != x.first || last.Group != x.last {
			t.Errorf("%s: %+v", x.name, w)
		}
		f.Take()
	}
}

// cell is half a tick of a node, as the oracle knows it: part of a whole node or of an opened
// one.
type cell struct {
	opened      int // number of the opening; 0: none, the node is free; -1: taken
	free        int // slices
	price       grid.Price
	performance grid.Performance
}

// rack is a named list node by node, cell by cell.
type rack struct {
	k       int
	nodes   [][]cell
	openers int
}

const cells = 90

func newRack(k, nodes int, file []grid.Slot) *rack {
	m := &rack{k: k}
	for range nodes {
		m.nodes = append(m.nodes, slices.Repeat([]cell{{opened: -1}}, cells))
	}
	for _, s := range file {
		c := cell{0, k, s.Price, s.Performance}
		if s.Free > 0 {
			before := cell{opened: -1}
			if s.Start > 0 {
				before = m.nodes[s.Group][s.Start/500-1]
			}
			if c.free = int(s.Free); before.opened > 0 && before.price == c.price && before.performance == c.performance {
				c.opened = before.opened
			} else {
				m.openers++
				c.opened = m.openers
			}
		}
		for i := s.Start / 500; i < s.End/500; i++ {
			m.nodes[s.Group][i] = c
		}
	}
	return m
}

// chance is what a node can do for a job at a start.
type chance struct {
	node int
	cost grid.Credits
	free int
	end  int
	run  grid.Duration
	rate grid.Price
}

func (x chance) compare(y chance) int {
	return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.free, y.free), cmp.Compare(x.end, y.end))
}

// at lists what each node can do for a request of u slices at a cell.
func (m *rack) at(r *grid.Request, u, at int) (list []chance) {
	for n, node := range m.nodes {
		c := node[at]
		if c.opened < 0 || c.opened > 0 && u == m.k || c.performance < r.MinPerformance {
			continue
		}
		run := c.performance.Runtime(r.Length)
		need := at + int(run/500)
		x := chance{node: n, free: m.k, end: at, run: run}
		for x.end < cells && node[x.end].opened == c.opened && node[x.end].free >= u &&
			node[x.end].price == c.price && node[x.end].performance == c.performance {
			if x.end < need {
				x.free = min(x.free, node[x.end].free)
			}
			x.end++
		}
		if x.end < need || at < int(r.Ready/500) || grid.Time(need*500) > r.Deadline {
			continue
		}
		// Rounded half up in the widest numbers there are here.
		whole := int64(c.price) * int64(run) * int64(u)
		x.cost = grid.Credits((2*whole + int64(grid.Hour)*int64(m.k)) / (2 * int64(grid.Hour) * int64(m.k)))
		x.rate = grid.Price((2*int64(c.price)*int64(u) + int64(m.k)) / (2 * int64(m.k)))
		list = append(list, x)
	}
	return list
}

// take takes a part, and says why it cannot.
func (m *rack) take(p *grid.Part, u int) error {
	node, from := m.nodes[p.Group], p.Start/500
	opened := node[from].opened
	if opened == 0 && u < m.k {
		m.openers++
	}
	for i := from; i < p.End/500; i++ {
		c := &node[i]
		switch {
		case c.opened != opened || c.free < u:
			return fmt.Errorf("node %d at %d is %+v; the part takes %d of an opening %d", p.Group, i, *c, u, opened)
		case u == m.k:
			c.opened = -1
		case opened == 0:
			c.opened = m.openers
		}
		c.free -= u
	}
	return nil
}

func drawDivided(t *rapid.T) (k int, nodes []grid.Group, file []grid.Slot) {
	nodes, file = drawNamed(t)
	k = rapid.SampledFrom([]int{2, 3, 4, 8}).Draw(t, "K")
	for i := range nodes {
		nodes[i].Slices, nodes[i].Site = k, ""
	}
	for i := range file {
		file[i].Free = int32(rapid.IntRange(0, k-1).Draw(t, "free"))
		file[i].Price = grid.Price(rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "price")) * 3600e6
		file[i].Performance = grid.Performance(rapid.SampledFrom([]int{1000, 1000, 2000}).Draw(t, "performance"))
	}
	return k, nodes, file
}

// TestFinder_PortionsAgainstNodes takes jobs of portions and of whole nodes, one after the
// other, beside a model that knows each node at each instant: the earliest start, the least
// cost, of equal cost the fewest free slices, of those the earliest end.
func TestFinder_PortionsAgainstNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, nodes, file := drawDivided(t)
		a := rapid.SampledFrom([]Algorithm{AMP, AMP, ALP, AMPLiteral, Best}).Draw(t, "algorithm")
		l, err := Named(nodes, file)
		if err != nil {
			t.Fatal(err)
		}
		m, f := newRack(k, len(nodes), file), NewFinder(l)
		for job := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			r := drawRequest(t)
			r.OneSite, r.Portion.Slices = false, rapid.IntRange(0, k).Draw(t, "u")
			u := r.Portion.Slices
			if u == 0 {
				u = k
			}
			w, why := f.Find(r, a, Weights{Cost: 1000}, 0)
			start, cost := m.first(&r, u, a)
			if (start >= 0) == why.Refused() {
				t.Fatalf("job %d: the first start is %d, but %v %+v", job, start, why, w)
			}
			if start < 0 {
				continue
			}
			switch {
			case a == Best && w.Cost != m.least(&r, u):
				t.Fatalf("job %d costs %v, the least is %v: %+v", job, w.Cost, m.least(&r, u), w)
			case a != Best && w.Start != grid.Time(start*500):
				t.Fatalf("job %d starts at %v, not %d: %+v", job, w.Start, start*500, w)
			case a == AMP && w.Cost != cost:
				t.Fatalf("job %d costs %v, not %v: %+v", job, w.Cost, cost, w)
			}
			if a == AMP && u < k {
				m.ranked(t, &r, u, &w)
			}
			f.Take()
			for i := range w.Parts {
				p := &w.Parts[i]
				if err := m.take(p, u); err != nil || (p.Slices == 0) != (u == k) || u < k && int(p.Slices) != u {
					t.Fatalf("job %d: %v: %+v", job, err, w)
				}
			}
		}
	})
}

// first is the first start within the algorithm's bound, and the least cost there.
func (m *rack) first(r *grid.Request, u int, a Algorithm) (int, grid.Credits) {
	for at := range cells {
		list := m.at(r, u, at)
		if a.CapsPrice() {
			list = slices.DeleteFunc(list, func(x chance) bool { return x.rate > r.MaxPrice })
		}
		if cost, ok := leastOf(list, r.Nodes); ok && (a.CapsPrice() || cost <= r.Budget) {
			return at, cost
		}
	}
	return -1, 0
}

// least is the least cost of a window at any start.
func (m *rack) least(r *grid.Request, u int) grid.Credits {
	least := grid.MaxCredits
	for at := range cells {
		if cost, ok := leastOf(m.at(r, u, at), r.Nodes); ok {
			least = min(least, cost)
		}
	}
	return least
}

func leastOf(list []chance, n int) (cost grid.Credits, ok bool) {
	slices.SortFunc(list, chance.compare)
	if len(list) < n {
		return 0, false
	}
	for _, x := range list[:n] {
		cost += x.cost
	}
	return cost, true
}

// ranked checks which nodes of equal cost a window has.
func (m *rack) ranked(t *rapid.T, r *grid.Request, u int, w *grid.Window) {
	list := m.at(r, u, int(w.Start/500))
	slices.SortFunc(list, chance.compare)
	var has []chance
	for _, p := range w.Parts {
		i := slices.IndexFunc(list, func(x chance) bool { return x.node == int(p.Group) })
		if i < 0 || list[i].cost != p.Cost || p.End != p.Start.Add(list[i].run) {
			t.Fatalf("a part that no node can carry: %+v", w)
		}
		has = append(has, list[i])
	}
	slices.SortFunc(has, chance.compare)
	for i := range has {
		if has[i].compare(list[i]) != 0 {
			t.Fatalf("takes %+v, where %+v should be: %+v", has[i], list[i], w)
		}
	}
}

// TestFinder_PortionsOfGroups is the same on groups of equal nodes: what is whole is counted,
// opened nodes stand beside it.
func TestFinder_PortionsOfGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, n := rapid.SampledFrom([]int{2, 4, 8}).Draw(t, "K"), rapid.IntRange(0, 4).Draw(t, "nodes")
		groups := []grid.Group{{Name: "g", Nodes: n, Slices: k, Performance: grid.Unit, Price: 3600e6}}
		l := new(List)
		l.ResetFungible(groups, []grid.Profile{grid.NewProfile(0, n)}, 0, cells*500)
		whole, opened := slices.Repeat([]int{n}, cells), [][]int(nil)
		for range rapid.IntRange(0, 3).Draw(t, "opened") {
			s := rapid.IntRange(0, cells-2).Draw(t, "start")
			e, free := rapid.IntRange(s+1, cells-1).Draw(t, "end"), rapid.IntRange(0, k-1).Draw(t, "free")
			l.Open(grid.Open(0, grid.Time(s*500), grid.Time(e*500), free))
			o := slices.Repeat([]int{-1}, cells)
			for i := s; i < e; i++ {
				o[i] = free
			}
			opened = append(opened, o)
		}
		f := NewFinder(l)
		for job := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			r := drawRequest(t)
			r.OneSite, r.MinPerformance, r.MaxPrice, r.Budget = false, grid.Unit, 0, grid.MaxBudget
			u := rapid.IntRange(1, k).Draw(t, "u")
			r.Portion.Slices = u
			run := int(r.Length / 500)
			at, want := -1, []berth(nil)
			for s := int(r.Ready / 500); s+run <= cells && grid.Time((s+run)*500) <= r.Deadline && at < 0; s++ {
				if list := berths(opened, whole, k, u, s, run); len(list) >= r.Nodes {
					at, want = s, list[:r.Nodes]
				}
			}
			w, why := f.Find(r, AMP, Weights{}, 0)
			if (at >= 0) == why.Refused() || at >= 0 && w.Start != grid.Time(at*500) {
				t.Fatalf("job %d: %v %+v, want a start at %d", job, why, w, at*500)
			}
			if at < 0 {
				continue
			}
			f.Take()
			for _, x := range want {
				o := slices.Repeat([]int{-1}, cells)
				if x.opened >= 0 {
					o = opened[x.opened]
				}
				for i := at; i < at+run; i++ {
					if x.opened >= 0 {
						o[i] -= u
						continue
					}
					whole[i]--
					o[i] = k - u
				}
				if x.opened < 0 && u < k {
					opened = append(opened, o)
				}
			}
		}
	})
}

// berth is where a node of a group may be had: inside an opened one, or whole.
type berth struct{ opened, free, start, end int }

// berths lists them for a time from s on, in the order in which a job takes them.
func berths(opened [][]int, whole []int, k, u, s, run int) (list []berth) {
	for i, o := range opened {
		x := berth{i, k, s, s}
		for ; x.end < cells && o[x.end] >= u; x.end++ {
			if x.end < s+run {
				x.free = min(x.free, o[x.end])
			}
		}
		for ; x.start > 0 && o[x.start-1] >= u; x.start-- {
		}
		if u < k && x.end >= s+run {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b berth) int {
		return cmp.Or(cmp.Compare(a.free, b.free), cmp.Compare(a.end, b.end), cmp.Compare(a.start, b.start))
	})
	return append(list, slices.Repeat([]berth{{opened: -1}}, max(0, slices.Min(whole[s:s+run])))...)
}
