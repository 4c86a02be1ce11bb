package web

import "hash/maphash"

// index finds places of a list by one or two texts of the element there. It takes 4 bytes per
// place, and up to 11 with its room to grow; a map takes several times as many.
type index struct {
	key   func(place uint32) (text, more string)
	seed  maphash.Seed
	slots []uint32 // places, from 1; 0: free. The length is a power of two
	taken int
}

// newIndex makes an index with room for a number of places. key returns the texts of a
// place.
func newIndex(room int, key func(place uint32) (text, more string)) index {
	n := 8
	for n*3 <= room*4 {
		n *= 2
	}
	return index{key: key, seed: maphash.MakeSeed(), slots: make([]uint32, n)}
}

// slot is the slot of a key, or the first free one from its hash on.
func (x *index) slot(text, more string) *uint32 {
	var h maphash.Hash
	h.SetSeed(x.seed)
	_, _ = h.WriteString(text)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(more)
	last := uint64(len(x.slots) - 1)
	for i := h.Sum64() & last; ; i = (i + 1) & last {
		p := &x.slots[i]
		if *p == 0 {
			return p
		}
		if a, b := x.key(*p); a == text && b == more {
			return p
		}
	}
}

// get returns the place that was put last for a key; 0: none.
func (x *index) get(text, more string) uint32 { return *x.slot(text, more) }

// put adds a place, and returns the previous one with its key; 0: none.
func (x *index) put(place uint32) (had uint32) {
	if (x.taken+1)*4 > len(x.slots)*3 {
		old := x.slots
		x.slots = make([]uint32, 2*len(old))
		for _, p := range old {
			if p > 0 {
				*x.slot(x.key(p)) = p
			}
		}
	}
	p := x.slot(x.key(place))
	if had, *p = *p, place; had == 0 {
		x.taken++
	}
	return had
}
