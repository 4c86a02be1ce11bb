package assign

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Parts that are each on one site compete only with those that are on the same one. So each
// site is given a set of parts: what a set costs at a site is a flow there, and the best sets
// are found set by set, site by site. A flow is solved only where the cheapest nodes of the
// parts do not fit together and the best sets may depend on it; until then the sum of what
// each part costs alone is a bound from below.
//
// Of n parts each needs to look at its n best sites alone: if it is at another one, one of
// those n carries no part, and there it costs no more, and stands no later by the rule for
// ties.

// share is a set of parts at a site.
type share struct {
	parts uint8
	site  int32
	cost  grid.Credits // a bound from below until it is known
	known bool
	x     []int32 // by variable of those parts at that site; nil: no assignment
}

// plan is the sets of parts for the sites so far.
type plan struct {
	cost   grid.Credits
	known  bool // of all its sets
	shares []*share
}

// shared gives each site a set of parts, under bounds on the variables.
func (s *Solver) shared(lo, hi []int32) {
	if !s.single(lo, hi) {
		return
	}
	sites, alone := s.alone(hi)
	if sites == nil {
		return
	}
	memo := map[[2]int32]*share{}
	for {
		best := s.sets(sites, alone, hi, memo)
		if best == nil {
			return
		}
		if best.known {
			s.put(best.cost, best.shares...)
			return
		}
		for _, h := range best.shares {
			if !h.known {
				s.settle(h, hi)
			}
		}
	}
}

// together gives each site all parts in turn, and keeps the best.
func (s *Solver) together(lo, hi []int32) {
	if !s.single(lo, hi) {
		return
	}
	sums := make([]stand, len(s.held))
	for i := range s.p.Parts {
		s.sumUp(i, hi)
		for _, site := range s.sites {
			if x := &s.stay[site]; x.left == 0 {
				sums[site].site++ // parts that it holds
				sums[site].cost = sums[site].cost.Plus(x.cost)
			}
		}
	}
	sites := slices.DeleteFunc(slices.Clone(s.sites), func(site int32) bool { return int(sums[site].site) < len(s.p.Parts) })
	slices.SortStableFunc(sites, func(a, b int32) int { return cmp.Compare(sums[a].cost, sums[b].cost) })
	for _, site := range sites {
		if sum := sums[site].cost; sum > s.p.Limit || s.found && sum > s.best.cost {
			return
		}
		h := s.share(uint8(1<<len(s.p.Parts)-1), site, hi)
		if !h.known {
			s.settle(h, hi)
		}
		if h.x != nil {
			s.put(h.cost, h)
		}
	}
}

// single bounds the variables by what a part could have if it were the only one.
func (s *Solver) single(lo, hi []int32) bool {
	if !s.tighten(lo, hi) {
		return false
	}
	for _, g := range s.groups {
		for _, gap := range s.p.Groups[g].Gaps {
			if v := s.at[g][bits.TrailingZeros8(gap.Part)]; v >= 0 {
				hi[v] = min(hi[v], gap.Free)
			}
		}
	}
	return true
}

// put makes shares the best solution if they are better than the best so far.
func (s *Solver) put(cost grid.Credits, shares ...*share) {
	x := bound{x: s.room(), cost: cost, preferred: true}
	clear(x.x)
	for _, h := range shares {
		s.each(h, func(v int) { x.x[v] = h.x[v] })
	}
	s.keep(&x)
	s.free(x.x)
}

// each calls do for the variables of a share.
func (s *Solver) each(h *share, do func(v int)) {
	for parts := h.parts; parts != 0; parts &= parts - 1 {
		i := bits.TrailingZeros8(parts)
		for v := s.first[i]; v < s.first[i+1]; v++ {
			if s.site(i, v) == h.site {
				do(v)
			}
		}
	}
}

// alone finds the best sites of each part, and what it costs there by itself. Sites is nil if
// a part has none.
func (s *Solver) alone(hi []int32) (sites []int32, of [][]stand) {
	n := len(s.p.Parts)
	of = make([][]stand, n)
	for i := range of {
		s.sumUp(i, hi)
		for _, site := range s.sites {
			if x := &s.stay[site]; x.left == 0 && x.cost <= s.p.Limit {
				of[i] = append(of[i], stand{site, x.cost, x.first})
			}
		}
		if len(of[i]) == 0 {
			return nil, nil
		}
		slices.SortFunc(of[i], func(a, b stand) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.first, b.first)) })
		of[i] = of[i][:min(n, len(of[i]))]
		for _, x := range of[i] {
			sites = append(sites, x.site)
		}
	}
	slices.Sort(sites)
	return slices.Compact(sites), of
}

// sumUp sums up in s.stay what a part costs at each site by itself.
func (s *Solver) sumUp(part int, hi []int32) {
	for k := range s.stay {
		s.stay[k] = stay{left: s.p.Parts[part].Need, first: math.MaxInt}
	}
	for _, v := range s.cheap[s.first[part]:s.first[part+1]] {
		x := &s.stay[s.site(part, int(v))]
		if take := min(x.left, int(hi[v])); take > 0 {
			x.left -= take
			x.cost = x.cost.Plus(grid.Credits(s.offer(part, int(v)).Cost).Times(take))
			x.first = min(x.first, int(v))
		}
	}
}

// sets finds the best sets for the sites by what is known of their costs; nil if there are
// none. What is not known may be better than what costs the same.
func (s *Solver) sets(sites []int32, alone [][]stand, hi []int32, memo map[[2]int32]*share) *plan {
	all := 1<<len(s.p.Parts) - 1
	least := make([]*plan, all+1)
	least[0] = &plan{known: true}
	for _, site := range sites {
		var may int
		var costs [MaxParts]grid.Credits
		for i, list := range alone {
			for _, x := range list {
				if x.site == site {
					may |= 1 << i
					costs[i] = x.cost
				}
			}
		}
		for m := all; m > 0; m-- { // a site serves once, so what it is added to is without it
			for set := m & may; set > 0; set = (set - 1) & m & may {
				before := least[m&^set]
				if before == nil {
					continue
				}
				sum := before.cost
				for i := range alone {
					if set&(1<<i) != 0 {
						sum = sum.Plus(costs[i])
					}
				}
				if sum > s.p.Limit || least[m] != nil && sum > least[m].cost {
					continue
				}
				h := memo[[2]int32{site, int32(set)}]
				if h == nil {
					h = s.share(uint8(set), site, hi)
					memo[[2]int32{site, int32(set)}] = h
				}
				if h.known && h.x == nil {
					continue
				}
				if p := (plan{before.cost.Plus(h.cost), before.known && h.known, nil}); p.cost <= s.p.Limit && s.betters(&p, before, h, least[m]) {
					p.shares = append(slices.Clip(before.shares), h)
					least[m] = &p
				}
			}
		}
	}
	return least[all]
}

// betters reports whether a plan with one more share comes before another one.
func (s *Solver) betters(p, before *plan, h *share, o *plan) bool {
	switch {
	case o == nil || p.cost != o.cost:
		return o == nil || p.cost < o.cost
	case !p.known || !o.known:
		return o.known
	}
	parts := before.with(h)
	at := func(shares []*share, part int) *share {
		for _, x := range shares {
			if x.parts&(1<<part) != 0 {
				return x
			}
		}
		return h
	}
	for i := range s.p.Parts {
		if parts&(1<<i) == 0 {
			continue
		}
		a, b := at(before.shares, i), at(o.shares, i)
		for v := s.first[i]; v < s.first[i+1]; v++ {
			if x, y := a.number(s, i, v), b.number(s, i, v); x != y {
				return x > y
			}
		}
	}
	return false
}

// with are the parts of a plan and of one more share.
func (p *plan) with(h *share) (parts uint8) {
	parts = h.parts
	for _, x := range p.shares {
		parts |= x.parts
	}
	return parts
}

// number is how many nodes of a variable of a part a share takes.
func (h *share) number(s *Solver, part, v int) int32 {
	if s.site(part, v) != h.site {
		return 0
	}
	return h.x[v]
}

// share gives a set of parts each its cheapest nodes of a site. That is what they cost if the
// nodes fit together, and otherwise a bound.
func (s *Solver) share(parts uint8, site int32, hi []int32) *share {
	h := &share{parts: parts, site: site, x: make([]int32, s.variables())}
	for rest := parts; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros8(rest)
		left := s.p.Parts[i].Need
		for _, v := range s.cheap[s.first[i]:s.first[i+1]] {
			if s.site(i, int(v)) != site || left == 0 {
				continue
			}
			n := min(left, int(hi[v]))
			h.x[v] = int32(n)
			left -= n
			h.cost = h.cost.Plus(grid.Credits(s.offer(i, int(v)).Cost).Times(n))
		}
	}
	if h.known = s.fits(h.x, site); !h.known {
		h.x = nil
	}
	return h
}

// fits reports whether numbers of nodes break nothing at a site.
func (s *Solver) fits(x []int32, site int32) bool {
	for _, g := range s.groups {
		at, group := &s.at[g], &s.p.Groups[g]
		if group.Site != site {
			continue
		}
		for _, set := range group.Sets {
			if s.sum(x, at, set.Parts) > int64(set.Free) {
				return false
			}
		}
		for _, gap := range group.Gaps {
			if s.sum(x, at, gap.Part) > 0 && s.sum(x, at, gap.Part|gap.Others) > int64(gap.Free) {
				return false
			}
		}
	}
	return true
}

// settle finds what a share costs, with the parts and the groups of its site alone.
func (s *Solver) settle(h *share, hi []int32) {
	if s.inner == nil {
		s.inner = new(Solver)
	}
	p := &s.sub
	p.Parts, p.Groups, p.Limit, p.Flows = slices.Grow(p.Parts[:0], len(s.p.Parts))[:len(s.p.Parts)], s.p.Groups, s.p.Limit, s.p.Flows-s.used
	var of [MaxParts][]int // the variables
	for i := range p.Parts {
		x := &p.Parts[i]
		if x.Need, x.Offers = 0, x.Offers[:0]; h.parts&(1<<i) == 0 {
			continue
		}
		x.Need = s.p.Parts[i].Need
		for v := s.first[i]; v < s.first[i+1]; v++ {
			if s.site(i, v) == h.site && hi[v] > 0 {
				x.Offers, of[i] = append(x.Offers, *s.offer(i, v)), append(of[i], v)
			}
		}
	}
	cost, found, bounded := s.inner.Solve(p)
	s.used += s.inner.used
	s.bounded = s.bounded || bounded
	if h.known = true; !found {
		return
	}
	h.cost, h.x = cost, make([]int32, s.variables())
	for i, list := range of {
		if len(list) == 0 {
			continue
		}
		for k, n := range s.inner.Taken(i) {
			h.x[list[k]] = n
		}
	}
}
