package queue

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// agenda is what the reservations of legs have to do and when: the ends of
// their work and, after those of one instant, the starts. An event whose leg has
// been released is ignored when it is due, and swept out once most are such.
type agenda struct{ ends, starts events }

// event is one entry of an agenda.
type event struct {
	at     bourse.Time
	number int64 // of the leg, which need not be looked at for it
	leg    *reservation
}

// before is the order of events: of time, then of the leg's number.
func (e *event) before(x *event) bool { return e.at < x.at || e.at == x.at && e.number < x.number }

// phase says which event of a leg it is.
type phase uint8

const (
	ending phase = iota
	starting
)

func (a *agenda) list(p phase) *events {
	if p == ending {
		return &a.ends
	}
	return &a.starts
}

// add puts an event of a leg on the agenda.
func (a *agenda) add(at bourse.Time, what phase, leg *reservation) {
	a.list(what).push(event{at, leg.number, leg})
}

// pop takes the first event of that phase due by now, nil if there is none.
func (a *agenda) pop(now bourse.Time, p phase) *reservation {
	q := a.list(p)
	if len(*q) == 0 || (*q)[0].at > now {
		return nil
	}
	return q.pop()
}

// sweep takes out the events of legs that are no more.
func (a *agenda) sweep(gone func(*reservation) bool) {
	for _, q := range []*events{&a.ends, &a.starts} {
		left := slices.DeleteFunc(*q, func(e event) bool { return gone(e.leg) })
		*q = left[:0]
		for _, e := range left {
			q.push(e)
		}
	}
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

// events is a binary heap: in a list, each of the hundreds of a cluster would move half of
// the others.
type events []event

func (h *events) push(e event) {
	a := append(*h, e)
	i := len(a) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&a[up]) {
			break
		}
		a[i] = a[up]
		i = up
	}
	a[i] = e
	*h = a
}

func (h *events) pop() *reservation {
	a := *h
	first, last := a[0].leg, len(a)-1
	e := a[last]
	a[last] = event{}
	a = a[:last]
	*h = a
	if last == 0 {
		return first
	}
	i := 0
	for down := 1; down < last; down = 2*i + 1 {
		if down+1 < last && a[down+1].before(&a[down]) {
			down++
		}
		if !a[down].before(&e) {
			break
		}
		a[i] = a[down]
		i = down
	}
	a[i] = e
	return first
}
