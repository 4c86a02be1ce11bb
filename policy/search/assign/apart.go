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
	_, stands := s.alone(hi)
	if stands == nil {
		return
	}
	for _, list := range stands {
		slices.SortFunc(list, func(a, b stand) int { return cmp.Compare(a.first, b.first) })
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
