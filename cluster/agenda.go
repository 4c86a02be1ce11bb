package cluster

import (
	"cmp"
	"slices"

	"bourse"
)

// agenda is what a cluster's reservations have to do and when: the ends of
// their work and, after those of one instant, the starts. A turn whose lock has
// been released is ignored when it comes, and swept out when such are the most.
type agenda struct{ ends, starts []turn }

// turn is one entry of an agenda.
type turn struct {
	at   bourse.Time
	what phase
	lock *lock
}

// phase says which turn of a lock it is.
type phase uint8

const (
	ending phase = iota
	starting
)

func (a *agenda) list(p phase) *[]turn {
	if p == ending {
		return &a.ends
	}
	return &a.starts
}

// add puts a turn in order of time, then of the lock's number.
func (a *agenda) add(t turn) {
	q := a.list(t.what)
	i, _ := slices.BinarySearchFunc(*q, t, func(x, y turn) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.lock.number, y.lock.number))
	})
	*q = slices.Insert(*q, i, t)
}

// pop takes the first turn of that phase due by now, nil if there is none.
func (a *agenda) pop(now bourse.Time, p phase) *lock {
	q := a.list(p)
	if len(*q) == 0 || (*q)[0].at > now {
		return nil
	}
	l := (*q)[0].lock
	*q = slices.Delete(*q, 0, 1)
	return l
}

// sweep takes out the turns of locks that are no more.
func (a *agenda) sweep(gone func(*lock) bool) {
	stale := func(t turn) bool { return gone(t.lock) }
	a.ends, a.starts = slices.DeleteFunc(a.ends, stale), slices.DeleteFunc(a.starts, stale)
}

// next is the instant of the first turn, or Never.
func (a *agenda) next() bourse.Time {
	next := bourse.Never
	if len(a.ends) > 0 {
		next = a.ends[0].at
	}
	if len(a.starts) > 0 {
		next = min(next, a.starts[0].at)
	}
	return next
}
