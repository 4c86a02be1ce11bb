// Package backfilltest plans a queue in the simplest possible way. Tests compare the faster
// plans of backfill and pricing with it. Only tests import it.
package backfilltest

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Plan returns the planned start of every queued job of s, in queue order. It takes
// estimates as runtimes, assumes no further arrivals and keeps reservations.
//
// It runs a pass at s.Now and at every later instant at which something ends: a running job
// by its estimate, a reservation, or a job planned here. Each is the pass of
// backfill.Group: in queue order a job starts if it fits from that instant on, beside the
// holds of the blocked jobs before it; the first Policy.Reserve blocked jobs hold their
// earliest fit; once they do, the rest goes by Policy.Turn; under FCFS the first blocked job
// ends the pass.
//
// Under the conservative policy the planned starts are the guarantees. Jobs without one get
// their earliest fit beside all guarantees, in queue order.
//
// A job that can never start, as it needs more nodes than ever come free, gets Never. Plan
// changes nothing and shares nothing with s. It costs a walk over the queue and the profile
// for every end.
func Plan(s *backfill.State) []grid.Time {
	if s.Policy.Conservative() {
		return guarantees(s)
	}
	free := s.Free.Clone()
	starts := make([]grid.Time, len(s.Queue))
	for i := range starts {
		starts[i] = grid.Never
	}
	for t := s.Now; t < grid.Never; t = nextEnd(s, starts, t) {
		free.From(t)
		planPass(s, free.Clone(), starts, t, func(q backfill.Queued) { free.Add(t, t.Add(q.Estimate), -q.Nodes) })
	}
	return starts
}

// planPass runs one pass at t over the jobs without a start. work is a copy of the free
// profile that it uses up for holds; take is called for each start.
func planPass(s *backfill.State, work grid.Profile, starts []grid.Time, t grid.Time, take func(backfill.Queued)) {
	var left []int
	for i := range s.Queue {
		if starts[i] == grid.Never {
			left = append(left, i)
		}
	}
	turn, holds := s.Policy.Turn(), 0
	for k := range left {
		if turn != nil && holds == s.Policy.Reserve {
			slices.SortStableFunc(left[k:], func(x, y int) int { return cmp.Compare(turn(&s.Queue[x]), turn(&s.Queue[y])) })
			turn = nil
		}
		i := left[k]
		q := s.Queue[i]
		at := work.EarliestFit(t, q.Nodes, q.Estimate)
		switch {
		case at == t:
			starts[i] = t
			take(q)
		case !s.Policy.Backfills():
			return
		case holds == s.Policy.Reserve:
			continue // blocked, and the policy allows no more holds
		default:
			holds++
		}
		if at < grid.Never {
			work.Add(at, at.Add(q.Estimate), -q.Nodes)
		}
	}
}

// nextEnd returns the first instant after t at which a running job, a reservation or a
// planned job ends, or Never.
func nextEnd(s *backfill.State, starts []grid.Time, t grid.Time) grid.Time {
	next := grid.Never
	consider := func(end grid.Time) {
		if end > t {
			next = min(next, end)
		}
	}
	for _, r := range s.Running {
		consider(r.End)
	}
	for _, r := range s.Reserved {
		consider(r.End)
	}
	for i, q := range s.Queue {
		if starts[i] < grid.Never {
			consider(starts[i].Add(q.Estimate))
		}
	}
	return next
}

// guarantees is the plan of the conservative policy.
func guarantees(s *backfill.State) []grid.Time {
	work := s.Free.Clone()
	starts := make([]grid.Time, len(s.Queue))
	for i, q := range s.Queue {
		if starts[i] = q.Guarantee; q.Guarantee < grid.Never {
			work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
		}
	}
	for i, q := range s.Queue {
		if q.Guarantee < grid.Never {
			continue
		}
		if starts[i] = work.EarliestFit(s.Now, q.Nodes, q.Estimate); starts[i] < grid.Never {
			work.Add(starts[i], starts[i].Add(q.Estimate), -q.Nodes)
		}
	}
	return starts
}
