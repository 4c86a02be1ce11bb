package pricing

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// policies under test.
var policies = []backfill.Policy{
	backfill.EASY, backfill.Conservative, backfill.FirstFit, backfill.FCFS,
	backfill.Reserving(2), backfill.Reserving(5),
	backfill.EASYShortest, named("reserve=3-sjbf"), named("first-fit backfill_order=nodes"), named("easy order=wfp3 backfill_order=saf"),
}

func named(name string) backfill.Policy {
	p, err := backfill.ParsePolicy(name)
	if err != nil {
		panic(err)
	}
	return p
}

// randomState draws a state. Small numbers of nodes and instants make ties and
// coincidences frequent; jobs bounds the queue.
func randomState(r *rand.Rand, policy backfill.Policy, nodes, jobs int, span int64) *backfill.State {
	unit := int64(1)
	if r.IntN(3) == 0 {
		unit = 1000
	}
	when := func(max int64) grid.Duration { return grid.Duration((1 + r.Int64N(max)) * unit) }
	s := &backfill.State{Now: grid.Time(r.Int64N(50)), Nodes: nodes, Policy: policy}
	s.Free = grid.NewProfile(s.Now, nodes)
	for i := range r.IntN(2 + nodes/2) {
		n := 1 + r.IntN(nodes)
		if s.Free.At(s.Now) < n {
			continue
		}
		e := s.Now.Add(when(span))
		s.Free.Add(s.Now, e, -n)
		s.Running = append(s.Running, backfill.Running{ID: int64(100 + i), Nodes: n, Start: s.Now - 1, End: e})
	}
	for i := range r.IntN(5) {
		n, at, d := 1+r.IntN(nodes), s.Now.Add(when(2*span)), when(span)
		if at = s.Free.EarliestFit(at, n, d); at < grid.Never {
			s.Free.Add(at, at.Add(d), -n)
			s.Reserved = append(s.Reserved, backfill.Reserved{ID: int64(200 + i), Nodes: n, Start: at, End: at.Add(d)})
		}
	}
	slices.SortStableFunc(s.Running, func(x, y backfill.Running) int { return cmp.Compare(x.End, y.End) })
	slices.SortStableFunc(s.Reserved, func(x, y backfill.Reserved) int { return cmp.Compare(x.Start, y.Start) })
	weights := []int64{1000, 1000, 1000, 500, 2500, 1, 333}
	for i := range r.IntN(jobs + 1) {
		s.Queue = append(s.Queue, backfill.Queued{
			ID: int64(i), Nodes: 1 + r.IntN(nodes), Estimate: when(span), Submit: s.Now - 1,
			Priority: r.IntN(3), Weight: weights[r.IntN(len(weights))], Guarantee: grid.Never,
			Turn: uint64(i*7) % 5, // as a formula may have it
		})
		if r.IntN(2) == 0 {
			q := &s.Queue[i]
			q.Nodes = 1 + r.IntN(max(1, nodes/4))
		}
	}
	slices.SortStableFunc(s.Queue, func(x, y backfill.Queued) int { return cmp.Compare(y.Priority, x.Priority) })
	if policy.Conservative() && r.IntN(3) > 0 {
		guarantee(r, s)
	}
	return s
}

// guarantee gives the jobs of a conservative queue their guaranteed starts, but for
// some that have just arrived; then something ends early and the queue is
// compressed, or not yet.
func guarantee(r *rand.Rand, s *backfill.State) {
	v := naivePlan(s)
	keep := r.IntN(len(s.Queue) + 1)
	for i := range keep {
		s.Queue[i].Guarantee = v[i]
	}
	if len(s.Running) > 0 && r.IntN(2) == 0 {
		gone := s.Running[0]
		s.Running = s.Running[1:]
		s.Free.Add(s.Now, gone.End, gone.Nodes)
		compress(s, keep)
	}
}

// compress places the first keep jobs again, in queue order, each never later
// than guaranteed.
func compress(s *backfill.State, keep int) {
	free := s.Free.Clone()
	for _, q := range s.Queue[:keep] {
		if q.Guarantee < grid.Never {
			free.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
		}
	}
	for i := range s.Queue[:keep] {
		q := &s.Queue[i]
		if q.Guarantee < grid.Never {
			free.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
			q.Guarantee = min(q.Guarantee, free.EarliestFit(s.Now, q.Nodes, q.Estimate))
			free.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
		}
	}
}

// figure1 is the layout of figure 1 of Singh, Kesselman and Deelman.
func figure1(p backfill.Policy) *backfill.State {
	free := grid.NewProfile(0, 5)
	free.Add(0, 2000, -4)
	free.Add(0, 3000, -1)
	free.Add(4000, 6000, -1)
	return &backfill.State{
		Nodes: 5, Policy: p, Free: free,
		Running:  []backfill.Running{{ID: 1, Nodes: 4, End: 2000}, {ID: 2, Nodes: 1, End: 3000}},
		Reserved: []backfill.Reserved{{ID: 9, Nodes: 1, Start: 4000, End: 6000}},
		Queue: []backfill.Queued{
			{ID: 3, Nodes: 2, Estimate: 5 * grid.Second, Weight: 1000, Guarantee: grid.Never},
			{ID: 4, Nodes: 2, Estimate: 3 * grid.Second, Weight: 1000, Guarantee: grid.Never},
		},
	}
}
