package search

import (
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// frontier records, for numbers of nodes and lengths, the time from which searches of a
// batch found enough nodes free. The list only shrinks, so a request for at least as much
// has no window before it. The jobs of a batch fill a grid from the front; without the
// frontier, each would look through everything that the jobs before it have left over.
//
// It is a table by nodes and length, in classes of at most an eighth of an octave. A search
// is recorded in the class at or above its values, and read from the class at or below
// them.
type frontier struct {
	nodes, lengths classes
	at             []grid.Time // earliest possible start, by nodes, then by length
	off            bool        // nothing is recorded
}

// classes are n consecutive classes of values, beginning with first.
type classes struct{ first, n int }

// classOf returns the class of a value, and whether the value is the smallest in it.
func classOf(x uint64) (class int, least bool) {
	n := max(0, bits.Len64(x)-4)
	return 8*n + int(x>>n), x>>n<<n == x
}

// cover extends the classes to contain a value.
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

// within returns the first class with only values of at least x; n or more if there is
// none.
func (c *classes) within(x uint64) int {
	k, least := classOf(x)
	if !least {
		k++
	}
	return k - c.first
}

// of returns the class of a covered value.
func (c *classes) of(x uint64) int {
	k, _ := classOf(x)
	return k - c.first
}

// maxCells bounds the cells in the frontiers of one batch, 8 bytes each. If jobs may use
// many different sets of sites, the frontiers of later sets record nothing.
const maxCells = 1 << 20

// since returns the time before which that many nodes are not free for that long.
func (f *frontier) since(nodes int, length grid.Duration) grid.Time {
	if f.at == nil {
		return -grid.MaxTime
	}
	return f.at[f.nodes.of(uint64(nodes))*f.lengths.n+f.lengths.of(uint64(length))]
}

// note records that that many nodes are not free for that long before t.
func (f *frontier) note(nodes int, length grid.Duration, t grid.Time) {
	if f.off {
		return
	}
	if f.at == nil {
		f.at = make([]grid.Time, f.nodes.n*f.lengths.n)
		for i := range f.at {
			f.at[i] = -grid.MaxTime
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
