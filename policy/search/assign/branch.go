package assign

import (
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// start solves the problem under bounds on the variables. It uses lo and hi up.
func (s *Solver) start(lo, hi []int32) {
	root := bound{x: s.room()}
	if s.relax(lo, hi, &root) {
		s.descend(lo, hi, &root)
	}
	s.free(lo, hi, root.x)
}

// descend searches below a bound: where it breaks nothing it is a solution, otherwise
// whatever it breaks is forbidden in two ways, and the better of both comes first.
func (s *Solver) descend(lo, hi []int32, at *bound) {
	if !s.beats(at) {
		return
	}
	cut, broken := s.broken(lo, at.x)
	if !broken {
		s.keep(at)
		return
	}
	l, r := cut(s.copy(lo), s.copy(hi), true), cut(s.copy(lo), s.copy(hi), false)
	var next [2]bound
	var can [2]bool
	for i, side := range [2]*box{&l, &r} {
		next[i].x = s.room()
		can[i] = s.relax(side.lo, side.hi, &next[i])
	}
	order := [2]int{0, 1}
	if can[1] && (!can[0] || next[1].before(&next[0])) {
		order = [2]int{1, 0}
	}
	for _, i := range order {
		if side := [2]*box{&l, &r}[i]; can[i] {
			s.descend(side.lo, side.hi, &next[i])
		}
	}
	s.free(l.lo, l.hi, r.lo, r.hi, next[0].x, next[1].x)
}

// box is bounds on the variables.
type box struct{ lo, hi []int32 }

// before is the order of solutions.
func (b *bound) before(o *bound) bool {
	if b.cost != o.cost {
		return b.cost < o.cost
	}
	for i := range b.x {
		if b.x[i] != o.x[i] {
			return b.x[i] > o.x[i]
		}
	}
	return false
}

// relax solves the flow under bounds, and reports whether there is one.
func (s *Solver) relax(lo, hi []int32, to *bound) bool {
	if !s.tighten(lo, hi) {
		return false
	}
	limit := s.p.Limit
	if s.found {
		limit = min(limit, s.best.cost)
	}
	if s.floor(hi) > limit {
		return false
	}
	if s.used++; s.used > s.p.Flows {
		s.bounded = true
		return false
	}
	return s.least(lo, hi, limit, to)
}

// cut is a way to forbid what a relaxation breaks: in one of two boxes.
type cut func(lo, hi []int32, left bool) box

// broken finds something that a relaxation breaks.
func (s *Solver) broken(lo, x []int32) (cut, bool) {
	for _, g := range s.groups {
		at, group := &s.at[g], &s.p.Groups[g]
		for k, set := range group.Sets {
			if s.sum(x, at, set.Parts) > int64(set.Free) {
				s.order[s.base[g]+k]++
				return s.split(lo, x, at, set), true
			}
		}
		for k, gap := range group.Gaps {
			v := at[bits.TrailingZeros8(gap.Part)]
			if v < 0 || x[v] == 0 || s.sum(x, at, gap.Part|gap.Others) <= int64(gap.Free) {
				continue
			}
			s.order[s.base[g]+len(group.Sets)+k]++
			if lo[v] > 0 {
				return s.split(lo, x, at, Set{gap.Part | gap.Others, gap.Free}), true
			}
			return func(lo, hi []int32, left bool) box {
				if left {
					hi[v] = 0
				} else {
					lo[v] = 1
				}
				return box{lo, hi}
			}, true
		}
	}
	return s.spread(x)
}

// sum is what the parts of a set take of a group.
func (s *Solver) sum(x []int32, at *[MaxParts]int32, parts uint8) (n int64) {
	for ; parts != 0; parts &= parts - 1 {
		if v := at[bits.TrailingZeros8(parts)]; v >= 0 {
			n += int64(x[v])
		}
	}
	return n
}

// split cuts a set whose parts take too much: one of them has no more than the others leave
// it, or more, so that the others must have less.
func (s *Solver) split(lo, x []int32, at *[MaxParts]int32, set Set) cut {
	sum := s.sum(x, at, set.Parts)
	which, most := int32(-1), int32(0)
	for parts := set.Parts; parts != 0; parts &= parts - 1 {
		if v := at[bits.TrailingZeros8(parts)]; v >= 0 && x[v] > lo[v] && x[v] > most {
			which, most = v, x[v]
		}
	}
	v := which // there is one, or the least numbers would already break the set
	k := x[v] - 1
	if left := int64(set.Free) - (sum - int64(x[v])); left >= int64(lo[v]) {
		k = int32(left)
	}
	return func(lo, hi []int32, left bool) box {
		if left {
			hi[v] = min(hi[v], k)
		} else {
			lo[v] = max(lo[v], k+1)
		}
		return box{lo, hi}
	}
}

// spread finds a part of one site that stands on several. It is on the one with most of its
// nodes, or not.
func (s *Solver) spread(x []int32) (cut, bool) {
	for i := range s.p.Parts {
		if !s.p.Parts[i].OneSite {
			continue
		}
		site, most, several := int32(-1), int32(0), false
		of := map[int32]int32{}
		for v := s.first[i]; v < s.first[i+1]; v++ {
			if x[v] == 0 {
				continue
			}
			at := s.site(i, v)
			of[at] += x[v]
			several = several || len(of) > 1
			if of[at] > most {
				site, most = at, of[at]
			}
		}
		if several {
			return func(lo, hi []int32, left bool) box {
				s.only(hi, i, func(at int32) bool { return (at == site) == left })
				return box{lo, hi}
			}, true
		}
	}
	return nil, false
}

// tighten draws consequences from the bounds, and reports whether they can be met.
func (s *Solver) tighten(lo, hi []int32) bool {
	for changed := true; changed; {
		changed = false
		for _, g := range s.groups {
			at := &s.at[g]
			s.scratch = s.p.sets(g, lo, at, s.scratch[:0])
			for _, set := range s.scratch {
				least := s.sum(lo, at, set.Parts)
				if least > int64(set.Free) {
					return false
				}
				for parts := set.Parts; parts != 0; parts &= parts - 1 {
					v := at[bits.TrailingZeros8(parts)]
					if v < 0 {
						continue
					}
					if most := int64(set.Free) - least + int64(lo[v]); int64(hi[v]) > most {
						hi[v], changed = int32(most), true
					}
				}
			}
			for _, gap := range s.p.Groups[g].Gaps {
				v := at[bits.TrailingZeros8(gap.Part)]
				if v >= 0 && lo[v] == 0 && hi[v] > 0 && s.sum(lo, at, gap.Others) >= int64(gap.Free) {
					hi[v], changed = 0, true
				}
			}
		}
		for i := range s.p.Parts {
			one, can := s.one(i, lo, hi)
			if !can {
				return false
			}
			changed = changed || one
		}
	}
	return true
}

// one leaves a part of one site those sites alone that hold it, and checks that enough nodes
// are left.
func (s *Solver) one(part int, lo, hi []int32) (changed, can bool) {
	p := &s.p.Parts[part]
	if p.OneSite {
		of, must := s.held, int32(-1)
		clear(of)
		for v := s.first[part]; v < s.first[part+1]; v++ {
			of[s.site(part, v)] += int64(hi[v])
			if lo[v] > 0 {
				must = s.site(part, v)
			}
		}
		changed = s.only(hi, part, func(at int32) bool { return of[at] >= int64(p.Need) && (must < 0 || at == must) })
	}
	least, most := int64(0), int64(0)
	for v := s.first[part]; v < s.first[part+1]; v++ {
		if lo[v] > hi[v] {
			return changed, false
		}
		least, most = least+int64(lo[v]), most+int64(hi[v])
	}
	return changed, least <= int64(p.Need) && int64(p.Need) <= most
}

// floor is a bound from below that a flow, which spreads parts of one site, does not see: what
// each part costs by itself, on the cheapest site that holds it. MaxCredits: one has none.
func (s *Solver) floor(hi []int32) (sum grid.Credits) {
	if len(s.cheap) == 0 {
		return 0
	}
	for i := range s.p.Parts {
		p := &s.p.Parts[i]
		for k := range s.stay {
			s.stay[k] = stay{left: p.Need}
		}
		least := grid.MaxCredits
		for _, v := range s.cheap[s.first[i]:s.first[i+1]] {
			at := int32(0)
			if p.OneSite {
				at = s.site(i, int(v))
			}
			x := &s.stay[at]
			if x.left == 0 || hi[v] == 0 {
				continue
			}
			n := min(x.left, int(hi[v]))
			x.left -= n
			if x.cost = x.cost.Plus(grid.Credits(s.offer(i, int(v)).Cost).Times(n)); x.left == 0 {
				least = min(least, x.cost)
			}
		}
		sum = sum.Plus(least)
	}
	return sum
}
