package search

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// suit is the set of classes of a fungible list that serve a request, at any cost. Most
// jobs of a batch share a few of these sets, and with them what is known about free nodes.
type suit struct {
	serves  []bool // by class
	nodes   int
	onSite  int              // most nodes at one site
	fastest grid.Performance // of them; 0: there are none
	slowest grid.Performance
	classes int
	peaks   []peak // by length; see peak.go
	front   frontier
}

// suits are the suits of a batch.
type suits struct {
	speeds []grid.Performance // of the classes, in order
	plain  []*suit            // for requests that ask only for performance, by the lowest speed that is enough
	of     map[string]*suit   // by the set of classes
	key    []byte             // scratch
	sums   []int              // scratch: nodes by site
	cells  int                // cells of all frontiers

	nodes, lengths classes // node counts and lengths in the batch
}

// reset prepares for the classes of a list and the queries of a batch.
func (x *suits) reset(l *List, queries []query) {
	x.nodes, x.lengths, x.cells = classes{}, classes{}, 0
	for i := range queries {
		if queries[i].pieces != nil {
			continue
		}
		x.nodes.cover(uint64(queries[i].Nodes))
		x.lengths.cover(uint64(queries[i].Length))
	}
	x.speeds = x.speeds[:0]
	for i := range l.classes {
		x.speeds = append(x.speeds, l.classes[i].performance)
	}
	slices.Sort(x.speeds)
	x.speeds = slices.Compact(x.speeds)
	x.plain = append(x.plain[:0], make([]*suit, len(x.speeds)+1)...)
	x.of = map[string]*suit{}
}

// suitOf returns the suit of a query. It costs a lookup for one that asks only for
// performance of groups that allow windows of any length, otherwise a look at every class.
func (f *Finder) suitOf(q *query) *suit {
	x := &f.suits
	if q.barred != nil || q.portion || !q.Require.None() || f.list.bounded {
		return f.suited(q)
	}
	rank, _ := slices.BinarySearch(x.speeds, q.MinPerformance)
	if x.plain[rank] == nil {
		x.plain[rank] = f.suited(q)
	}
	return x.plain[rank]
}

// suited is suitOf by looking at every class.
func (f *Finder) suited(q *query) *suit {
	l, x := f.list, &f.suits
	x.key = x.key[:0]
	for i := range l.classes {
		serves := byte(0)
		if q.suits(l, &l.classes[i]) {
			serves = 1
		}
		x.key = append(x.key, serves)
	}
	if s := x.of[string(x.key)]; s != nil {
		return s
	}
	s := &suit{serves: make([]bool, len(l.classes)), front: frontier{nodes: x.nodes, lengths: x.lengths}}
	x.sums = append(x.sums[:0], make([]int, l.sites)...)
	for i := range l.classes {
		if s.serves[i] = x.key[i] == 1; !s.serves[i] {
			continue
		}
		c := &l.classes[i]
		n := l.groups[c.group].Nodes
		s.nodes += n
		x.sums[c.site] += n
		s.onSite = max(s.onSite, x.sums[c.site])
		s.fastest = max(s.fastest, c.performance)
		if s.classes++; s.slowest == 0 || c.performance < s.slowest {
			s.slowest = c.performance
		}
	}
	x.cells += x.nodes.n * x.lengths.n
	s.front.off = x.cells > maxCells
	x.of[string(x.key)] = s
	return s
}

// holds reports whether there are as many nodes as a query asks for, free or not.
func (s *suit) holds(q *query) bool {
	if q.OneSite {
		return s.onSite >= q.Nodes
	}
	return s.nodes >= q.Nodes
}

// least returns the shortest runtime of a length.
func (s *suit) least(length grid.Duration) grid.Duration {
	if s.fastest == 0 {
		return nowhere
	}
	return s.fastest.Runtime(length)
}
