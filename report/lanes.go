package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
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

// piece is a run of neighbouring lanes.
type piece struct{ lane, height int }

// lay gives every bar its lanes out of those 0 to nodes-1: nodes of a group are
// alike, so any free ones will do, and a picture is clearer where a job lies in
// one piece. A bar is laid into the first gap that is high enough, local jobs
// from the last lane up and legs from the first lane down, and cut over several
// gaps if none is. The order is by start, legs before local jobs, more nodes
// before fewer, then as given; bars are sorted so. More bars than nodes is an
// error: the facts promise a node twice.
func lay(bars []bar, nodes int) ([][]piece, error) {
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
	laid := make([][]piece, len(bars))
	gaps := gaps{{0, nodes}}
	over := 0
	for i := range bars {
		for over < len(byEnd) && bars[byEnd[over]].end <= bars[i].start {
			gaps.give(laid[byEnd[over]])
			over++
		}
		if free := gaps.height(); free < bars[i].nodes {
			return nil, fmt.Errorf("%s needed at %v s, %d of %d free: the facts promise a node twice",
				count(bars[i].nodes, "node"), bars[i].start, free, nodes)
		}
		laid[i] = gaps.take(bars[i].nodes, bars[i].vo)
	}
	return laid, nil
}

// gaps are the free lanes, in order, no two of them neighbours.
type gaps []piece

func (g gaps) height() int {
	n := 0
	for _, p := range g {
		n += p.height
	}
	return n
}

// take takes n lanes, from the first gap that is high enough or else from as
// many as it needs, counted from the top or from the bottom.
func (g *gaps) take(n int, top bool) []piece {
	for k := range *g {
		if k = side(k, len(*g), top); (*g)[k].height >= n {
			return []piece{g.cut(k, n, top)}
		}
	}
	var list []piece
	for n > 0 {
		k := side(0, len(*g), top)
		p := g.cut(k, min(n, (*g)[k].height), top)
		n -= p.height
		list = append(list, p)
	}
	return list
}

// side counts from the other end unless top.
func side(k, n int, top bool) int {
	if top {
		return k
	}
	return n - 1 - k
}

// cut takes n lanes of gap k from its top or its bottom.
func (g *gaps) cut(k, n int, top bool) piece {
	p := &(*g)[k]
	got := piece{p.lane + p.height - n, n}
	if top {
		got.lane = p.lane
		p.lane += n
	}
	if p.height -= n; p.height == 0 {
		*g = slices.Delete(*g, k, k+1)
	}
	return got
}

// give puts lanes back and joins them with the gaps beside.
func (g *gaps) give(list []piece) {
	for _, p := range list {
		k, _ := slices.BinarySearchFunc(*g, p.lane, func(q piece, lane int) int { return cmp.Compare(q.lane, lane) })
		*g = slices.Insert(*g, k, p)
		if k+1 < len(*g) && (*g)[k+1].lane == p.lane+p.height {
			(*g)[k].height += (*g)[k+1].height
			*g = slices.Delete(*g, k+1, k+2)
		}
		if k > 0 && (*g)[k-1].lane+(*g)[k-1].height == (*g)[k].lane {
			(*g)[k-1].height += (*g)[k].height
			*g = slices.Delete(*g, k, k+1)
		}
	}
}
