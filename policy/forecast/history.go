package forecast

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Ratio is how much of its limit a job ran: parts per million, 1 to Whole.
type Ratio int32

// Whole is the ratio of a job that ran to its limit.
const Whole Ratio = 1_000_000

// RatioOf is the ratio of a job with that run time and limit, both above 0. More than
// the limit counts as the limit.
func RatioOf(run, limit grid.Duration) Ratio {
	if run >= limit {
		return Whole
	}
	return Ratio(max(1, uint64(run)*uint64(Whole)/uint64(limit)))
}

// Of is the run time of a job with that limit, at least a millisecond.
func (r Ratio) Of(limit grid.Duration) grid.Duration {
	return max(1, grid.Duration(uint64(limit)*uint64(r)/uint64(Whole)))
}

// History is how much of their limits the last jobs of a queue ran. The zero History is
// empty. It keeps only the last ratios: KeepUser of each user, KeepClass of each class of
// limits and KeepAll of all jobs. The number of users is not bounded.
type History struct {
	users   map[string]*ring
	classes [len(classes) + 1]ring
	all     ring
	jobs    int
}

// Bounds of a History.
const (
	KeepUser  = 50
	KeepClass = 500
	KeepAll   = 2000
)

// Enough is how many ratios a level must have that are still possible for a job. The job
// is drawn from the first level that has them: its user's, its class of limits, all.
const Enough = 10

// classes are the upper bounds of the classes of limits; the last class has none.
var classes = [...]grid.Duration{
	15 * grid.Minute, grid.Hour, 4 * grid.Hour, 12 * grid.Hour, grid.Day,
}

// class is the class of a limit.
func class(limit grid.Duration) int {
	i, _ := slices.BinarySearch(classes[:], limit)
	return i
}

// Add records a job that has ended. Call it in the order in which jobs end. user is "" if
// it is not known. A job that did not run, or had no limit, is ignored.
func (h *History) Add(user string, limit, run grid.Duration) {
	if limit <= 0 || run <= 0 {
		return
	}
	r := RatioOf(run, limit)
	if h.users == nil {
		h.users = make(map[string]*ring)
	}
	if user != "" {
		of := h.users[user]
		if of == nil {
			of = &ring{}
			h.users[user] = of
		}
		of.add(r, KeepUser)
	}
	h.classes[class(limit)].add(r, KeepClass)
	h.all.add(r, KeepAll)
	h.jobs++
}

// Jobs is how many jobs have been recorded.
func (h *History) Jobs() int { return h.jobs }

// Users is how many users have a recorded job.
func (h *History) Users() int { return len(h.users) }

// Clone returns a copy that shares nothing.
func (h *History) Clone() *History {
	c := *h
	c.users = make(map[string]*ring, len(h.users))
	for user, r := range h.users {
		copied := r.clone()
		c.users[user] = &copied
	}
	for i := range h.classes {
		c.classes[i] = h.classes[i].clone()
	}
	c.all = h.all.clone()
	return &c
}

// ring keeps the last ratios.
type ring struct {
	list []Ratio
	next int // the oldest, once the ring is full
}

func (r *ring) add(x Ratio, keep int) {
	if len(r.list) < keep {
		r.list = append(r.list, x)
		return
	}
	r.list[r.next] = x
	r.next = (r.next + 1) % keep
}

func (r *ring) clone() ring { return ring{slices.Clone(r.list), r.next} }
