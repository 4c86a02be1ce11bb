// Package backfill decides which jobs of a group's local queue start now, and plans when
// the others will. One algorithm and one number, how many blocked queue heads hold a
// reservation, give first fit, EASY and conservative backfilling. FCFS is the case without
// backfilling (Mu'alem and Feitelson 2001; Singh, Kesselman and Deelman, section 4).
//
// It has no clock and no randomness, and does no I/O. Its caller supplies the time and
// reports ends, arrivals and reservations.
package backfill

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Running is a job that holds nodes now.
type Running struct {
	ID    int64
	Nodes int
	Start grid.Time
	End   grid.Time // by its estimate
	Limit grid.Time // where it is killed, if its estimate is a prediction below what was requested; else 0
}

// Last is the instant by which the job has ended for sure.
func (r *Running) Last() grid.Time { return max(r.End, r.Limit) }

// Reserved is an advance reservation, held or confirmed, that has not ended.
type Reserved struct {
	ID         int64
	Nodes      int
	Start, End grid.Time
}

// Queued is a job that waits.
type Queued struct {
	ID        int64
	Nodes     int
	Estimate  grid.Duration
	Submit    grid.Time
	Priority  int       // of its queue, higher first
	Weight    int64     // delay cost of its queue, in thousandths: 1000 is 1
	Guarantee grid.Time // conservative: its guaranteed start; Never if it has none yet
	Ref       int32     // for the group's owner, returned when the job starts
	Score     uint64    // what the order of the queue sorted by at the last pass or view; 0 if by arrival
	Turn      uint64    // the same for the order of backfilling, if that is a formula's

	Limit grid.Duration // the requested time, if Estimate is a prediction below it; else 0
}

// Longest returns how long the job may run at most.
func (q *Queued) Longest() grid.Duration { return max(q.Estimate, q.Limit) }

// State is one group's queue at an instant: all that a plan or a quote needs.
type State struct {
	Now      grid.Time
	Nodes    int
	Policy   Policy
	Free     grid.Profile // Nodes less running (to their estimated ends) less reserved, from Now on
	Running  []Running    // by End, then ID
	Reserved []Reserved   // by Start, then ID
	Queue    []Queued     // in queue order: by priority, then by Score, then by arrival

	// Later and Throttles say which jobs of the queue cannot start yet; see Releases. Both are
	// nil where all may.
	Later     []Later // by Job
	Throttles []Throttle

	// Sure is Free with running jobs counted until their limits. It is nil unless estimates
	// are predictions.
	Sure grid.Profile
}

// Firm returns the nodes that can be reserved: those that no running job may still need and
// that no reservation has.
func (s *State) Firm() grid.Profile {
	if s.Sure != nil {
		return s.Sure
	}
	return s.Free
}

// Reserve does to s what Group.Reserve does to a group: it takes the nodes of r and places
// displaced guarantees of the conservative policy again, in queue order. There must be room
// for r from s.Now on, and guarantees must be up to date.
func (s *State) Reserve(r Reserved) {
	i, _ := slices.BinarySearchFunc(s.Reserved, r, compareReserved)
	s.Reserved = slices.Insert(s.Reserved, i, r)
	s.Take(r.Start, r.End, r.Nodes)
	if !s.Policy.Conservative() {
		return
	}
	work, later := s.Free.Clone(), s.Releases()
	for i := range s.Queue {
		q := &s.Queue[i]
		if later != nil && later.From(i) > s.Now {
			continue // it has no guarantee before it may start
		}
		if q.Guarantee == grid.Never || work.Min(q.Guarantee, q.Guarantee.Add(q.Estimate)) < q.Nodes {
			q.Guarantee = work.EarliestFit(s.Now, q.Nodes, q.Estimate)
		}
		if q.Guarantee < grid.Never {
			work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
		}
	}
}

// Take takes n nodes over [start, end) out of the free profiles, or gives them back if n <
// 0.
func (s *State) Take(start, end grid.Time, n int) {
	s.Free.Add(start, end, -n)
	if s.Sure != nil {
		s.Sure.Add(start, end, -n)
	}
}

// From drops the free profiles before t.
func (s *State) From(t grid.Time) {
	s.Free.From(t)
	if s.Sure != nil {
		s.Sure.From(t)
	}
}

// Queued returns the waiting work, the sum of nodes x estimate in node-milliseconds, at
// most MaxDuration. It costs one walk over the queue.
func (s *State) Queued() grid.Duration {
	sum := grid.Duration(0)
	for i := range s.Queue {
		q := &s.Queue[i]
		if int64(q.Nodes) > int64(grid.MaxDuration-sum)/int64(max(q.Estimate, 1)) {
			return grid.MaxDuration
		}
		sum += grid.Duration(q.Nodes) * q.Estimate
	}
	return sum
}
