package backfill

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// plainCandidate is candidate by a look at each job.
func plainCandidate(t *timeline, w *window, long grid.Duration, a, b int32) int32 {
	for i := a; i <= b && int(i) < len(t.places); i++ {
		p := &t.places[i]
		if p.start != none && p.nodes > w.low && p.nodes <= w.high && p.estimate <= long && w.from.Add(p.estimate) <= t.list[p.start].at {
			return i
		}
	}
	return none
}

// plainWithin is within by a look at all instants from each start on.
func plainWithin(t *timeline, i int32, w *window, first int32) int32 {
	p := &t.places[i]
	last := min(w.to, t.list[p.start].at).Add(-p.estimate)
	if first != none {
		last = min(last, t.list[first].at-1)
	}
	for k := present; w.from <= last && t.list[k].at <= last; k = t.list[k].next {
		if next := t.list[k].next; t.list[next].at <= w.from {
			continue
		}
		least := t.list[k].free
		for x := k; t.list[x].at < t.list[k].at.Add(p.estimate); x = t.list[x].next {
			least = min(least, t.list[x].free)
		}
		if least >= p.nodes {
			return k
		}
	}
	return none
}

// The room that a job finds in a window is the first in which it is over by its guarantee.
func TestWithin_IsTheFirstRoom(t *testing.T) {
	t.Parallel()
	found, without := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 6))
		g := New(64, Conservative, 0)
		for id := range int64(20 + r.IntN(100)) {
			g.Arrive(Queued{ID: id, Nodes: drawNodes(r), Estimate: drawEstimate(r)})
		}
		g.Pass()
		x := &g.time
		var instants []int32
		for k := present; k != tail; k = x.list[k].next {
			instants = append(instants, k)
		}
		for range 30 { // room is left
			a := r.IntN(len(instants))
			for _, k := range instants[a:min(len(instants), a+1+r.IntN(6))] {
				x.list[k].free += int32(r.IntN(9))
			}
		}
		for range 300 {
			i := int32(r.IntN(len(x.places)))
			if x.places[i].start == none {
				continue
			}
			near := instants[r.IntN(len(instants))]
			w := window{from: x.list[near].at.Add(grid.Duration(r.IntN(3)-1) * grid.Minute * grid.Duration(r.IntN(50))), near: near}
			w.to = w.from.Add(grid.Duration(r.IntN(5000)) * grid.Minute)
			first := int32(none)
			if r.IntN(3) == 0 {
				first = instants[r.IntN(len(instants))]
			}
			want := plainWithin(x, i, &w, first)
			if want == none {
				without++
			} else {
				found++
			}
			if got := x.within(i, &w, first); got != want {
				t.Fatalf("seed %d: job %d has room in %+v at instant %d, want %d", seed, i, w, got, want)
			}
		}
	}
	if found < 500 || without < 500 {
		t.Errorf("found %d, without room %d", found, without)
	}
}

// Whoever moves up, leaves or comes behind after the jobs were sorted: the candidate for a
// window is the first in the queue.
func TestCandidate_IsTheFirstWhoCouldUseTheWindow(t *testing.T) {
	t.Parallel()
	found, without := 0, 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 5))
		g := New(64, Conservative, 0)
		ids := int64(0)
		arrive := func(n int) {
			for range n {
				ids++
				nodes := drawNodes(r)
				if seed%2 > 0 { // a row of many
					nodes = 8 + r.IntN(8)
				}
				g.Arrive(Queued{ID: ids, Nodes: nodes, Estimate: drawEstimate(r), Submit: g.now})
			}
		}
		arrive(1500)
		for g.Pass(); len(g.running.list()) > 0 && g.line.len() > 1200; g.Pass() {
			g.Advance(min(g.now.Add(grid.Hour), g.running.list()[0].End, g.Next()))
			for len(g.running.list()) > 0 && g.running.list()[0].End <= g.now {
				g.End(g.running.list()[0].ID, g.running.list()[0].End)
			}
			if n := len(g.running.list()); n > 0 {
				early := g.running.list()[r.IntN(n)]
				g.End(early.ID, early.End)
			}
			arrive(r.IntN(3))
			g.Pass()
			x := &g.time
			if x.sorted < len(x.places) {
				continue
			}
			for range 300 {
				w := window{from: g.now.Add(grid.Duration(r.Int64N(int64(20 * grid.Day)))), low: int32(r.IntN(40))}
				w.high = w.low + 1 + int32(r.IntN(24))
				long := grid.Duration(r.IntN(1300)) * grid.Minute
				a := int32(r.IntN(len(x.places)))
				b := a + int32(r.IntN(len(x.places)))
				want := plainCandidate(x, &w, long, a, b)
				if want == none {
					without++
				} else {
					found++
				}
				if !x.anybody(&w, long) && want != none {
					t.Fatalf("seed %d, at %v: nobody could use %+v, for %v, but job %d", seed, g.now, w, long, want)
				}
				if got := x.candidate(&w, long, a, b); got != want {
					t.Fatalf("seed %d, at %v: %d of [%d, %d] could use %+v, for %v; want %d", seed, g.now, got, a, b, w, long, want)
				}
			}
		}
	}
	if found < 1000 || without < 1000 {
		t.Errorf("found %d, without anybody %d", found, without)
	}
}

// oneRunsOneWaits is a machine of 4 nodes with job 1 on all of them until 10, and job 2 guaranteed to
// start then; both are sorted by their nodes.
func oneRunsOneWaits() *Group {
	g := New(4, Conservative, 0)
	g.Arrive(job(1, 4, 10))
	g.Arrive(job(2, 4, 10))
	g.Pass()
	g.time.sort(4)
	return g
}

// Job 2 is guaranteed to start at 10 and takes 10: in a window from 0 it would be over just
// as its guarantee starts, and is the candidate. For a window from 1 ms on nobody is.
func TestCandidate_MayEndJustAsItsGuaranteeStarts(t *testing.T) {
	t.Parallel()
	g := oneRunsOneWaits()
	x := &g.time
	i := int32(len(x.places) - 1)
	p := &x.places[i]
	w := window{from: x.list[p.start].at.Add(-p.estimate), low: 0, high: 4}
	if w.from != 0 {
		t.Fatalf("job 2 could start at %v at the latest, want 0", w.from)
	}
	if got := x.candidate(&w, p.estimate, 0, i); got != i {
		t.Errorf("%d could use a window from 0, want %d", got, i)
	}
	w.from++
	if got := x.candidate(&w, p.estimate, 0, i); got != none {
		t.Errorf("%d could use a window from 1 ms on, want nobody", got)
	}
}

// A job behind all sorted ones is sorted too; a job that is placed again is not there twice.
func TestFile_WhoIsPlacedAnewIsNotThereTwice(t *testing.T) {
	t.Parallel()
	g := oneRunsOneWaits()
	x := &g.time
	g.Arrive(job(3, 4, 10))
	g.Pass()
	if x.sorted != 3 {
		t.Errorf("%d are sorted, want 3", x.sorted)
	}
	x.cancel(2)
	if g.place(2); x.sorted != 0 {
		t.Errorf("%d are sorted, with job 3 twice", x.sorted)
	}
}
