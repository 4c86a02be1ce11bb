// Package backfill decides which jobs of a group's local queue start now, and
// plans when the others would. One algorithm and one number, how many blocked
// queue heads hold a reservation, give first fit, EASY and conservative
// backfilling; FCFS stands beside them (Mu'alem and Feitelson 2001; Singh,
// Kesselman and Deelman, section 4).
//
// It knows no clock, draws nothing and does no I/O: whoever calls it says what
// time it is and tells it of ends, arrivals and reservations.
package backfill

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// Policy says how a queue is served. The zero Policy is FCFS.
type Policy struct {
	Backfill bool // false: first come first served, nothing overtakes
	Reserve  int  // how many blocked heads hold a reservation; All for conservative
	// Shortest has the job of the shortest estimate overtake first, ties in queue order;
	// else the first that fits. Not with Conservative, and prices do not know it: a book
	// plans the queue in its order.
	Shortest bool
	// Fair has the queue be ordered by what each job's owner has had lately; see
	// Group.Rank. Not with Conservative, whose guarantees no order may change.
	Fair bool
}

// All gives every blocked job a reservation.
const All = 1 << 30

// The policies by their names.
var (
	FCFS         = Policy{}
	FirstFit     = Policy{Backfill: true}
	EASY         = Policy{Backfill: true, Reserve: 1}
	Conservative = Policy{Backfill: true, Reserve: All}

	// EASYShortest is the order of EASY++ (Tsafrir, Etsion and Feitelson 2007): a
	// baseline for replays.
	EASYShortest = Policy{Backfill: true, Reserve: 1, Shortest: true}

	// EASYFair is EASY by fair share.
	EASYFair = Policy{Backfill: true, Reserve: 1, Fair: true}
)

// Running is a job that holds nodes now.
type Running struct {
	ID    int64
	Nodes int
	Start bourse.Time
	End   bourse.Time // by its estimate
	Limit bourse.Time // where it is killed, if its estimate is a prediction below what was requested; else 0
}

// Last is the instant by which the job has ended for sure.
func (r *Running) Last() bourse.Time { return max(r.End, r.Limit) }

// Reserved is an advance reservation, held or confirmed, that has not ended.
type Reserved struct {
	ID         int64
	Nodes      int
	Start, End bourse.Time
}

// Queued is a job that waits.
type Queued struct {
	ID        int64
	Nodes     int
	Estimate  bourse.Duration
	Submit    bourse.Time
	Priority  int         // of its queue, higher first
	Weight    int64       // delay cost of its queue, in thousandths: 1000 is 1
	Guarantee bourse.Time // conservative: the start it was guaranteed; Never if none yet
	Ref       int32       // the owner's own, handed back when the job starts
	Had       uint64      // under a fair policy: what its user has had, as of the last pass or view

	Limit bourse.Duration // what was requested, if Estimate is a prediction below it; else 0
}

// Longest is the time that the job may take at most.
func (q *Queued) Longest() bourse.Duration { return max(q.Estimate, q.Limit) }

// State is one group's queue at an instant: all that a plan or a quote needs.
type State struct {
	Now      bourse.Time
	Nodes    int
	Policy   Policy
	Free     bourse.Profile // Nodes less running (to their estimated ends) less reserved, from Now on
	Running  []Running      // by End, then ID
	Reserved []Reserved     // by Start, then ID
	Queue    []Queued       // in queue order: priority, under a fair policy what users have had, then arrival

	// Sure is Free with the running jobs there until their limits, where estimates are
	// predictions; else nil.
	Sure bourse.Profile
}

// Firm is what can be reserved: nodes that no running job may still need and no
// reservation has.
func (s *State) Firm() bourse.Profile {
	if s.Sure != nil {
		return s.Sure
	}
	return s.Free
}

// Reserve makes of s what Group.Reserve makes of a group, for a reservation that there
// is room for from s.Now on: its nodes are taken, and the guarantees of the
// conservative policy, which must be up to date, give way in queue order.
func (s *State) Reserve(r Reserved) {
	i, _ := slices.BinarySearchFunc(s.Reserved, r, compareReserved)
	s.Reserved = slices.Insert(s.Reserved, i, r)
	s.Take(r.Start, r.End, r.Nodes)
	if !s.Policy.Conservative() {
		return
	}
	work := s.Free.Clone()
	for i := range s.Queue {
		q := &s.Queue[i]
		if q.Guarantee == bourse.Never || work.Min(q.Guarantee, q.Guarantee.Add(q.Estimate)) < q.Nodes {
			q.Guarantee = work.EarliestFit(s.Now, q.Nodes, q.Estimate)
		}
		if q.Guarantee < bourse.Never {
			work.Add(q.Guarantee, q.Guarantee.Add(q.Estimate), -q.Nodes)
		}
	}
}

// Take takes nodes out of what is free, or gives back if n is below 0.
func (s *State) Take(start, end bourse.Time, n int) {
	s.Free.Add(start, end, -n)
	if s.Sure != nil {
		s.Sure.Add(start, end, -n)
	}
}

// From drops what is free before an instant.
func (s *State) From(t bourse.Time) {
	s.Free.From(t)
	if s.Sure != nil {
		s.Sure.From(t)
	}
}

// Queued is what waits, the sum of nodes x estimate in node-milliseconds, at most
// MaxDuration. It costs one walk over the queue.
func (s *State) Queued() bourse.Duration {
	sum := bourse.Duration(0)
	for i := range s.Queue {
		q := &s.Queue[i]
		if int64(q.Nodes) > int64(bourse.MaxDuration-sum)/int64(max(q.Estimate, 1)) {
			return bourse.MaxDuration
		}
		sum += bourse.Duration(q.Nodes) * q.Estimate
	}
	return sum
}
