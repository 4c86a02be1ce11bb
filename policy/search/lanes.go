package search

import (
	"math/bits"

	"github.com/bourse-grid/bourse"
)

// lanes are the slots of a list, those of groups apart by their lengths, an octave a
// lane. A scan that begins late passes over what has ended by then, chunk by chunk. In
// one list nearly every chunk would have some level in it that is free for ever, and the
// ten thousandth window of a batch would cost a look at each slot before it. Within a
// lane what begins long before has ended; and lanes of slots that are too short for a
// request are not looked at.
type lanes []slotList

const (
	laneCount = 12
	shortest  = 18 // bits of the lengths in the first lane: up to 4 minutes
)

// of is the lane of a slot.
func (l lanes) of(s slot) *slotList {
	if len(l) == 1 {
		return &l[0]
	}
	return &l[laneOf(s.end.Sub(s.start))]
}

func laneOf(d bourse.Duration) int {
	return min(max(bits.Len64(uint64(d))-shortest, 0), laneCount-1)
}

// fill replaces the content by sorted.
func (l *List) fill(sorted []slot) {
	n := 1
	if l.fungible {
		n = laneCount
	}
	for len(l.slots) < n {
		l.slots = append(l.slots, slotList{})
	}
	l.slots = l.slots[:n]
	if n == 1 {
		l.slots[0].fill(sorted)
		return
	}
	var size [laneCount]int
	for i := range sorted {
		size[laneOf(sorted[i].end.Sub(sorted[i].start))]++
	}
	l.dealt = append(l.dealt[:0], sorted...)
	rest := l.dealt
	var parts [laneCount][]slot
	for k := range parts {
		parts[k], rest = rest[:0:size[k]], rest[size[k]:]
	}
	for i := range sorted {
		k := laneOf(sorted[i].end.Sub(sorted[i].start))
		parts[k] = append(parts[k], sorted[i])
	}
	for k := range parts {
		l.slots[k].fill(parts[k])
	}
}

// cursor is a place in a lane: the next slot of it that has not ended too early.
type cursor struct {
	lane  *slotList
	ci, i int
	at    *slot
}

// next goes to the first slot from the cursor's place on that ends at some instant or
// later; false if there is none before the deadline.
func (c *cursor) next(ends, deadline bourse.Time) bool {
	for ; c.ci < len(c.lane.chunks); c.ci, c.i = c.ci+1, 0 {
		ch := &c.lane.chunks[c.ci]
		if ch.maxEnd < ends {
			continue
		}
		for i := c.i; i < len(ch.slots); i++ {
			if ch.slots[i].end >= ends {
				c.i, c.at = i, &ch.slots[i]
				return ch.slots[i].start < deadline
			}
		}
	}
	return false
}

// enter puts a cursor at the start of each lane that has slots for a query.
func (f *Finder) enter(q *query, ends bourse.Time) {
	f.cursors, f.seen = f.cursors[:0], f.seen[:0]
	lanes := f.list.slots
	first := 0
	if len(lanes) > 1 {
		first = laneOf(q.least)
	}
	for k := first; k < len(lanes); k++ {
		if c := (cursor{lane: &lanes[k]}); c.next(ends, q.Deadline) {
			f.cursors = append(f.cursors, c)
		}
	}
}

// foremost is the cursor whose slot comes first, and the slot that comes first of those of
// the others; nil if there is none.
func (f *Finder) foremost() (first int, other *slot) {
	for i := 1; i < len(f.cursors); i++ {
		if s := f.cursors[i].at; s.before(f.cursors[first].at) {
			first, other = i, f.cursors[first].at
		} else if other == nil || s.before(other) {
			other = s
		}
	}
	return first, other
}

// goOn finds the next slot of a cursor, and drops it at the end of its lane.
func (f *Finder) goOn(k int, ends, deadline bourse.Time) {
	if f.cursors[k].next(ends, deadline) {
		return
	}
	n := len(f.cursors) - 1
	f.cursors[k] = f.cursors[n]
	f.cursors = f.cursors[:n]
}
