package backfill

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// place is where a job of the line has its guarantee.
type place struct {
	start, end int32 // instants; none if it has no guarantee
	next, prev int32 // other jobs guaranteed at the same start
	nodes      int32
	window     int32 // first of the windows that the job should look at
	estimate   grid.Duration
}

func unplaced(q *Queued) place {
	return place{start: none, end: none, nodes: int32(q.Nodes), window: none, estimate: q.Estimate}
}

// arrive makes room for job i of the line, which has no guarantee yet.
func (t *timeline) arrive(i int, q *Queued) {
	if n := len(t.places); i < n {
		t.places = slices.Insert(t.places, i, unplaced(q))
		t.reach()
		for k := n; k > i; k-- {
			t.copyMark(int32(k), int32(k-1))
		}
		t.unmark(int32(i))
		t.relink()
		for _, list := range [][]window{t.windows, t.loose} {
			for k := range list {
				if list[k].opener >= int32(i) {
					list[k].opener++ // the opener has moved back by one
				}
			}
		}
		return
	}
	t.places = append(t.places, unplaced(q))
	t.reach()
}

// compact drops the same entries as the call of line.compact that follows.
func (t *timeline) compact(jobs []Queued, head int) {
	out := 0
	for i := head; i < len(jobs); i++ {
		if jobs[i].Nodes != gone {
			t.places[out] = t.places[i]
			t.copyMark(int32(out), int32(i))
			out++
		}
	}
	for i := out; i < len(jobs); i++ {
		t.unmark(int32(i))
	}
	t.places = t.places[:out]
	t.relink()
}

// relink lists the jobs at their instants again, by their new indices.
func (t *timeline) relink() {
	t.sorted = 0
	for k := t.list[wall].next; k != tail; k = t.list[k].next {
		t.list[k].starts = none
	}
	for i := range t.places {
		if p := &t.places[i]; p.start != none {
			t.enter(int32(i), p.start)
		}
	}
	t.forgetHints()
}
