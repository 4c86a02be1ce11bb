// Package assign gives the parts of a job nodes at one start: the assignment of least cost
// under what the groups have at every instant and under rules on sites. Ties go to the
// greatest numbers of nodes, compared by part, then in the order of the offers.
//
// Where the sets of parts that need nodes of a group at the same time are nested, which is
// so for parts that start together, the least cost is that of a flow, from the parts through
// the sets of each group to a sink. Two laminar families make its matrix totally unimodular,
// so the flow is whole. Otherwise a flow under some of the sets is a bound, and Solve
// branches on what breaks the others.
//
// The package knows neither time nor slots; policy/search does.
package assign

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// MaxParts bounds the parts of a Problem.
const MaxParts = 8

// Offer is what a group has for one part: Count nodes that cost Cost each, 0..MaxBudget.
type Offer struct {
	Group int32
	Count int32
	Cost  int64
}

// Part is a part of the job. It takes Need nodes, at least 1, from its offers, at most one of
// each group.
type Part struct {
	Need    int
	Offers  []Offer
	OneSite bool // all from groups of one site
}

// Group is what binds the parts that take nodes of one group. Parts are bits.
type Group struct {
	Site int32
	Sets []Set
	Gaps []Gap
}

// Set is parts that need nodes at the same instant, when so many are free.
type Set struct {
	Parts uint8
	Free  int32
}

// Gap is a part that, if it takes any nodes, shares so many free ones with others that are
// not over for long enough, or that follow too soon.
type Gap struct {
	Part   uint8 // one bit
	Others uint8
	Free   int32
}

// Problem is what can be assigned at one start.
type Problem struct {
	Parts  []Part
	Groups []Group
	// Together and Apart are rules on sites: one carries all parts, or none carries two.
	// Apart leaves each part on one site.
	Together, Apart bool
	Limit           grid.Credits // what costs more is not looked for
	Flows           int          // at most so many are solved
}

// sets lists the sets of a group that bind; a Gap is one as soon as its part must have a
// node.
func (p *Problem) sets(g int32, lo []int32, at *[MaxParts]int32, to []Set) []Set {
	group := &p.Groups[g]
	to = append(to, group.Sets...)
	for _, x := range group.Gaps {
		if i := at[bits.TrailingZeros8(x.Part)]; i >= 0 && lo[i] > 0 {
			to = append(to, Set{x.Part | x.Others, x.Free})
		}
	}
	return to
}

// Solver solves problems. It reuses its memory, and is not safe for concurrent use. The zero
// Solver is ready to use.
type Solver struct {
	p       *Problem
	first   []int             // by part: its first variable; the last is their number
	at      [][MaxParts]int32 // by group and part: the variable; -1: none
	groups  []int32           // those that bind parts, in order
	sites   []int32           // those with offers, in order
	order   []int             // by set of a group: how often it was broken; see weight
	base    []int             // by group: its first in order
	flow    flow
	used    int
	bounded bool
	found   bool
	best    bound
	spare   [][]int32
	cheap   []int32 // the variables of each part, the cheapest first; none: no part is on one site
	stay    []stay  // by site
	held    []int64 // by site: nodes of a part
	scratch []Set
	inner   *Solver // of the parts at one site
	sub     Problem
}

// bound is a solution of a relaxation: numbers of nodes by variable, and what they cost.
type bound struct {
	x    []int32
	cost grid.Credits
	// preferred says that no solution of that cost comes before x by the rule for ties.
	preferred bool
}

// Solve finds the assignment, and reports whether there is one. Bounded means that it gave
// up at Problem.Flows: the assignment may then not be the best one, or be missing. Taken
// tells how many nodes it takes. It costs a flow where the sets are nested.
func (s *Solver) Solve(p *Problem) (cost grid.Credits, found, bounded bool) {
	s.open(p)
	lo, hi := s.room(), s.room()
	for i := range p.Parts {
		for k, o := range p.Parts[i].Offers {
			lo[s.first[i]+k], hi[s.first[i]+k] = 0, min(o.Count, int32(min(p.Parts[i].Need, 1<<30)))
		}
	}
	switch {
	case p.Apart:
		s.apart(hi)
	case p.Together:
		s.together(lo, hi)
	case len(p.Parts) > 1 && !slices.ContainsFunc(p.Parts, func(x Part) bool { return !x.OneSite }):
		s.shared(lo, hi)
	default:
		s.start(lo, hi)
	}
	return s.best.cost, s.found, s.bounded
}

// Taken returns the numbers of nodes of the last solution by offer of a part. It is valid
// until the next Solve.
func (s *Solver) Taken(part int) []int32 { return s.best.x[s.first[part]:s.first[part+1]] }

// open numbers the variables.
func (s *Solver) open(p *Problem) {
	s.p, s.used, s.bounded, s.found = p, 0, false, false
	s.first = append(s.first[:0], 0)
	s.at = slices.Grow(s.at[:0], len(p.Groups))[:len(p.Groups)]
	for g := range s.at {
		s.at[g] = [MaxParts]int32{-1, -1, -1, -1, -1, -1, -1, -1}
	}
	s.sites = s.sites[:0]
	for i := range p.Parts {
		for k, o := range p.Parts[i].Offers {
			s.at[o.Group][i] = int32(s.first[i] + k)
			s.sites = append(s.sites, p.Groups[o.Group].Site)
		}
		s.first = append(s.first, s.first[i]+len(p.Parts[i].Offers))
	}
	slices.Sort(s.sites)
	s.sites = slices.Compact(s.sites)
	s.rank()
	s.groups, s.base, s.order = s.groups[:0], s.base[:0], s.order[:0]
	for g := range p.Groups {
		s.base = append(s.base, len(s.order))
		if n := len(p.Groups[g].Sets) + len(p.Groups[g].Gaps); n > 0 {
			s.groups = append(s.groups, int32(g))
			s.order = append(s.order, make([]int, n)...)
		}
	}
	s.best.x = slices.Grow(s.best.x[:0], s.variables())[:s.variables()]
}

// rank orders the variables of each part by cost, if there are rules on sites.
func (s *Solver) rank() {
	s.cheap = s.cheap[:0]
	if len(s.sites) == 0 || !s.p.Apart && !s.p.Together && !slices.ContainsFunc(s.p.Parts, func(p Part) bool { return p.OneSite }) {
		return
	}
	for i := range s.p.Parts {
		for v := s.first[i]; v < s.first[i+1]; v++ {
			s.cheap = append(s.cheap, int32(v))
		}
		slices.SortFunc(s.cheap[s.first[i]:], func(a, b int32) int {
			return cmp.Or(cmp.Compare(s.offer(i, int(a)).Cost, s.offer(i, int(b)).Cost), cmp.Compare(a, b))
		})
	}
	n := int(slices.Max(s.sites)) + 1
	s.stay, s.held = slices.Grow(s.stay[:0], n)[:n], slices.Grow(s.held[:0], n)[:n]
}

// stay is what a part lacks at a site, what it costs there so far, and its first variable.
type stay struct {
	left  int
	cost  grid.Credits
	first int
}

func (s *Solver) variables() int { return s.first[len(s.first)-1] }

// offer is the offer of a variable of a part.
func (s *Solver) offer(part int, v int) *Offer { return &s.p.Parts[part].Offers[v-s.first[part]] }

func (s *Solver) site(part, v int) int32 { return s.p.Groups[s.offer(part, v).Group].Site }

// room is memory for a number by variable.
func (s *Solver) room() []int32 {
	n, v := len(s.spare), s.variables()
	if n == 0 {
		return make([]int32, v)
	}
	x := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return slices.Grow(x[:0], v)[:v]
}

func (s *Solver) copy(x []int32) []int32 {
	y := s.room()
	copy(y, x)
	return y
}

func (s *Solver) free(list ...[]int32) { s.spare = append(s.spare, list...) }

// only takes the nodes of sites that may not serve from a part, or from all if it is -1.
func (s *Solver) only(hi []int32, part int, may func(site int32) bool) (changed bool) {
	for i := range s.p.Parts {
		if part >= 0 && i != part {
			continue
		}
		for v := s.first[i]; v < s.first[i+1]; v++ {
			if hi[v] > 0 && !may(s.site(i, v)) {
				hi[v], changed = 0, true
			}
		}
	}
	return changed
}

// keep makes x the best solution if it is better than the best so far.
func (s *Solver) keep(x *bound) {
	if !s.beats(x) {
		return
	}
	s.found, s.best.cost = true, x.cost
	copy(s.best.x, x.x)
}

// beats reports whether a solution, or whatever lies below a bound, may be better than the
// best so far: cheaper, or as cheap and earlier by the rule for ties.
func (s *Solver) beats(x *bound) bool {
	switch {
	case x.cost > s.p.Limit:
		return false
	case !s.found || x.cost < s.best.cost:
		return true
	}
	return x.cost == s.best.cost && (!x.preferred || slices.Compare(x.x, s.best.x) > 0)
}
