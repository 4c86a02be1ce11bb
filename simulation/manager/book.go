package manager

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
)

// book is what a manager keeps. It is written to its disk at most every five seconds;
// a crash leaves what was written last. Times in it are by the manager's clock.
type book struct {
	reservations []*reservation // by name
	jobs         []*job         // in order of submission
	number       int            // of the next job
}

type reservation struct {
	name       string
	start, end bourse.Time
	nodes      []string
	users      []string
	purge      bool        // it is deleted when it has begun and nobody uses it
	idle       bourse.Time // since when nobody does; 0: somebody does, or it has not begun
	ours       bool        // made by a command
}

type job struct {
	id          uint64 // of no other submission, whatever becomes of the book
	number      int
	name, user  string
	state       bourse.ManagedState
	why         string
	partition   string
	reservation string
	count       int
	nodes       []string
	limit       bourse.Duration
	submit      bourse.Time
	begin       bourse.Time // not before
	start, end  bourse.Time // 0: not yet
	exit        int
	signal      int
	run         bourse.Duration // what its work takes if nobody ends it
	status      int             // with which it ends then
	issued      bourse.Time     // of the world: when the command was
	late        bool            // the command was done when its driver had given it up
	ours        bool
	work        *Run // since it has begun
}

// clone is a copy that shares nothing that changes but the work on the nodes, which no
// crash of the manager undoes.
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

// find is the reservation of a name, nil if there is none.
func (b *book) find(name string) *reservation {
	for _, r := range b.reservations {
		if r.name == name {
			return r
		}
	}
	return nil
}

// named lists the jobs of a name; of a number and submit too, where they are known.
func (b *book) named(name, number string, submit bourse.Time) []*job {
	var list []*job
	for _, j := range b.jobs {
		if j.name == name && (number == "" || number == j.id10() && submit == j.submit) {
			list = append(list, j)
		}
	}
	return list
}

// put takes a reservation in.
func (b *book) put(r *reservation) {
	i, _ := slices.BinarySearchFunc(b.reservations, r.name, func(x *reservation, name string) int {
		if x.name < name {
			return -1
		}
		return 1
	})
	b.reservations = slices.Insert(b.reservations, i, r)
}

// drop takes a reservation out; a job that waits for it stays, and never starts.
func (b *book) drop(r *reservation) {
	b.reservations = slices.DeleteFunc(b.reservations, func(x *reservation) bool { return x == r })
}

// overlapping is a reservation other than one that has a node in common with nodes in
// a time, nil if there is none.
func (b *book) overlapping(nodes []string, start, end bourse.Time, other *reservation) *reservation {
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

// planned is when work ends by the limit of its job, as the book has it.
func (b *book) planned(w *Run) bourse.Time {
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
		if j.state == bourse.ManagedRunning {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.id, b.id))
}

// planned is when a job that waits is to start, if it says.
func (j *job) planned() bourse.Time {
	if j.state == bourse.ManagedPending {
		return j.begin
	}
	return 0
}

func (j *job) id10() string { return strconv.Itoa(j.number) }
