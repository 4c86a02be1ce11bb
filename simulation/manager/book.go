package manager

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// book is what a manager keeps. It is written to disk at most every five seconds; a crash
// leaves what was written last. Its times are by the manager's clock.
type book struct {
	reservations []*reservation // by name
	jobs         []*job         // in order of submission
	number       int            // of the next job
}

type reservation struct {
	name       string
	start, end grid.Time
	nodes      []string
	users      []string
	purge      bool      // it is deleted if it has begun and is not used
	idle       grid.Time // since when it is not used; 0: it is used, or has not begun
	ours       bool      // made by a command
	overlaps   bool      // it bears others on its nodes
}

type job struct {
	id          uint64 // unique among submissions, even if the book is lost
	number      int
	name, user  string
	state       grid.ManagedState
	why         string
	partition   string
	reservation string
	part        grid.LegPart // that it takes of each node; none: all
	count       int
	nodes       []string
	limit       grid.Duration
	submit      grid.Time
	begin       grid.Time // not before
	start, end  grid.Time // 0: not yet
	exit        int
	signal      int
	run         grid.Duration // how long its work takes if nobody ends it
	status      int           // the exit status then
	issued      grid.Time     // when the command was given, by the world's time
	late        bool          // the command was carried out after its driver had given it up
	ours        bool
	work        *Run // set once it has begun
	pilot       bool
	in          string // the pilot that becomes this work; "": none
}

// clone returns a copy that shares only the work on the nodes, which no crash of the manager
// undoes.
func (b *book) clone() book {
	c := book{number: b.number}
	for _, r := range b.reservations {
		x := *r
		x.nodes, x.users = slices.Clone(r.nodes), slices.Clone(r.users)
		c.reservations = append(c.reservations, &x)
	}
	for _, j := range b.jobs {
		x := *j
		c.jobs = append(c.jobs, &x)
	}
	return c
}

// find returns the reservation of a name, nil if there is none.
func (b *book) find(name string) *reservation {
	for _, r := range b.reservations {
		if r.name == name {
			return r
		}
	}
	return nil
}

// named lists the jobs of a name, and of a number and submission if these are known.
func (b *book) named(name, number string, submit grid.Time) []*job {
	var list []*job
	for _, j := range b.jobs {
		if j.name == name && (number == "" || number == j.id10() && submit == j.submit) {
			list = append(list, j)
		}
	}
	return list
}

// put adds a reservation.
func (b *book) put(r *reservation) {
	i, _ := slices.BinarySearchFunc(b.reservations, r.name, func(x *reservation, name string) int {
		if x.name < name {
			return -1
		}
		return 1
	})
	b.reservations = slices.Insert(b.reservations, i, r)
}

// drop removes a reservation. A job that waits for it stays, and never starts.
func (b *book) drop(r *reservation) {
	b.reservations = slices.DeleteFunc(b.reservations, func(x *reservation) bool { return x == r })
}

// overlapping returns a reservation, other than the one given, that takes one of some nodes
// in an interval; nil if there is none.
func (b *book) overlapping(nodes []string, start, end grid.Time, other *reservation) *reservation {
	for _, r := range b.reservations {
		if r != other && r.start < end && start < r.end && common(r.nodes, nodes) {
			return r
		}
	}
	return nil
}

func common(a, b []string) bool {
	return slices.ContainsFunc(a, func(n string) bool { return slices.Contains(b, n) })
}

// alone is overlapping for reservations that bear no other.
func (b *book) alone(nodes []string, start, end grid.Time, other *reservation) *reservation {
	for _, r := range b.reservations {
		if r != other && !r.overlaps && r.start < end && start < r.end && common(r.nodes, nodes) {
			return r
		}
	}
	return nil
}

// occupied is until when a node has work by its jobs in the book; 0: it has none.
func (b *book) occupied(n *node) (until grid.Time) {
	for _, w := range n.all() {
		until = max(until, b.planned(w))
	}
	return until
}

// planned is when work ends by the limit of its job in the book.
func (b *book) planned(w *Run) grid.Time {
	for _, j := range b.jobs {
		if j.work == w {
			return j.end
		}
	}
	return 0
}

func (b *book) reservationsOfOurs() []*reservation {
	return slices.DeleteFunc(slices.Clone(b.reservations), func(r *reservation) bool { return !r.ours })
}

func (b *book) jobsThat(which func(*job) bool) []*job {
	return slices.DeleteFunc(slices.Clone(b.jobs), func(j *job) bool { return !which(j) })
}

// byPriority orders jobs as a look shows them: running ones first.
func byPriority(a, b *job) int {
	rank := func(j *job) int {
		if j.state == grid.ManagedRunning {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.id, b.id))
}

// planned is when a waiting job is to start, if that is known.
func (j *job) planned() grid.Time {
	if j.state == grid.ManagedPending {
		return j.begin
	}
	return 0
}

func (j *job) id10() string { return strconv.Itoa(j.number) }
