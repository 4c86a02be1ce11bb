package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/lanes"
)

// bar is something that took nodes of one group for a while.
type bar struct {
	nodes      int
	start, end grid.Time // start < end
	vo         bool
	class      string       // of a local job: how it started
	job        int64        // of a local job
	tx         *transaction // of a leg
	leg        int          // of a leg
	colour     int          // of a leg: one number per transaction
	broker     string       // of a leg
	tried      bool         // of a leg: it was held, and has not run
	mixed      bool         // it shares its nodes with others
	share      float64      // then: the mean of nodes it has used, as far as is known
}

// used is how many nodes it has used, in the mean.
func (b *bar) used() float64 {
	if b.mixed {
		return b.share
	}
	return float64(b.nodes)
}

// usedByVO is the same for a leg, 0 for a local job.
func (b *bar) usedByVO() float64 {
	if !b.vo {
		return 0
	}
	return b.used()
}

// lay gives every bar its lanes out of those 0 to nodes-1: nodes of a group are
// alike, so any free ones will do, and a picture is clearer where a job lies in
// one piece. A bar is laid into the first gap that is high enough, local jobs
// from the last lane up and legs from the first lane down, and cut over several
// gaps if none is. The order is by start, legs before local jobs, more nodes
// before fewer, then as given; bars are sorted so. More bars than nodes is an
// error: the facts promise a node twice.
func lay(bars []bar, nodes int) ([][]lanes.Piece, error) {
	slices.SortStableFunc(bars, func(a, b bar) int {
		if a.vo != b.vo && a.start == b.start {
			if a.vo {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.nodes, a.nodes))
	})
	byEnd := make([]int, len(bars))
	for i := range byEnd {
		byEnd[i] = i
	}
	slices.SortStableFunc(byEnd, func(i, j int) int { return cmp.Compare(bars[i].end, bars[j].end) })
	laid := make([][]lanes.Piece, len(bars))
	free := lanes.New(nodes)
	over := 0
	for i := range bars {
		for over < len(byEnd) && bars[byEnd[over]].end <= bars[i].start {
			free.Give(laid[byEnd[over]])
			over++
		}
		if n := free.Height(); n < bars[i].nodes {
			return nil, fmt.Errorf("%s needed at %v s, %d of %d free: the facts promise a node twice",
				grid.Count(bars[i].nodes, "node"), bars[i].start, n, nodes)
		}
		laid[i] = free.Take(bars[i].nodes, bars[i].vo)
	}
	return laid, nil
}
