package backfill

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Clone returns a copy that shares nothing with s and outlives its group.
func (s *State) Clone() State {
	c := *s
	c.Free = s.Free.Clone()
	c.Sure = s.Sure.Clone()
	c.Running = slices.Clone(s.Running)
	c.Reserved = slices.Clone(s.Reserved)
	c.Queue = slices.Clone(s.Queue)
	return c
}

// Audit checks the invariants of every state and returns the first violation. At no instant
// from now on are more nodes taken than there are, the free profiles equal what running
// jobs and reservations leave, the lists are in order, and guarantees fit beside each
// other. It costs a rebuild of the profiles and is meant for tests.
func (s *State) Audit() error {
	if err := s.auditOrder(); err != nil {
		return err
	}
	free, sure := grid.NewProfile(s.Now, s.Nodes), grid.NewProfile(s.Now, s.Nodes)
	for _, r := range s.Running {
		free.Add(s.Now, r.End, -r.Nodes)
		sure.Add(s.Now, r.Last(), -r.Nodes)
	}
	for _, r := range s.Reserved {
		free.Add(max(s.Now, r.Start), r.End, -r.Nodes)
		sure.Add(max(s.Now, r.Start), r.End, -r.Nodes)
	}
	if s.Sure != nil && !slices.Equal(sure, s.Sure) {
		return fmt.Errorf("surely free nodes %v, the limits of running jobs and reservations leave %v", s.Sure, sure)
	}
	if !slices.Equal(free, s.Free) {
		return fmt.Errorf("free nodes %v, running jobs and reservations leave %v", s.Free, free)
	}
	for _, step := range sure {
		if step.Free < 0 {
			return fmt.Errorf("%d nodes too many are taken at %v", -step.Free, step.At)
		}
	}
	if !s.Policy.Conservative() {
		return nil
	}
	for _, q := range s.Queue {
		if q.Guarantee == grid.Never {
			continue
		}
		if q.Guarantee < s.Now || free.Min(q.Guarantee, q.Guarantee.Add(q.Estimate)) < q.Nodes {
			return fmt.Errorf("job %d cannot start as guaranteed at %v", q.ID, q.Guarantee)
		}
		free.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
	}
	return nil
}

func (s *State) auditOrder() error {
	for i, r := range s.Running {
		if r.End <= s.Now {
			return fmt.Errorf("job %d still runs at %v, planned to end at %v", r.ID, s.Now, r.End)
		}
		if i > 0 && cmp.Or(cmp.Compare(s.Running[i-1].End, r.End), cmp.Compare(s.Running[i-1].ID, r.ID)) >= 0 {
			return fmt.Errorf("running jobs %d and %d are out of order", s.Running[i-1].ID, r.ID)
		}
	}
	for i, r := range s.Reserved {
		if r.End <= s.Now {
			return fmt.Errorf("reservation %d is still there at %v, its end was %v", r.ID, s.Now, r.End)
		}
		if i > 0 && compareReserved(s.Reserved[i-1], r) >= 0 {
			return fmt.Errorf("reservations %d and %d are out of order", s.Reserved[i-1].ID, r.ID)
		}
	}
	for i, q := range s.Queue {
		if i > 0 && s.Queue[i-1].Priority < q.Priority {
			return fmt.Errorf("queued jobs %d and %d are out of order", s.Queue[i-1].ID, q.ID)
		}
		if i > 0 && s.Queue[i-1].Priority == q.Priority && s.Queue[i-1].Score > q.Score {
			return fmt.Errorf("queued job %d, whose score is less, is behind %d", q.ID, s.Queue[i-1].ID)
		}
		if q.Nodes < 1 || q.Nodes > s.Nodes {
			return fmt.Errorf("queued job %d wants %d of %d nodes", q.ID, q.Nodes, s.Nodes)
		}
	}
	return nil
}
