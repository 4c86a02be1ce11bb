package search

import (
	"math/bits"

	"github.com/bourse-grid/bourse"
)

// frontier is from when on so many nodes are free at once for so long, as searches of a
// batch have come upon it: who asks for no less has no window before, since the list only
// shrinks. The jobs of a batch fill a grid from its front, and without this each of them
// would look through all that those before it have left behind.
//
// It is a table by nodes and lengths, in classes of an eighth of an octave at the most. A
// search is noted in the class that asks for no less, and read from that which asks for
// no more.
type frontier struct {
	nodes, lengths classes
	at             []bourse.Time // no start before; by nodes, then by length
	off            bool          // it keeps nothing
}

// classes are the classes of some values, from one to another.
type classes struct{ first, n int }

// classOf is the class of a value, and whether the value is the least of it.
func classOf(x uint64) (class int, least bool) {
	n := max(0, bits.Len64(x)-4)
	return 8*n + int(x>>n), x>>n<<n == x
}

// cover has the classes hold a value.
func (c *classes) cover(x uint64) {
	k, _ := classOf(x)
	if c.n == 0 {
		c.first, c.n = k, 1
	}
	if k < c.first {
		c.first, c.n = k, c.n+c.first-k
	}
	c.n = max(c.n, k-c.first+1)
}

// within is the first class of the values that are no less than x; n: there is none.
func (c *classes) within(x uint64) int {
	k, least := classOf(x)
	if !least {
		k++
	}
	return k - c.first
}

// of is the class of a value that is covered.
func (c *classes) of(x uint64) int {
	k, _ := classOf(x)
	return k - c.first
}

// maxCells bounds what the frontiers of one batch keep, 8 bytes each: where jobs may use
// many sets of sites, those that come late keep nothing.
const maxCells = 1 << 20

// since is the start before which there are not so many nodes for so long.
func (f *frontier) since(nodes int, length bourse.Duration) bourse.Time {
	if f.at == nil {
		return -bourse.MaxTime
	}
	return f.at[f.nodes.of(uint64(nodes))*f.lengths.n+f.lengths.of(uint64(length))]
}

// note takes that there are not so many nodes for so long before t.
func (f *frontier) note(nodes int, length bourse.Duration, t bourse.Time) {
	if f.off {
		return
	}
	if f.at == nil {
		f.at = make([]bourse.Time, f.nodes.n*f.lengths.n)
		for i := range f.at {
			f.at[i] = -bourse.MaxTime
		}
	}
	first := f.lengths.within(uint64(length))
	for i := f.nodes.within(uint64(nodes)); i < f.nodes.n; i++ {
		row := f.at[i*f.lengths.n : (i+1)*f.lengths.n]
		if first >= len(row) || row[first] >= t {
			return
		}
		for k := first; k < len(row) && row[k] < t; k++ {
			row[k] = t
		}
	}
}
