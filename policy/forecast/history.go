package forecast

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// Ratio is how much of its limit a job ran: parts per million, 1 to Whole.
type Ratio int32

// Whole is the ratio of a job that ran to its limit.
const Whole Ratio = 1_000_000

// RatioOf is the ratio of a job that ran so long; both are above 0. More than the
// limit counts as the limit.
func RatioOf(run, limit bourse.Duration) Ratio {
	if run >= limit {
		return Whole
	}
	return Ratio(max(1, uint64(run)*uint64(Whole)/uint64(limit)))
}

// Of is the run of a job with that limit, at least a millisecond.
func (r Ratio) Of(limit bourse.Duration) bourse.Duration {
	return max(1, bourse.Duration(uint64(limit)*uint64(r)/uint64(Whole)))
}

// History is how much of their limits the last jobs of a queue ran. The zero History
// knows of none. It keeps the last ratios only, KeepUser of a user, KeepClass of each
// class of limits and KeepAll of all; users are as many as it is told of.
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

// Enough ratios that a job may still come to make a level the one it is drawn from:
// first its user's, then its class of limits, then all.
const Enough = 10

// classes are the upper bounds of the classes of limits; the last one has none.
var classes = [...]bourse.Duration{
	15 * bourse.Minute, bourse.Hour, 4 * bourse.Hour, 12 * bourse.Hour, bourse.Day,
}

// class is the class of a limit.
func class(limit bourse.Duration) int {
	i, _ := slices.BinarySearch(classes[:], limit)
	return i
}

// Add tells of a job that has ended, in the order of their ends; user is "" where it
// is not known. One that did not run, or had no limit, tells nothing.
func (h *History) Add(user string, limit, run bourse.Duration) {
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

// Jobs is how many jobs it has been told of.
func (h *History) Jobs() int { return h.jobs }

// Users is of how many users it knows a job.
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

// ring is the last ratios that came.
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
