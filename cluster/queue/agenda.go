package queue

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// agenda holds the due events of legs' reservations: the ends of their work and, after
// those of the same instant, the starts. An event whose leg has been released is ignored
// when it is due, and events are swept once most are such.
type agenda struct{ ends, starts events }

// event is one entry of an agenda.
type event struct {
	at     grid.Time
	number int64 // of the leg, copied here so that sorting need not look at the leg
	leg    *reservation
}

// before orders events by time, then by the leg's number.
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
func (a *agenda) add(at grid.Time, what phase, leg *reservation) {
	a.list(what).push(event{at, leg.number, leg})
}

// pop removes the first event of a phase due by now and returns its leg, or nil.
func (a *agenda) pop(now grid.Time, p phase) *reservation {
	q := a.list(p)
	if len(*q) == 0 || (*q)[0].at > now {
		return nil
	}
	return q.pop()
}

// sweep removes the events of legs that are gone.
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
func (a *agenda) next() grid.Time {
	next := grid.Never
	if len(a.ends) > 0 {
		next = a.ends[0].at
	}
	if len(a.starts) > 0 {
		next = min(next, a.starts[0].at)
	}
	return next
}

// events is a binary heap: in a sorted list, each of a cluster's hundreds of events would
// move half of the others.
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
