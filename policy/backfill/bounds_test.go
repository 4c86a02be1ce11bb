package backfill

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse"
)

// plainly compresses without bounds: every search begins at the opening.
func plainly(g *Group) []bourse.Time {
	var v []bourse.Time
	work := g.work.Clone()
	for _, q := range g.line.jobs[g.line.head:] {
		if q.Nodes == gone {
			continue
		}
		at := earlier(work, g.now, q.Nodes, q.Estimate, q.Guarantee)
		work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
		work.Add(at, at.Add(q.Estimate), -q.Nodes)
		v = append(v, at)
	}
	return v
}

// What was found impossible within a compression is so: searches that leave it
// out come to the same guarantees.
func TestCompress_BoundsChangeNothing(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 2, 4, 7, 8, 13, 16, 24, 32, 40, 64}
	minutes := []int{5, 20, 50, 90, 200, 300, 500, 800, 1200}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := New(64, Conservative, 0)
		for id := range 10 + r.IntN(80) {
			g.Arrive(Queued{ID: int64(id), Nodes: sizes[r.IntN(len(sizes))],
				Estimate: bourse.Duration(minutes[r.IntN(len(minutes))]) * bourse.Minute})
		}
		for g.Pass(); len(g.running) > 0; g.Pass() {
			later := g.now.Add(bourse.Duration(r.IntN(300)) * bourse.Minute)
			g.Advance(min(later, g.running[0].End, g.Next()))
			for len(g.running) > 0 && g.running[0].End <= g.now {
				g.End(g.running[0].ID, g.running[0].End)
			}
			if n := len(g.running); n > 0 {
				early := g.running[r.IntN(n)]
				g.End(early.ID, early.End)
			}
			if !g.again {
				continue // nothing came free before its time
			}
			want := plainly(g)
			g.again = false
			g.compress(true)
			var got []bourse.Time
			for _, q := range g.State().Queue {
				got = append(got, q.Guarantee)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, at %v: guaranteed %v, want %v", seed, g.now, got, want)
			}
		}
	}
}
