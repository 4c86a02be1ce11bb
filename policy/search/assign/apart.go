package assign

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Parts that stand apart take nothing from each other, so each takes the cheapest nodes of
// its site: what is left is to give each a site of its own.

// stand is a part at a site, with its cheapest nodes there.
type stand struct {
	site  int32
	cost  grid.Credits
	first int // the first variable with a node, by which ties are settled
}

// apart gives each part a site of its own.
func (s *Solver) apart(hi []int32) {
	n := len(s.p.Parts)
	stands := make([][]stand, n)
	for i := range stands {
		stands[i] = s.stands(i, hi, n)
	}
	total, fits := matched(stands)
	if !fits || total > s.p.Limit {
		return
	}
	x := bound{x: s.room(), cost: total, preferred: true}
	clear(x.x)
	for i := range stands {
		all := stands[i]
		for k := range all { // in the order of preference, the first with which the least sum can be had
			stands[i] = all[k : k+1]
			if sum, fits := matched(stands); fits && sum == total {
				break
			}
		}
		s.take(i, hi, stands[i][0].site, x.x)
	}
	s.keep(&x)
	s.free(x.x)
}

// stands lists the sites that hold a part, those of equal cost by the rule for ties first.
// Of the dearer ones only so many are needed as there are parts.
func (s *Solver) stands(part int, hi []int32, parts int) []stand {
	var list []stand
	x := s.room()
	for _, site := range s.sites {
		clear(x)
		if cost, fits := s.take(part, hi, site, x); fits {
			first := slices.IndexFunc(x, func(n int32) bool { return n > 0 })
			list = append(list, stand{site, cost, first})
		}
	}
	s.free(x)
	slices.SortFunc(list, func(a, b stand) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.first, b.first)) })
	if len(list) > parts {
		list = list[:parts+len(list[parts:])-len(dearer(list[parts:], list[parts-1].cost))]
	}
	slices.SortFunc(list, func(a, b stand) int { return cmp.Compare(a.first, b.first) })
	return list
}

// dearer are the stands of a sorted list that cost more.
func dearer(list []stand, than grid.Credits) []stand {
	i := slices.IndexFunc(list, func(x stand) bool { return x.cost > than })
	if i < 0 {
		return nil
	}
	return list[i:]
}

// take gives a part the cheapest nodes of a site, and reports whether there are enough.
func (s *Solver) take(part int, hi []int32, site int32, x []int32) (cost grid.Credits, fits bool) {
	var own []int
	for v := s.first[part]; v < s.first[part+1]; v++ {
		if s.site(part, v) == site && hi[v] > 0 {
			own = append(own, v)
		}
	}
	slices.SortStableFunc(own, func(a, b int) int { return cmp.Compare(s.offer(part, a).Cost, s.offer(part, b).Cost) })
	left := s.p.Parts[part].Need
	for _, v := range own {
		x[v] = int32(min(left, int(hi[v])))
		left -= int(x[v])
		cost = cost.Plus(grid.Credits(s.offer(part, v).Cost).Times(int(x[v])))
	}
	return cost, left == 0
}

// matched is the least sum over the parts at sites that differ. It goes through the sets of
// parts, site by site.
func matched(stands [][]stand) (grid.Credits, bool) {
	var sites []int32
	for _, list := range stands {
		for _, x := range list {
			sites = append(sites, x.site)
		}
	}
	slices.Sort(sites)
	sites = slices.Compact(sites)
	all := 1<<len(stands) - 1
	const none = grid.Credits(math.MaxInt64)
	least := make([]grid.Credits, all+1)
	for m := 1; m <= all; m++ {
		least[m] = none
	}
	for _, site := range sites {
		for m := all; m > 0; m-- { // a site serves once, so what it is added to is without it
			for i, list := range stands {
				if m&(1<<i) == 0 || least[m&^(1<<i)] == none {
					continue
				}
				for _, x := range list {
					if x.site == site {
						least[m] = min(least[m], least[m&^(1<<i)].Plus(x.cost))
					}
				}
			}
		}
	}
	return least[all], least[all] < none
}
