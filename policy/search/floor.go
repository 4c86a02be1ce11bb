package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// floors are lower bounds on the score of a window of a job of parts, for one set of weights.
// A window that takes W costs at least, for each part, as many nodes as it has at the least
// key of those on which the part ends by W. So no window scores less than the least over W,
// and none with a node of a class less than the least over the W for which the node is quick
// enough, with that node's key in the place of the least one.
type floors struct {
	a, b, c uint64
	limit   grid.Credits
	least   sum     // of a window that starts at once; beyond if there is none within the limit
	classes [][]sum // by part and class: with a node of it
}

// beyond is a score that no window has.
var beyond = sum{math.MaxUint64, math.MaxUint64}

// floorsOf returns the floors of a query under the weights of f.best, which it keeps with the
// query; nil if there are too many classes. It costs a sort of the classes of all parts.
func (f *Finder) floorsOf(q *query) *floors {
	j, n := &f.best, len(f.list.classes)
	if f.list.curved || n > maxNarrow {
		return nil
	}
	if x := q.floors; x != nil && x.a == j.a && x.b == j.b && x.c == j.c && x.limit == q.limit && len(x.classes[0]) == n {
		return x
	}
	x := &floors{a: j.a, b: j.b, c: j.c, limit: q.limit, least: beyond, classes: make([][]sum, len(q.pieces))}
	q.floors = x
	var ends []partEnd
	for i := range q.pieces {
		p := &q.pieces[i]
		x.classes[i] = make([]sum, n)
		for class := range n {
			x.classes[i][class] = beyond
			if fit := p.fit(f.list, int32(class)); fit.runtime > 0 {
				ends = append(ends, partEnd{p.last(fit.runtime), i, int32(class), fit.key})
			}
		}
	}
	slices.SortFunc(ends, func(a, b partEnd) int { return cmp.Compare(a.last, b.last) })
	// Forwards: the score of a window whose last node is the k-th, but for what part i pays
	// for one node.
	keys := make([]int64, len(q.pieces))
	for i := range keys {
		keys[i] = -1
	}
	rest := make([]sum, len(ends)*len(keys)) // by end and part
	for k, e := range ends {
		if keys[e.part] < 0 || e.key < keys[e.part] {
			keys[e.part] = e.key
		}
		missing := slices.Contains(keys, -1) // no class of a part is quick enough
		row, all := rest[k*len(keys):(k+1)*len(keys)], sum{}
		for i, key := range keys {
			row[i], all = beyond, all.plus(max(key, 0), q.pieces[i].Nodes)
		}
		if missing || !all.atMost(q.limit) {
			continue
		}
		score := sum{}.plus(int64(j.a), int(e.last)).plus(int64(j.c), int(e.last))
		if whole := score.plus(int64(j.b), int(all.lo)); whole.less(x.least) {
			x.least = whole
		}
		for i, key := range keys {
			row[i] = score.plus(int64(j.b), int(int64(all.lo)-key))
		}
	}
	x.backwards(int64(j.b), ends, rest, len(keys))
	return x
}

// partEnd is the last instant of a part on the nodes of a class, and what a node costs it there.
type partEnd struct {
	last  grid.Duration
	part  int
	class int32
	key   int64
}

// backwards sets each class's floor to the least score of the windows that take at least as long.
func (x *floors) backwards(b int64, ends []partEnd, rest []sum, parts int) {
	low := make([]sum, parts)
	for i := range low {
		low[i] = beyond
	}
	for k := len(ends) - 1; k >= 0; {
		first := k
		for ; first >= 0 && ends[first].last == ends[k].last; first-- {
			for i, score := range rest[first*parts : (first+1)*parts] {
				if score.less(low[i]) {
					low[i] = score
				}
			}
		}
		for ; k > first; k-- {
			if e := &ends[k]; low[e.part] != beyond {
				x.classes[e.part][e.class] = low[e.part].plus(b, int(e.key))
			}
		}
	}
}
