package search

import (
	"cmp"
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// slot is a free interval of count nodes of one class.
type slot struct {
	start, end grid.Time
	tie        int64 // order of equal starts: arrival of a named slot, group of a level
	class      int32
	count      int32
}

// compare orders slots as in a list: by start, then tie, then (levels of one group) the
// longer slot first. No two slots of a list compare equal.
func (s *slot) compare(o slot) int {
	if s.start != o.start {
		return cmp.Compare(s.start, o.start)
	}
	if s.tie != o.tie {
		return cmp.Compare(s.tie, o.tie)
	}
	return cmp.Compare(o.end, s.end)
}

func (s *slot) before(o *slot) bool {
	return s.start < o.start || s.start == o.start && (s.tie < o.tie || s.tie == o.tie && s.end > o.end)
}

// Chunks are filled to three quarters, so that most edits find room in their chunk. An edit
// moves at most 8 KB, however long the list.
const (
	chunkSize = 256
	chunkFill = 192
)

// slotList is a sorted sequence of slots in chunks. A chunk is never empty.
type slotList struct {
	chunks []chunk
	n      int
	spare  [][]slot
}

type chunk struct {
	slots  []slot
	maxEnd grid.Time // no slot of the chunk ends later
}

// fill replaces the content by sorted.
func (l *slotList) fill(sorted []slot) {
	for i := range l.chunks {
		l.spare = append(l.spare, l.chunks[i].slots[:0])
		l.chunks[i] = chunk{}
	}
	l.chunks, l.n = l.chunks[:0], len(sorted)
	for len(sorted) > 0 {
		k := min(chunkFill, len(sorted))
		l.chunks = append(l.chunks, newChunk(append(l.room(), sorted[:k]...)))
		sorted = sorted[k:]
	}
}

func newChunk(slots []slot) chunk {
	c := chunk{slots: slots, maxEnd: slots[0].end}
	for i := range slots {
		c.maxEnd = max(c.maxEnd, slots[i].end)
	}
	return c
}

func (l *slotList) room() []slot {
	if n := len(l.spare); n > 0 {
		s := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return s
	}
	return make([]slot, 0, chunkSize)
}

// search returns the position of the first slot not before k; it may be one past the end of
// a chunk.
func (l *slotList) search(k slot) (ci, i int) {
	low, high := 0, len(l.chunks)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if k.before(&l.chunks[mid].slots[0]) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if low == 0 {
		return 0, 0
	}
	ci = low - 1
	s := l.chunks[ci].slots
	low, high = 0, len(s)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if s[mid].before(&k) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return ci, low
}

// find returns the position of a slot. It panics if the slot is not in the list.
func (l *slotList) find(k slot) (ci, i int) {
	ci, i = l.search(k)
	if ci >= len(l.chunks) || i >= len(l.chunks[ci].slots) || l.chunks[ci].slots[i].compare(k) != 0 {
		panic(fmt.Sprintf("search: slot [%v, %v) of class %d is not in the list", k.start, k.end, k.class))
	}
	return ci, i
}

func (l *slotList) remove(ci, i int) {
	c := &l.chunks[ci]
	c.slots = append(c.slots[:i], c.slots[i+1:]...)
	l.n--
	if len(c.slots) == 0 {
		l.spare = append(l.spare, c.slots)
		l.chunks = append(l.chunks[:ci], l.chunks[ci+1:]...)
	}
}

func (l *slotList) insert(k slot) {
	l.n++
	if len(l.chunks) == 0 {
		l.chunks = append(l.chunks, newChunk(append(l.room(), k)))
		return
	}
	ci, i := l.search(k)
	if len(l.chunks[ci].slots) == chunkSize {
		l.split(ci)
		if half := len(l.chunks[ci].slots); i > half {
			ci, i = ci+1, i-half
		}
	}
	c := &l.chunks[ci]
	c.slots = append(c.slots, slot{})
	copy(c.slots[i+1:], c.slots[i:])
	c.slots[i] = k
	c.maxEnd = max(c.maxEnd, k.end)
}

func (l *slotList) split(ci int) {
	s := l.chunks[ci].slots
	upper := newChunk(append(l.room(), s[chunkSize/2:]...))
	l.chunks[ci] = newChunk(s[:chunkSize/2])
	l.chunks = append(l.chunks, chunk{})
	copy(l.chunks[ci+2:], l.chunks[ci+1:])
	l.chunks[ci+1] = upper
}
