package slurm

import "math/bits"

// Set is a set of nodes, a bit for each.
type Set []uint64

// NewSet returns an empty set that has room for n nodes.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Add puts a node into the set.
func (s Set) Add(i int) { s[i>>6] |= 1 << (i & 63) }

// AddRange puts nodes from i until before j into the set.
func (s Set) addRange(i, j int) {
	for ; i < j; i++ {
		s.Add(i)
	}
}

// Has reports whether a node is in the set.
func (s Set) Has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

// Count returns the number of nodes.
func (s Set) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Clone returns a copy.
func (s Set) Clone() Set { return append(Set(nil), s...) }

func (s Set) copy(o Set) { copy(s, o) }

func (s Set) and(o Set) {
	for i := range s {
		s[i] &= o[i]
	}
}

func (s Set) or(o Set) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s Set) without(o Set) {
	for i := range s {
		s[i] &^= o[i]
	}
}

func (s Set) overlaps(o Set) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// common counts the nodes in both sets.
func (s Set) common(o Set) int {
	n := 0
	for i := range s {
		n += bits.OnesCount64(s[i] & o[i])
	}
	return n
}

// outside counts the nodes that are not in another set.
func (s Set) outside(o Set) int {
	n := 0
	for i := range s {
		n += bits.OnesCount64(s[i] &^ o[i])
	}
	return n
}

// Each calls f for each node in order.
func (s Set) Each(f func(int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(i<<6 + bits.TrailingZeros64(w))
		}
	}
}

// run returns the first run of neighbours at or after node i: from, until before to. from
// is below 0 if there is none.
func (s Set) run(i int) (from, to int) {
	from = s.next(i, 0)
	if from < 0 {
		return from, from
	}
	if to = s.next(from, ^uint64(0)); to < 0 {
		to = len(s) << 6
	}
	return from, to
}

// next returns the first node at or after i whose bit differs from that of flip; -1 if
// there is none.
func (s Set) next(i int, flip uint64) int {
	for w := i >> 6; w < len(s); w++ {
		x := s[w] ^ flip
		if w == i>>6 {
			x &= ^uint64(0) << (i & 63)
		}
		if x != 0 {
			return w<<6 + bits.TrailingZeros64(x)
		}
	}
	return -1
}

// Pick returns n nodes out of free, which must have as many: the lowest of the shortest run
// of neighbours that holds them, the lowest such run. If none does, the longest run (the
// lowest of equals) is taken whole, and the rest is picked again. free is changed.
func Pick(free Set, n int) Set {
	out := make(Set, len(free))
	for n > 0 {
		best, size, longest, length := -1, 0, -1, 0
		for from, to := free.run(0); from >= 0; from, to = free.run(to) {
			l := to - from
			if l >= n && (best < 0 || l < size) {
				best, size = from, l
			}
			if l > length {
				longest, length = from, l
			}
			if to >= len(free)<<6 {
				break
			}
		}
		if best < 0 {
			if longest < 0 {
				panic("slurm: more nodes picked than are free")
			}
			best, size = longest, length
		}
		take := min(n, size)
		out.addRange(best, best+take)
		free.without(out)
		n -= take
	}
	return out
}
