package queue

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse"
)

// agenda is what the reservations of legs have to do and when: the ends of
// their work and, after those of one instant, the starts. An event whose leg has
// been released is ignored when it is due, and swept out once most are such.
type agenda struct{ ends, starts []event }

// event is one entry of an agenda.
type event struct {
	at   bourse.Time
	what phase
	leg  *reservation
}

// phase says which event of a leg it is.
type phase uint8

const (
	ending phase = iota
	starting
)

func (a *agenda) list(p phase) *[]event {
	if p == ending {
		return &a.ends
	}
	return &a.starts
}

// add puts an event in order of time, then of the leg's number.
func (a *agenda) add(e event) {
	q := a.list(e.what)
	i, _ := slices.BinarySearchFunc(*q, e, func(x, y event) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.leg.number, y.leg.number))
	})
	*q = slices.Insert(*q, i, e)
}

// pop takes the first event of that phase due by now, nil if there is none.
func (a *agenda) pop(now bourse.Time, p phase) *reservation {
	q := a.list(p)
	if len(*q) == 0 || (*q)[0].at > now {
		return nil
	}
	l := (*q)[0].leg
	(*q)[0].leg = nil
	*q = (*q)[1:] // the others stay where they are until the room behind them is used up
	return l
}

// sweep takes out the events of legs that are no more.
func (a *agenda) sweep(gone func(*reservation) bool) {
	stale := func(e event) bool { return gone(e.leg) }
	a.ends, a.starts = slices.DeleteFunc(a.ends, stale), slices.DeleteFunc(a.starts, stale)
}

// next is the instant of the first event, or Never.
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
