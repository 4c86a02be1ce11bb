package placement

import (
	"cmp"
	"math/bits"

	"bourse"
	"bourse/policy/search"
)

// Market is what sites have offered over [From, To): by group, how many nodes can
// be reserved at all, and how many of them at base price. Profiles are not
// changed.
type Market struct {
	Groups     []bourse.Group
	Admissible []bourse.Profile
	Clear      []bourse.Profile
	From, To   bourse.Time
}

// side is the market as a search sees it: what of one of the two kinds of nodes
// the windows that have been taken leave.
type side struct {
	list *search.List
	find *search.Finder
	free []bourse.Profile
}

func newSide(m *Market, free []bourse.Profile) *side {
	s := &side{list: new(search.List)}
	s.list.ResetFungible(m.Groups, free, m.From, m.To)
	s.find = search.NewFinder(s.list)
	for _, p := range free {
		s.free = append(s.free, p.Clone())
	}
	return s
}

// add gives nodes back, or takes them where by is -1.
func (s *side) add(parts []bourse.Part, by int) {
	for _, p := range parts {
		from := max(p.Start, s.free[p.Group][0].At)
		s.free[p.Group].Add(from, p.End, by*int(p.Count))
		s.list.Add(p.Group, by*int(p.Count), from, p.End)
	}
}

// holds reports whether nodes are free for all parts of a window.
func (s *side) holds(parts []bourse.Part) bool {
	for _, p := range parts {
		if s.free[p.Group].Min(p.Start, p.End) < int(p.Count) {
			return false
		}
	}
	return true
}

// room is what is left of sites, in node-milliseconds: the free share that settles
// ties.
type room struct {
	site []int32 // by group
	free []int64 // by site
	all  []int64
}

func newRoom(m *Market) *room {
	r := &room{site: make([]int32, len(m.Groups))}
	number := map[string]int32{}
	for g := range m.Groups {
		n, ok := number[m.Groups[g].Site]
		if !ok {
			n = int32(len(number))
			number[m.Groups[g].Site] = n
			r.free, r.all = append(r.free, 0), append(r.all, 0)
		}
		r.site[g] = n
		r.all[n] += int64(m.Groups[g].Nodes) * int64(m.To.Sub(m.From))
		r.free[n] += area(m.Admissible[g], m.From, m.To)
	}
	return r
}

// area is the free nodes of a profile over [from, to), in node-milliseconds.
func area(p bourse.Profile, from, to bourse.Time) int64 {
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

func (r *room) add(parts []bourse.Part, by int) {
	for _, p := range parts {
		r.free[r.site[p.Group]] += int64(by) * int64(p.Count) * int64(p.End.Sub(p.Start))
	}
}

// freer orders two sites by their free shares, the greater first.
func (r *room) freer(a, b int32) int {
	ahi, alo := bits.Mul64(uint64(max(0, r.free[a])), uint64(r.all[b]))
	bhi, blo := bits.Mul64(uint64(max(0, r.free[b])), uint64(r.all[a]))
	return cmp.Or(cmp.Compare(bhi, ahi), cmp.Compare(blo, alo))
}
