package pricing

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// The naive twin: every price is computed by planning the whole queue anew.

// naivePlan is the planned start of every queued job of s, read straight off
// the rules: passes at every instant at which anything starts or ends.
func naivePlan(s *backfill.State) []grid.Time {
	starts := make([]grid.Time, len(s.Queue))
	for i := range starts {
		starts[i] = grid.Never
	}
	free := s.Free.Clone()
	if s.Policy.Conservative() {
		naivePlace(s, free, starts)
		return starts
	}
	for t := s.Now; t < grid.Never; {
		work, holds := free.Clone(), 0
		next := grid.Never
		for _, i := range inTurn(s, starts, work, t) {
			q := s.Queue[i]
			at := work.EarliestFit(t, q.Nodes, q.Estimate)
			if at == t {
				starts[i] = t
				free.Add(t, t.Add(q.Estimate), -q.Nodes)
				work.Add(t, t.Add(q.Estimate), -q.Nodes)
				continue
			}
			if !s.Policy.Backfills() {
				break
			}
			if holds == s.Policy.Reserve {
				continue
			}
			holds++
			if at < grid.Never {
				work.Add(at, at.Add(q.Estimate), -q.Nodes)
				next = min(next, at)
			}
		}
		for _, p := range []grid.Profile{free, work} {
			for _, step := range p {
				if step.At > t {
					next = min(next, step.At)
				}
			}
		}
		t = next
	}
	return starts
}

// inTurn lists the jobs without a start in the order in which a pass at t asks them: that of
// the queue, and from the place at which as many hold as may, that of backfilling.
func inTurn(s *backfill.State, starts []grid.Time, work grid.Profile, t grid.Time) (list []int) {
	for i := range s.Queue {
		if starts[i] == grid.Never {
			list = append(list, i)
		}
	}
	turn := s.Policy.Turn()
	if turn == nil {
		return list
	}
	work = work.Clone()
	heads := 0
	for holds := 0; heads < len(list) && holds < s.Policy.Reserve; heads++ {
		q := s.Queue[list[heads]]
		at := work.EarliestFit(t, q.Nodes, q.Estimate)
		if at > t {
			holds++
		}
		if at < grid.Never {
			work.Add(at, at.Add(q.Estimate), -q.Nodes)
		}
	}
	slices.SortStableFunc(list[heads:], func(x, y int) int { return cmp.Compare(turn(&s.Queue[x]), turn(&s.Queue[y])) })
	return list
}

// naivePlace walks over the guaranteed jobs in queue order: what fits stays, what
// does not is placed at once. The jobs without a guarantee follow.
func naivePlace(s *backfill.State, free grid.Profile, starts []grid.Time) {
	place := func(i int, at grid.Time) {
		if starts[i] = at; at < grid.Never {
			free.Add(at, at.Add(s.Queue[i].Estimate), -s.Queue[i].Nodes)
		}
	}
	guaranteed := func(q backfill.Queued) bool { return q.Guarantee >= s.Now && q.Guarantee < grid.Never }
	for i, q := range s.Queue {
		switch {
		case !guaranteed(q):
		case free.Min(q.Guarantee, q.Guarantee.Add(q.Estimate)) >= q.Nodes:
			place(i, q.Guarantee)
		default:
			place(i, free.EarliestFit(s.Now, q.Nodes, q.Estimate))
		}
	}
	for i, q := range s.Queue {
		if !guaranteed(q) {
			place(i, free.EarliestFit(s.Now, q.Nodes, q.Estimate))
		}
	}
}

// with is s with one reservation more.
func with(s *backfill.State, start grid.Time, n int, d grid.Duration) *backfill.State {
	t := *s
	t.Free = s.Free.Clone()
	t.Free.Add(start, start.Add(d), -n)
	t.Reserved = append(slices.Clone(s.Reserved), backfill.Reserved{ID: 1 << 40, Nodes: n, Start: start, End: start.Add(d)})
	slices.SortStableFunc(t.Reserved, func(x, y backfill.Reserved) int { return int(x.Start - y.Start) })
	return &t
}

// naiveHarm is the price of a reservation by the definition.
func naiveHarm(s *backfill.State, v []grid.Time, start grid.Time, n int, d grid.Duration) (grid.Duration, []grid.Delay, bool) {
	if start < s.Now || s.Free.Min(start, start.Add(d)) < n {
		return 0, nil, false
	}
	sum := new(big.Int)
	var delays []grid.Delay
	for i, at := range naivePlan(with(s, start, n, d)) {
		if q := s.Queue[i]; at > v[i] {
			x := big.NewInt(int64(at - v[i]))
			x.Mul(x, big.NewInt(int64(q.Nodes)))
			sum.Add(sum, x.Mul(x, big.NewInt(q.Weight)))
			delays = append(delays, grid.Delay{Job: q.ID, By: at.Sub(v[i]), Nodes: q.Nodes})
		}
	}
	sum.Add(sum, big.NewInt(999)).Div(sum, big.NewInt(1000))
	if !sum.IsInt64() {
		return 1<<63 - 1, delays, true
	}
	return grid.Duration(sum.Int64()), delays, true
}

// naiveInstants are the start times to offer.
func naiveInstants(s *backfill.State, v []grid.Time) (list []grid.Time) {
	list = append(list, s.Now)
	for _, r := range s.Running {
		list = append(list, r.Start, r.End)
	}
	for _, r := range s.Reserved {
		list = append(list, r.Start, r.End)
	}
	for i, q := range s.Queue {
		if v[i] < grid.Never {
			list = append(list, v[i], v[i].Add(q.Estimate))
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(t grid.Time) bool { return t < s.Now })
}
