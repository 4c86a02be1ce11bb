package backfill

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse"
)

// plainly compresses by looking at every job, each from the opening of a profile on.
func plainly(g *Group) []bourse.Time {
	var v []bourse.Time
	work := g.free.Clone()
	for _, q := range g.line.jobs[g.line.head:] {
		if q.Nodes != gone && q.Guarantee < bourse.Never {
			work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
		}
	}
	for _, q := range g.line.jobs[g.line.head:] {
		if q.Nodes == gone {
			continue
		}
		work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
		at := work.EarliestFit(g.now, q.Nodes, q.Estimate)
		work.Add(at, at.Add(q.Estimate), -q.Nodes)
		v = append(v, at)
	}
	return v
}

// Who is not marked cannot move: a compression of those who are comes to the same
// guarantees.
func TestCompress_MarksChangeNothing(t *testing.T) {
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
		for g.Pass(); len(g.running.list()) > 0; g.Pass() {
			later := g.now.Add(bourse.Duration(r.IntN(300)) * bourse.Minute)
			g.Advance(min(later, g.running.list()[0].End, g.Next()))
			for len(g.running.list()) > 0 && g.running.list()[0].End <= g.now {
				g.End(g.running.list()[0].ID, g.running.list()[0].End)
			}
			if n := len(g.running.list()); n > 0 {
				early := g.running.list()[r.IntN(n)]
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
			if err := auditTimeline(g); err != nil {
				t.Fatalf("seed %d, at %v: %v", seed, g.now, err)
			}
		}
	}
}

// auditTimeline compares the timeline of g with a profile made anew: its levels, the
// places of the guarantees, and that nobody could move up who is not marked.
func auditTimeline(g *Group) error {
	t, work := &g.time, g.free.Clone()
	for i, q := range g.line.jobs {
		if q.Nodes == gone || q.Guarantee == bourse.Never {
			continue
		}
		full := q.Guarantee.Add(q.Estimate)
		work.Add(q.Guarantee, full, -q.Nodes)
		if p := &t.places[i]; t.list[p.start].at != q.Guarantee || t.list[p.end].at != full {
			return fmt.Errorf("job %d is guaranteed [%v, %v), its place is [%v, %v)", q.ID, q.Guarantee, full, t.list[p.start].at, t.list[p.end].at)
		}
	}
	instants := map[bourse.Time]bool{}
	for k := t.list[wall].next; k != tail; k = t.list[k].next {
		x := &t.list[k]
		if x.at >= t.list[x.next].at || t.list[x.next].prev != k {
			return fmt.Errorf("the instant %v is before %v", x.at, t.list[x.next].at)
		}
		if n := work.At(x.at); n != int(x.free) {
			return fmt.Errorf("%d nodes are free at %v, not %d", n, x.at, x.free)
		}
		instants[x.at] = true
	}
	for _, s := range work {
		if !instants[s.At] {
			return fmt.Errorf("%v is no instant", s.At)
		}
	}
	if t.all || len(t.zones) > 0 {
		return nil
	}
	for i, q := range g.line.jobs {
		if q.Nodes == gone || q.Guarantee == bourse.Never || t.marked(int32(i)) == int32(i) {
			continue
		}
		work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
		if at := work.EarliestFit(g.now, q.Nodes, q.Estimate); at < q.Guarantee {
			return fmt.Errorf("job %d of %d nodes for %v is guaranteed %v, could start at %v and is not marked", q.ID, q.Nodes, q.Estimate, q.Guarantee, at)
		}
		work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
	}
	return nil
}
