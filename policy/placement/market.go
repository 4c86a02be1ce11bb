package placement

import (
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// Market is what sites have offered over [From, To): by group, how many nodes can be
// reserved at all, and how many of them at base price. Profiles are not changed.
type Market struct {
	Groups     []grid.Group
	Admissible []grid.Profile
	Clear      []grid.Profile
	From, To   grid.Time
}

// clear reports whether parts take only nodes at base price.
func (m *Market) clear(parts []grid.Part) bool {
	for _, p := range grid.Stack(parts) {
		if m.Clear[p.Group].Min(p.Start, p.End) < int(p.Count) {
			return false
		}
	}
	return true
}

// side is the market as a search sees it: what the taken windows leave of one of the two
// kinds of nodes.
type side struct {
	list *search.List
	find *search.Finder
}

func newSide() *side {
	s := &side{list: new(search.List)}
	s.find = search.NewFinder(s.list)
	return s
}

// add gives nodes back, or takes them if by is -1.
func (s *side) add(parts []grid.Part, by int) {
	for _, p := range parts {
		s.list.Add(p.Group, by*int(p.Count), max(p.Start, s.list.Free(p.Group)[0].At), p.End)
	}
}

// sideBySide returns the parts of as many copies of a window as there is room for at once.
func (s *side) sideBySide(parts []grid.Part) []grid.Part {
	k := math.MaxInt32
	for _, p := range grid.Stack(parts) {
		k = min(k, s.list.Free(p.Group).Min(p.Start, p.End)/int(p.Count))
	}
	all := slices.Clone(parts)
	for i := range all {
		all[i].Count *= int32(k)
	}
	return all
}

// holds reports whether nodes are free for all parts of a window.
func (s *side) holds(parts []grid.Part) bool {
	for _, p := range grid.Stack(parts) {
		if s.list.Free(p.Group).Min(p.Start, p.End) < int(p.Count) {
			return false
		}
	}
	return true
}
