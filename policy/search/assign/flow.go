package assign

import (
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// flow is a network: a vertex for each part, one for each set of a group, and a sink. What
// leaves a part for a group is a variable.
type flow struct {
	head []int32 // by vertex: its last arc; -1: none
	arcs []arc   // in pairs, an arc and its reverse
	of   []int32 // by variable: its arc; -1: none
	dist []int64
	from []int32 // the arc by which a vertex was reached
	in   []bool
	line []int32

	chosen []Set
	weight []int
}

type arc struct {
	to, next int32
	room     int32 // what more may flow
	cost     int64
	fixed    bool // its flow must not change any more
}

const unreached = math.MaxInt64

func (f *flow) reset(variables int) {
	f.head, f.arcs, f.of = f.head[:0], f.arcs[:0], f.of[:0]
	for range variables {
		f.of = append(f.of, -1)
	}
}

func (f *flow) vertex() int32 {
	f.head = append(f.head, -1)
	return int32(len(f.head) - 1)
}

func (f *flow) arc(from, to, room int32, cost int64) int32 {
	n := int32(len(f.arcs))
	f.arcs = append(f.arcs, arc{to, f.head[from], room, cost, false}, arc{from, f.head[to], 0, -cost, false})
	f.head[from], f.head[to] = n, n+1
	return n
}

// least finds the flow of least cost between the bounds and, where ties may matter, among
// those the one that the rule for ties prefers. It reports whether there is one within the limit.
func (s *Solver) least(lo, hi []int32, limit grid.Credits, to *bound) bool {
	s.network(lo, hi)
	f := &s.flow
	to.cost = 0
	for i := range s.p.Parts {
		need := s.p.Parts[i].Need
		for v := s.first[i]; v < s.first[i+1]; v++ {
			if lo[v] > 0 {
				need -= int(lo[v])
				to.cost = to.cost.Plus(grid.Credits(s.offer(i, v).Cost).Times(int(lo[v])))
			}
		}
		for need > 0 {
			n, cost := f.push(int32(i), int32(len(s.p.Parts)), int32(min(need, math.MaxInt32)))
			if n == 0 {
				return false
			}
			need -= int(n)
			if to.cost = to.cost.Plus(grid.Credits(cost).Times(int(n))); to.cost > limit {
				return false
			}
		}
	}
	s.read(lo, to.x)
	// Most flows break something, whatever the ties: what that forbids holds for all of them.
	_, broken := s.broken(lo, to.x)
	if to.preferred = !broken || s.found && to.cost == s.best.cost; to.preferred {
		f.prefer(s)
		s.read(lo, to.x)
	}
	return true
}

// read reads the numbers of nodes from the flow.
func (s *Solver) read(lo, x []int32) {
	f := &s.flow
	for v := range x {
		if x[v] = lo[v]; f.of[v] >= 0 {
			x[v] += f.arcs[f.of[v]^1].room
		}
	}
}

// network makes the network of what may be taken above lo.
func (s *Solver) network(lo, hi []int32) {
	f := &s.flow
	f.reset(s.variables())
	for range s.p.Parts {
		f.vertex()
	}
	sink := f.vertex()
	bound := 0
	for g := range s.p.Groups {
		at := &s.at[g]
		into := [MaxParts]int32{sink, sink, sink, sink, sink, sink, sink, sink}
		if bound < len(s.groups) && int(s.groups[bound]) == g {
			bound++
			s.nest(int32(g), lo, hi, sink, &into)
		}
		for i := range s.p.Parts {
			if v := at[i]; v >= 0 && hi[v] > lo[v] {
				f.of[v] = f.arc(int32(i), into[i], hi[v]-lo[v], s.offer(i, int(v)).Cost)
			}
		}
	}
}

// nest makes the vertices of the sets of a group that bind and are nested: a set broken more
// often comes first, then the tighter one. into is where the nodes of each part go.
func (s *Solver) nest(g int32, lo, hi []int32, sink int32, into *[MaxParts]int32) {
	f, at := &s.flow, &s.at[g]
	s.scratch = s.p.sets(g, lo, at, s.scratch[:0])
	f.chosen, f.weight = f.chosen[:0], f.weight[:0]
	for k, set := range s.scratch {
		if s.sum(hi, at, set.Parts) <= int64(set.Free) {
			continue
		}
		weight := s.order[s.base[g]+k]
		i := len(f.chosen)
		for i > 0 && (f.weight[i-1] < weight || f.weight[i-1] == weight && f.chosen[i-1].Free > set.Free) {
			i--
		}
		f.chosen = append(f.chosen[:i], append([]Set{set}, f.chosen[i:]...)...)
		f.weight = append(f.weight[:i], append([]int{weight}, f.weight[i:]...)...)
	}
	n := 0
	for _, set := range f.chosen {
		nested := true
		for _, o := range f.chosen[:n] {
			both := o.Parts & set.Parts
			nested = nested && (both == 0 || both == o.Parts || both == set.Parts)
		}
		if nested {
			f.chosen[n] = set
			n++
		}
	}
	f.chosen = f.chosen[:n]
	// The largest first, so that each finds the vertex of the set around it.
	for size := MaxParts; size > 0; size-- {
		for _, set := range f.chosen {
			if bits.OnesCount8(set.Parts) != size {
				continue
			}
			v := f.vertex()
			f.arc(v, into[bits.TrailingZeros8(set.Parts)], int32(int64(set.Free)-s.sum(lo, at, set.Parts)), 0)
			for parts := set.Parts; parts != 0; parts &= parts - 1 {
				into[bits.TrailingZeros8(parts)] = v
			}
		}
	}
}

// reach finds the cheapest ways from a vertex to all others (Bellman and Ford).
func (f *flow) reach(from int32) {
	f.clear(unreached)
	f.dist[from] = 0
	f.line = append(f.line[:0], from)
	f.relax()
}

// clear sets all distances.
func (f *flow) clear(dist int64) {
	n := len(f.head)
	f.dist, f.from, f.in = slices.Grow(f.dist[:0], n)[:n], slices.Grow(f.from[:0], n)[:n], slices.Grow(f.in[:0], n)[:n]
	for v := range n {
		f.dist[v], f.from[v], f.in[v] = dist, -1, false
	}
}

// relax shortens distances from the vertices in line until nothing can be shortened.
func (f *flow) relax() {
	for i := 0; i < len(f.line); i++ {
		v := f.line[i]
		f.in[v] = false
		for a := f.head[v]; a >= 0; a = f.arcs[a].next {
			x := &f.arcs[a]
			if x.room > 0 && f.dist[v]+x.cost < f.dist[x.to] {
				f.dist[x.to], f.from[x.to] = f.dist[v]+x.cost, a
				if !f.in[x.to] {
					f.in[x.to] = true
					f.line = append(f.line, x.to)
				}
			}
		}
	}
}

// push sends at most most along the cheapest way, and returns how much and its cost for one.
func (f *flow) push(from, to, most int32) (int32, int64) {
	f.reach(from)
	if f.dist[to] == unreached {
		return 0, 0
	}
	return f.send(from, to, most), f.dist[to]
}

// send sends at most most along the way in f.from.
func (f *flow) send(from, to, most int32) int32 {
	for v := to; v != from; v = f.arcs[f.from[v]^1].to {
		most = min(most, f.arcs[f.from[v]].room)
	}
	for v := to; v != from; v = f.arcs[f.from[v]^1].to {
		f.arcs[f.from[v]].room -= most
		f.arcs[f.from[v]^1].room += most
	}
	return most
}

// prefer moves to the flow of the same cost that is greatest by the order of the variables.
// What may change without changing the cost are the cycles of arcs that cost nothing against
// the distances of the least flow.
func (f *flow) prefer(s *Solver) {
	f.clear(0)
	f.line = f.line[:0]
	for v := range f.head {
		f.in[v] = true
		f.line = append(f.line, int32(v))
	}
	f.relax()
	for i := range s.p.Parts {
		for v := s.first[i]; v < s.first[i+1]; v++ {
			a := f.of[v]
			if a < 0 {
				continue
			}
			for f.arcs[a].room > 0 && f.tight(int32(i), a) {
				if !f.back(f.arcs[a].to, int32(i), a) {
					break
				}
				n := f.send(f.arcs[a].to, int32(i), f.arcs[a].room)
				f.arcs[a].room -= n
				f.arcs[a^1].room += n
			}
			f.arcs[a].fixed, f.arcs[a^1].fixed = true, true
		}
	}
}

// tight reports whether an arc from a vertex costs nothing against the distances.
func (f *flow) tight(from, a int32) bool {
	return f.arcs[a].cost+f.dist[from] == f.dist[f.arcs[a].to]
}

// back finds a way of tight arcs that may still change, other than the one given.
func (f *flow) back(from, to, but int32) bool {
	for v := range f.head {
		f.from[v] = -1
	}
	f.line = append(f.line[:0], from)
	for i := 0; i < len(f.line); i++ {
		v := f.line[i]
		for a := f.head[v]; a >= 0; a = f.arcs[a].next {
			x := &f.arcs[a]
			if x.room <= 0 || x.fixed || a == but || a == but^1 || x.to == from || f.from[x.to] >= 0 || !f.tight(v, a) {
				continue
			}
			if f.from[x.to] = a; x.to == to {
				return true
			}
			f.line = append(f.line, x.to)
		}
	}
	return false
}
