package backfill

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// plainly compresses by looking at every job, each from where a profile begins.
func plainly(g *Group) []grid.Time {
	var v []grid.Time
	work := g.free().Clone()
	for _, q := range g.line.jobs[g.line.head:] {
		if q.Nodes != gone && q.Guarantee < grid.Never {
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

// Jobs that are not marked cannot move: compressing only the marked ones gives the same
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
				Estimate: grid.Duration(minutes[r.IntN(len(minutes))]) * grid.Minute})
		}
		for g.Pass(); len(g.running.list()) > 0; g.Pass() {
			later := g.now.Add(grid.Duration(r.IntN(300)) * grid.Minute)
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
			var got []grid.Time
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

// A long queue through arrivals, early ends, cancellations and reservations: after each the
// guarantees are those of a plain walk over a profile.
func TestGroup_LongQueuesAreThoseOfPlainWalks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 2))
		scale := []int{1, 8}[seed%2] // also jobs larger than the largest that hints tell apart
		g := New(64*scale, Conservative, 0)
		g.time.worth = []int{0, worthMarks}[r.IntN(2)]
		ids := int64(0)
		arrive := func() {
			ids++
			priority := r.IntN(30) / 29
			if seed%4 > 1 { // most come in between
				priority = r.IntN(20)
			}
			g.Arrive(Queued{ID: ids, Nodes: drawNodes(r) * scale, Estimate: drawEstimate(r), Submit: g.now, Priority: priority})
		}
		for range 60 + r.IntN(200) {
			arrive()
		}
		for step := range 150 {
			if g.Pass(); len(g.running.list()) == 0 {
				break
			}
			if err := auditTimeline(g); err != nil {
				t.Fatalf("seed %d, step %d, at %v, after a pass: %v", seed, step, g.now, err)
			}
			later := g.now.Add(grid.Duration(r.IntN(200)) * grid.Minute)
			g.State()
			g.Advance(min(later, g.running.list()[0].End, g.Next()))
			twin, freed := g.State().Clone(), false
			switch k := r.IntN(8); {
			case k < 3:
				many := 3
				if seed%4 > 1 && len(twin.Queue) < 150 {
					many = 40
				}
				for range 1 + r.IntN(many) {
					arrive()
					twin.Queue = append(twin.Queue, g.line.jobs[slices.IndexFunc(g.line.jobs, func(q Queued) bool { return q.ID == ids })])
				}
				slices.SortStableFunc(twin.Queue, func(x, y Queued) int { return y.Priority - x.Priority })
			case k == 3:
				x := Reserved{ID: int64(step), Nodes: drawNodes(r) * scale, Start: g.now.Add(grid.Duration(r.IntN(2000)) * grid.Minute)}
				x.End = x.Start.Add(drawEstimate(r))
				if !g.Reserve(x).Refused() {
					twin.Reserve(x)
				}
			case k == 4 && len(twin.Queue) > 0:
				i := r.IntN(len(twin.Queue))
				g.Cancel(twin.Queue[i].ID)
				twin.Queue, freed = slices.Delete(twin.Queue, i, i+1), true
			case k == 5 && len(twin.Reserved) > 0:
				x := twin.Reserved[r.IntN(len(twin.Reserved))]
				g.Release(x.ID)
				twin.Free.Add(max(g.now, x.Start), x.End, x.Nodes)
				freed = true
			default:
				x := g.running.list()[r.IntN(len(g.running.list()))]
				g.End(x.ID, x.End)
				twin.Free.Add(g.now, x.End, x.Nodes)
				freed = x.End > g.now
			}
			for len(g.running.list()) > 0 && g.running.list()[0].End <= g.now {
				g.End(g.running.list()[0].ID, g.running.list()[0].End)
			}
			settlePlainly(&twin, freed)
			if got := g.State().Queue; !slices.Equal(got, twin.Queue) {
				t.Fatalf("seed %d, step %d, at %v:\n      %+v,\n want %+v", seed, step, g.now, got, twin.Queue)
			}
			if err := auditTimeline(g); err != nil {
				t.Fatalf("seed %d, step %d, at %v: %v", seed, step, g.now, err)
			}
		}
	}
}

func drawNodes(r *rand.Rand) int { return []int{1, 2, 4, 7, 8, 13, 16, 24, 32, 40, 64}[r.IntN(11)] }

func drawEstimate(r *rand.Rand) grid.Duration {
	return grid.Duration([]int{5, 20, 50, 90, 200, 300, 500, 800, 1200}[r.IntN(9)]) * grid.Minute
}

// settlePlainly compresses the guarantees of s if something came free, and gives those that
// have none theirs.
func settlePlainly(s *State, freed bool) {
	work := s.Free.Clone()
	for _, q := range s.Queue {
		if q.Guarantee < grid.Never {
			work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
		}
	}
	for _, fresh := range []bool{false, true} {
		for i := range s.Queue {
			q := &s.Queue[i]
			if (q.Guarantee == grid.Never) != fresh || !fresh && !freed {
				continue
			}
			if !fresh {
				work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
			}
			q.Guarantee = work.EarliestFit(s.Now, q.Nodes, q.Estimate)
			work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
		}
	}
}

// auditTimeline compares the timeline of g with a profile made anew: its levels, the
// places of the guarantees, that who has left the queue has none and no window, and that
// nobody could move up who is not marked or behind one who has the window that it could
// move to.
func auditTimeline(g *Group) error {
	t, work := &g.time, g.free().Clone()
	for i, q := range g.line.jobs {
		if p := &t.places[i]; q.Nodes == gone && (p.start != none || p.window != none || t.marked(int32(i)) == int32(i)) {
			return fmt.Errorf("job %d has left the queue, and has a place, a window or a mark", q.ID)
		}
		if q.Nodes == gone || q.Guarantee == grid.Never {
			continue
		}
		full := q.Guarantee.Add(q.Estimate)
		work.Add(q.Guarantee, full, -q.Nodes)
		if p := &t.places[i]; t.list[p.start].at != q.Guarantee || t.list[p.end].at != full {
			return fmt.Errorf("job %d is guaranteed [%v, %v), its place is [%v, %v)", q.ID, q.Guarantee, full, t.list[p.start].at, t.list[p.end].at)
		}
	}
	instants := map[grid.Time]bool{}
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
		if q.Nodes == gone || q.Guarantee == grid.Never || t.marked(int32(i)) == int32(i) {
			continue
		}
		work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
		if at := work.EarliestFit(g.now, q.Nodes, q.Estimate); at < q.Guarantee && !waitsForWindow(t, int32(i), &q, at) {
			return fmt.Errorf("job %d of %d nodes for %v is guaranteed %v, could start at %v and is not marked", q.ID, q.Nodes, q.Estimate, q.Guarantee, at)
		}
		work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
	}
	return nil
}

// waitsForWindow reports whether a window in which q fits at that instant will come to it,
// which is job i.
func waitsForWindow(t *timeline, i int32, q *Queued, at grid.Time) bool {
	for j := range i {
		for k := t.places[j].window; k != none; k = t.windows[k].next {
			w := &t.windows[k]
			if t.marked(j) == j && int32(q.Nodes) > w.low && int32(q.Nodes) <= w.high && w.from <= at && at.Add(q.Estimate) <= w.to && (!w.again || i <= w.opener) {
				return true
			}
		}
	}
	return false
}

// Reservations that displace guarantees note what comes free a bounded number of times,
// though no early end has it looked at; what is forgotten changes no guarantee.
func TestReserve_ZonesAreBounded(t *testing.T) {
	t.Parallel()
	const nodes, jobs = 64, 100
	r := rand.New(rand.NewPCG(3, 9))
	g, plain := New(nodes, Conservative, 0), New(nodes, Conservative, 0)
	plain.time.worth = jobs + 2 // a look at each
	both := []*Group{g, plain}
	forgot := 0
	compare := func(step int) {
		if err := auditTimeline(g); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		for i := range g.line.jobs {
			if a, b := g.line.jobs[i].Guarantee, plain.line.jobs[i].Guarantee; a != b {
				t.Fatalf("step %d: job %d is guaranteed %v, by a look at each %v", step, i, a, b)
			}
		}
	}
	for i := range jobs + 1 {
		q := Queued{ID: int64(i), Nodes: 1 + r.IntN(nodes/2), Estimate: grid.Duration(1 + r.IntN(1000))}
		if i == 0 {
			q.Nodes, q.Estimate = nodes, 100_000
		}
		for _, g := range both {
			g.Arrive(q)
			g.Pass()
		}
	}
	for step := range 400 {
		x := Reserved{ID: int64(step), Nodes: 1 + r.IntN(nodes/4), Start: grid.Time(100_000 + r.IntN(20_000))}
		x.End = x.Start.Add(grid.Duration(1 + r.IntN(2000)))
		all := g.time.all
		for _, g := range both {
			g.Reserve(x)
		}
		if !all && g.time.all {
			forgot++
		}
		if n := len(g.time.zones); n > 4*len(g.time.places)+64 {
			t.Fatalf("step %d: %d zones of %d jobs", step, n, jobs)
		}
		compare(step)
	}
	for _, g := range both {
		g.Advance(50)
		g.End(0, 100_000)
		g.Pass()
	}
	compare(-1)
	if forgot == 0 {
		t.Error("there never were so many zones")
	}
}

// A reservation that never ends leaves some jobs no place at all; who comes behind them has
// one all the same.
func TestReserve_WhoNeverFitsLeavesTheOthersTheirPlaces(t *testing.T) {
	t.Parallel()
	g := New(4, Conservative, 0)
	g.Arrive(job(1, 4, 10))
	g.Pass()
	g.Arrive(job(2, 4, 10)) // guaranteed 10
	g.Arrive(job(3, 2, 5))  // guaranteed 20
	g.Arrive(job(4, 2, 5))  // beside it
	checkGuarantees(t, g, 10, 20, 20)
	if why := g.Reserve(Reserved{ID: 1, Nodes: 2, Start: 10, End: grid.Never}); why.Refused() {
		t.Fatal(why)
	}
	checkGuarantees(t, g, grid.Never, 20, 10)
	if err := auditTimeline(g); err != nil {
		t.Error(err)
	}
	at(g, 10).End(1, 10)
	if starts := g.Pass(); len(starts) != 1 || starts[0].ID != 4 {
		t.Errorf("started %v, want job 4", starts)
	}
}

// A newcomer takes room that has come free since others were placed, though one before it
// has yet to be asked: here job 2 moves up and leaves room to job 1, whose turn is over until
// something else comes free.
func TestPlace_ANewcomerFindsRoomThatAnotherIsYetToBeOffered(t *testing.T) {
	t.Parallel()
	g := New(4, Conservative, 0)
	g.time.worth = 0
	g.Arrive(job(9, 4, 20))
	g.Pass()
	for _, r := range []Reserved{{ID: 1, Nodes: 2, Start: 20, End: 100}, {ID: 2, Nodes: 2, Start: 40, End: 100}} {
		if why := g.Reserve(r); why.Refused() {
			t.Fatal(why)
		}
	}
	g.Arrive(job(1, 1, 30))
	g.Arrive(job(2, 2, 15))
	checkGuarantees(t, g, 100, 20)
	at(g, 5).End(9, 20)
	checkGuarantees(t, g, 100, 5)
	g.Arrive(job(3, 1, 30))
	checkGuarantees(t, g, 100, 5, 5)
}

// Where a prediction has been kept from room by its limit, it may move there: it is
// marked when it is placed, and when a reservation displaces it.
func TestPredict_WhoIsBehindRoomMayMoveUp(t *testing.T) {
	t.Parallel()
	limited := Queued{ID: 2, Nodes: 2, Estimate: 4, Limit: 10}
	g := New(2, Conservative, 0)
	g.Predict()
	g.time.worth = 0
	g.Reserve(Reserved{ID: 1, Nodes: 2, Start: 8, End: 20})
	g.Arrive(limited)
	checkGuarantees(t, g, 20)
	if i := g.time.marked(0); i != 0 {
		t.Errorf("placed: %d is marked", i)
	}

	g = New(2, Conservative, 0)
	g.Predict()
	g.time.worth = 0
	g.Arrive(Queued{ID: 1, Nodes: 2, Estimate: 5, Limit: 5})
	g.Pass()
	g.Arrive(limited) // guaranteed 5
	g.Pass()
	for _, r := range []Reserved{{ID: 1, Nodes: 2, Start: 14, End: 20}, {ID: 2, Nodes: 2, Start: 5, End: 10}} {
		if why := g.Reserve(r); why.Refused() {
			t.Fatal(why)
		}
	}
	checkGuarantees(t, g, 20)
	at(g, 2).End(1, 5)
	checkGuarantees(t, g, 10)
}

// Zones of which each overlaps what was joined before are one, however short the last was.
func TestJoined_WhatOverlapsIsOneZone(t *testing.T) {
	t.Parallel()
	got := joined([]zone{{30, 40, 5}, {0, 100, 1}, {10, 20, 1}, {100, 110, 2}}, 6)
	if want := []zone{{0, 100, 6}, {100, 110, 2}}; !slices.Equal(got, want) {
		t.Errorf("joined to %v, want %v", got, want)
	}
}

// Four spans to each doubling, the first for all that lies before the origin.
func TestSpan_FourToEachDoubling(t *testing.T) {
	t.Parallel()
	const unit = grid.Duration(1 << 15)
	for _, x := range []struct {
		d    grid.Duration
		span int
	}{{-unit, 0}, {0, 0}, {unit - 1, 0}, {unit, 1}, {3 * unit, 3}, {4 * unit, 4}, {7 * unit, 7}, {8 * unit, 8}, {10*unit - 1, 8}, {10 * unit, 9}, {16 * unit, 12}, {forever, spans - 1}} {
		if got := span(x.d); got != x.span {
			t.Errorf("%d is of span %d, want %d", x.d, got, x.span)
		}
	}
}
