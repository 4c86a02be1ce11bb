package search

import (
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// lanes are the slots of a list. Slots of groups are separated by length, one octave to a
// lane. A scan that begins late can then skip, chunk by chunk, slots that have already
// ended. In a single lane nearly every chunk would contain some level that is free forever,
// and the ten thousandth window of a batch would cost a look at every slot before it.
// Within a lane, slots that begin much earlier have ended. Lanes of slots too short for a
// request are skipped entirely.
type lanes []slotList

const (
	laneCount = 12
	shortest  = 18 // bits of the lengths in the first lane: up to 4 minutes
)

// manySlots is the number of slots from which a list has lanes. With fewer, merging the
// lanes costs more than it saves. Tests lower it.
var manySlots = 1 << 13

// of returns the lane of a slot.
func (l lanes) of(s slot) *slotList {
	if len(l) == 1 {
		return &l[0]
	}
	return &l[laneOf(s.end.Sub(s.start))]
}

func laneOf(d grid.Duration) int {
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

// spread divides a list that has grown into lanes.
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

// cursor is a position in a lane: the next slot that does not end too early.
type cursor struct {
	lane  *slotList
	ci, i int
	at    *slot
}

// next moves to the first slot, from the cursor's position on, that does not end before
// ends. It reports false if there is none that starts before the deadline.
func (c *cursor) next(ends, deadline grid.Time) bool {
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

// cursors are the cursors of a walk over all lanes, the one with the earliest slot first.
type cursors []cursor

// enter puts a cursor at the start of each lane that may have slots of a length that end no
// earlier than ends and start before the deadline. Behind the lanes by length there may be
// one of slots of all lengths.
func (c *cursors) enter(lanes lanes, length grid.Duration, ends, deadline grid.Time) {
	*c = (*c)[:0]
	first := 0
	if len(lanes) >= laneCount {
		first = laneOf(length)
	}
	for k := first; k < len(lanes); k++ {
		if x := (cursor{lane: &lanes[k]}); x.next(ends, deadline) {
			*c = append(*c, x)
		}
	}
	slices.SortFunc(*c, func(a, b cursor) int { return a.at.compare(*b.at) })
}

// goOn advances the first cursor, drops it at the end of its lane, and reorders the cursors
// so that the one with the earliest slot is first.
func (c *cursors) goOn(ends, deadline grid.Time) {
	list := *c
	if !list[0].next(ends, deadline) {
		*c = append(list[:0], list[1:]...)
		return
	}
	x := list[0]
	i := 1
	for ; i < len(list) && list[i].at.before(x.at); i++ {
		list[i-1] = list[i]
	}
	list[i-1] = x
}
