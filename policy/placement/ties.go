package placement

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// Ties decides which of several equally good sites a job takes: the one with the largest
// share of its nodes free over the market's span, and of equal ones the first in a
// permutation of the job's own. The permutation depends on what sites offer, not on their
// names or order. Sites that offer exactly the same are distinguished by their order, which
// differs from job to job.
type Ties struct {
	site []int32  // by group
	free []int64  // by site, in node-milliseconds
	all  []int64  // by site
	look []uint64 // by site: a digest of what it offers
	seed uint64   // of the present job
}

// NewTies reads the free nodes of the sites of a market.
func NewTies(m *Market) *Ties {
	t := &Ties{site: make([]int32, len(m.Groups))}
	number := map[string]int32{}
	for g := range m.Groups {
		x := &m.Groups[g]
		n, ok := number[x.Site]
		if !ok {
			n = int32(len(number))
			number[x.Site] = n
			t.free, t.all, t.look = append(t.free, 0), append(t.all, 0), append(t.look, 0)
		}
		t.site[g] = n
		t.all[n] += int64(x.Nodes) * int64(m.To.Sub(m.From))
		t.free[n] += area(m.Admissible[g], m.From, m.To)
		look := uint64(golden)
		for _, v := range []uint64{uint64(x.Nodes), uint64(x.Performance), uint64(x.Price)} {
			look = mix(look ^ v)
		}
		steps, _ := x.Curve.Steps()
		for _, p := range steps {
			look = mix(look ^ uint64(p.From)<<20 ^ uint64(p.Factor))
		}
		for _, step := range m.Admissible[g] {
			look = mix(look ^ uint64(step.At)<<20 ^ uint64(step.Free))
		}
		t.look[n] += look // a sum, so the order of groups does not matter
	}
	return t
}

// area returns the free nodes of a profile over [from, to), in node-milliseconds.
func area(p grid.Profile, from, to grid.Time) int64 {
	sum := int64(0)
	for i := p.Index(from); i < len(p) && p[i].At < to; i++ {
		end := to
		if i+1 < len(p) {
			end = min(end, p[i+1].At)
		}
		if p[i].Free > 0 {
			sum += int64(p[i].Free) * int64(end.Sub(max(from, p[i].At)))
		}
	}
	return sum
}

// add gives nodes back, or takes them if by is -1.
func (t *Ties) add(parts []grid.Part, by int) {
	for _, p := range parts {
		t.free[t.site[p.Group]] += int64(by) * int64(p.Count) * int64(p.End.Sub(p.Start))
	}
}

// Draw sets the permutation to that of a job with this seed.
func (t *Ties) Draw(seed uint64) { t.seed = seed }

// Compare orders two sites, numbered in the order of the market's groups; the preferred one
// comes first.
func (t *Ties) Compare(a, b int32) int {
	if a == b {
		return 0
	}
	return cmp.Or(t.freer(a, b),
		cmp.Compare(mix(t.seed^t.look[a]), mix(t.seed^t.look[b])),
		cmp.Compare(mix(t.seed+uint64(a)*golden), mix(t.seed+uint64(b)*golden)))
}

// CompareGroups is Compare for the sites of two groups.
func (t *Ties) CompareGroups(a, b int32) int { return t.Compare(t.site[a], t.site[b]) }

// golden and mix are the increment and the finalizer of SplitMix64 (Steele, Lea and
// Flood, 2014).
const golden = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// freer orders two sites by their free shares, the greater first.
func (t *Ties) freer(a, b int32) int {
	ahi, alo := bits.Mul64(uint64(max(0, t.free[a])), uint64(t.all[b]))
	bhi, blo := bits.Mul64(uint64(max(0, t.free[b])), uint64(t.all[a]))
	return cmp.Or(cmp.Compare(bhi, ahi), cmp.Compare(blo, alo))
}

// A search determines a window's start, length and cost. Which of several equally priced
// groups serve it depends on their order. Here that is decided without names: by the fewest
// sites, then by the site with the largest share of its nodes free, then by a permutation
// of the job's own. Within a site it is the fewest groups, and of those the one that fits
// best.

// supply is what a group has for a window being built.
type supply struct {
	group int32
	site  int32
	count int
	cost  grid.Credits // cost of one node
	end   grid.Time
}

// settle chooses the parts of a found window again, with the same start, length and cost.
// The parts of a job of unlike parts stay where the search has put them.
func (p *Placer) settle(j *Job, q *search.Query, z grid.Size, s *side, w grid.Window) grid.Window {
	if j.Composed() {
		return w
	}
	list := p.supplies(q, s, &w)
	if j.OneSite {
		list = p.oneSite(list, z.Nodes, w.Cost)
	}
	parts, ok := p.fill(list, z.Nodes, w.Start)
	if !ok {
		return w
	}
	w.Parts = parts
	return w
}

// supplies lists the groups that can serve a window, the cheapest first, equal ones in an
// order of the job's own.
func (p *Placer) supplies(q *search.Query, s *side, w *grid.Window) []supply {
	dearest := grid.Credits(0) // dearest node of the window: no dearer one is needed
	for _, x := range w.Parts {
		dearest = max(dearest, x.Cost/grid.Credits(x.Count))
	}
	list := p.scratch[:0]
	for g := range p.market.Groups {
		length, cost := s.find.Fit(q, g, w.Start)
		if length == 0 || length > w.Time || cost > dearest {
			continue
		}
		end := w.Start.Add(length) // not later than the window's end
		if n := s.list.Free(int32(g)).Min(w.Start, end); n > 0 {
			list = append(list, supply{int32(g), p.ties.site[g], n, cost, end})
		}
	}
	slices.SortStableFunc(list, func(a, b supply) int { return cmp.Compare(a.cost, b.cost) })
	p.scratch = list
	return list
}

// oneSite returns the supplies of one site that has enough at that cost: the one with the
// largest free share.
func (p *Placer) oneSite(list []supply, nodes int, cost grid.Credits) []supply {
	best := int32(-1)
	for i := range list {
		site := list[i].site
		if best == site || best >= 0 && !p.prefers(site, best) {
			continue
		}
		left, sum := nodes, grid.Credits(0)
		for k := range list {
			if list[k].site == site {
				n := min(left, list[k].count)
				sum, left = sum.Plus(list[k].cost.Times(n)), left-n
			}
		}
		if left == 0 && sum <= cost {
			best = site
		}
	}
	return slices.DeleteFunc(list, func(x supply) bool { return x.site != best })
}

// prefers reports whether the first of two equally good sites is preferred.
func (p *Placer) prefers(a, b int32) bool {
	return p.ties.Compare(a, b) < 0
}

// fill takes nodes from the cheapest supplies: all that are cheaper than the dearest one
// needed, and at that price from as few sites as possible.
func (p *Placer) fill(list []supply, nodes int, start grid.Time) ([]grid.Part, bool) {
	var parts []grid.Part
	left := nodes
	used := map[int32]bool{}
	take := func(x *supply, n int) {
		parts = append(parts, grid.Part{Group: x.group, Count: int32(n), Start: start, End: x.end, Cost: x.cost.Times(n)})
		used[x.site] = true
		left -= n
		x.count -= n
	}
	for first := 0; first < len(list) && left > 0; {
		last, sum := first, 0
		for ; last < len(list) && list[last].cost == list[first].cost; last++ {
			sum += list[last].count
		}
		if sum <= left {
			for i := first; i < last; i++ {
				take(&list[i], list[i].count)
			}
		} else {
			p.spread(list[first:last], used, func() int { return left }, take)
		}
		first = last
	}
	slices.SortFunc(parts, func(a, b grid.Part) int { return cmp.Compare(a.Group, b.Group) })
	return parts, left == 0
}

// spread takes the rest from supplies of one price, site by site: first those that already
// serve the window, then the one with the largest free share among those with enough for
// all of the rest or, if none has enough, the one with the most.
func (p *Placer) spread(list []supply, used map[int32]bool, left func() int, take func(*supply, int)) {
	total := map[int32]int{}
	for i := range list {
		total[list[i].site] += list[i].count
	}
	for left() > 0 {
		best := int32(-1)
		for i := range list {
			site := list[i].site
			if total[site] > 0 && site != best && (best < 0 || p.better(site, best, total, used, left())) {
				best = site
			}
		}
		p.fromSite(list, best, min(left(), total[best]), take)
		total[best] = 0
	}
}

// better reports whether to take the rest from site a rather than from site b.
func (p *Placer) better(a, b int32, total map[int32]int, used map[int32]bool, left int) bool {
	switch {
	case used[a] != used[b]:
		return used[a]
	case (total[a] >= left) != (total[b] >= left):
		return total[a] >= left
	case total[a] < left && total[a] != total[b]:
		return total[a] > total[b]
	}
	return p.prefers(a, b)
}

// fromSite takes n nodes from the supplies of a site: from the smallest supply that has
// enough or, while none has, from the largest.
func (p *Placer) fromSite(list []supply, site int32, n int, take func(*supply, int)) {
	for n > 0 {
		best := -1
		for i := range list {
			if list[i].site != site || list[i].count == 0 {
				continue
			}
			if best < 0 || fitter(list[i].count, list[best].count, n) {
				best = i
			}
		}
		k := min(n, list[best].count)
		take(&list[best], k)
		n -= k
	}
}

// fitter reports whether a group with a nodes serves n better than one with b.
func fitter(a, b, n int) bool {
	if (a >= n) != (b >= n) {
		return a >= n
	}
	if a >= n {
		return a < b
	}
	return a > b
}
