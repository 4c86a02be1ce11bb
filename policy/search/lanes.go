package search

import (
	"math/bits"
	"slices"

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

// manySlots is from how many slots on a list has lanes: with fewer, merging them costs
// more than they spare. Tests have a lower one.
var manySlots = 1 << 13

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
	if l.fungible && len(sorted) >= manySlots {
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

// spread gives a list that has grown its lanes.
func (l *List) spread() {
	if !l.fungible || len(l.slots) != 1 || l.slots[0].n < manySlots {
		return
	}
	l.merged = l.merged[:0]
	for i := range l.slots[0].chunks {
		l.merged = append(l.merged, l.slots[0].chunks[i].slots...)
	}
	l.slots[0].fill(nil)
	l.fill(l.merged)
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
	slices.SortFunc(f.cursors, func(a, b cursor) int { return a.at.compare(*b.at) })
}

// goOn finds the next slot of the first cursor, which is dropped at the end of its lane,
// and has the one come first whose slot does.
func (f *Finder) goOn(ends, deadline bourse.Time) {
	list := f.cursors
	if !list[0].next(ends, deadline) {
		f.cursors = append(list[:0], list[1:]...)
		return
	}
	c := list[0]
	i := 1
	for ; i < len(list) && list[i].at.before(c.at); i++ {
		list[i-1] = list[i]
	}
	list[i-1] = c
}
