package search

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// List is the free slots of a set of nodes in order of start. Equal starts have a fixed
// order, which settles every tie of a search. A list is either Named, where every slot is a
// node of its own, or fungible, the level sets of groups of identical nodes. A List is not
// safe for concurrent use.
type List struct {
	slots    lanes
	groups   []grid.Group
	classes  []class
	sites    int   // number of different sites
	fungible bool  // of groups, not nodes: see levels
	curved   bool  // prices of some groups change over time: see curved.go
	bounded  bool  // some groups allow no window of any length
	padding  bool  // some groups have padding
	next     int64 // tie of the next piece of a named slot
	levels   []levels
	stale    []int32 // groups whose slots are out of date
	from, to grid.Time
	opened   []opening
	inside   []insides // slots inside those, for jobs of portions; see opened.go
	epoch    uint64    // changes whenever something becomes free
	changes  uint64    // changes whenever something is taken or becomes free

	siteOf map[string]int32
	rates  []int32 // see byRate
	perm   []int32 // scratch of reset; of a fungible list, where the slots of each group end
	last   []int32 // scratch of reset: a node's latest slot
	merged []slot  // scratch of reset
	dealt  []slot  // scratch of fill

	barrings []barring // lately asked for; see elsewhere
}

// class is what the slots of one node, or of one group, have in common.
type class struct {
	group       int32
	site        int32
	performance grid.Performance
	price       grid.Price
	curve       *grid.PriceCurve // of a fungible list
}

// Named returns the list of slots whose Group is the index of a node in nodes. Of nodes it
// reads only Site, Name, Machine, Longest and Slices. Price and performance are the slot's, and Count is 1
// (or 0, read as 1). Slots are sorted by start; equal starts keep their order. Adjacent
// slots of one node are merged if price and performance are equal, since windows would
// otherwise be lost. A slot out of range, or overlapping another of its node, is an error.
// A slot with Free is a node that is open over its interval, in slices of the node's Slices;
// it is merged with another such. Named costs a sort.
func Named(nodes []grid.Group, slots []grid.Slot) (*List, error) {
	l := new(List)
	return l, l.ResetNamed(nodes, slots)
}

// ResetNamed makes l what Named would return, reusing its memory. After an
// error the list is empty.
func (l *List) ResetNamed(nodes []grid.Group, slots []grid.Slot) error {
	l.reset(nodes, false)
	l.perm = l.perm[:0]
	for i := range slots {
		if err := checkSlot(nodes, slots, i); err != nil {
			return err
		}
		l.perm = append(l.perm, int32(i))
	}
	slices.SortStableFunc(l.perm, func(a, b int32) int {
		return cmp.Compare(slots[a].Start, slots[b].Start)
	})
	l.last = slices.Grow(l.last[:0], len(nodes))[:len(nodes)]
	for i := range l.last {
		l.last[i] = -1
	}
	l.merged = slices.Grow(l.merged[:0], len(slots))
	for k, i := range l.perm {
		s := &slots[i]
		piece := slot{start: s.Start, end: s.End, tie: int64(k), class: -1, count: 1}
		if at := l.last[s.Group]; at >= 0 {
			before := &l.merged[at]
			c := &l.classes[before.class]
			same := c.performance == s.Performance && c.price == s.Price
			at, open := openedOf(before)
			switch {
			case before.end > s.Start:
				l.fill(nil)
				return fmt.Errorf("slots[%d]: node %q is already free over [%v, %v), which overlaps [%v, %v); slots of one node must be disjoint",
					i, nodes[s.Group].Name, before.start, before.end, s.Start, s.End)
			case same && before.end == s.Start && open == (s.Free > 0):
				if before.end = s.End; open {
					l.opened[at].Extend(s.End, int(s.Free))
				}
				continue
			case same:
				piece.class = before.class
			}
		}
		if piece.class < 0 {
			piece.class = int32(len(l.classes))
			l.classes = append(l.classes, class{s.Group, l.site(nodes[s.Group].Site), s.Performance, s.Price, nil})
		}
		if s.Free > 0 {
			piece.tie = int64(len(l.opened)) - openTie
			l.opened = append(l.opened, opening{grid.Open(s.Group, s.Start, s.End, int(s.Free)), piece.class})
		}
		l.last[s.Group] = int32(len(l.merged))
		l.merged = append(l.merged, piece)
	}
	if len(l.opened) > 0 {
		l.merged = slices.DeleteFunc(l.merged, func(s slot) bool { return s.tie < 0 })
	}
	l.next = int64(len(slots))
	l.fill(l.merged)
	return nil
}

func checkSlot(nodes []grid.Group, slots []grid.Slot, i int) error {
	s := &slots[i]
	switch {
	case s.Group < 0 || int(s.Group) >= len(nodes):
		return fmt.Errorf("slots[%d]: node %d is none of the %d nodes", i, s.Group, len(nodes))
	case s.Start >= s.End:
		return fmt.Errorf("slots[%d]: end %v is not after start %v", i, s.End, s.Start)
	case s.Performance <= 0:
		return fmt.Errorf("slots[%d]: performance %v is not above 0", i, s.Performance)
	case s.Price < 0:
		return fmt.Errorf("slots[%d]: price %v is below 0", i, s.Price)
	case s.Free < 0 || s.Free > 0 && int(s.Free) >= nodes[s.Group].Divided():
		return fmt.Errorf("slots[%d]: %d free slices of a node of %d; of an opened node it is fewer", i, s.Free, nodes[s.Group].Divided())
	case s.Count > 1:
		return fmt.Errorf("slots[%d]: %d nodes share a name; a named slot is one node", i, s.Count)
	}
	return nil
}

// ResetFungible makes l the list of the level sets of groups, clipped to [from, to).
// free[g] is the number of free nodes of groups[g] over time. It copies the profiles and
// reuses l's memory; l may be the zero List. Equal starts are ordered by group, then the
// longer slot first. It panics unless there are as many profiles as groups.
func (l *List) ResetFungible(groups []grid.Group, free []grid.Profile, from, to grid.Time) {
	if len(groups) != len(free) {
		panic(fmt.Sprintf("search: %d groups, %d profiles", len(groups), len(free)))
	}
	l.reset(groups, true)
	l.from, l.to = from, to
	for len(l.levels) < len(groups) {
		l.levels = append(l.levels, levels{})
	}
	l.levels = l.levels[:len(groups)]
	l.merged, l.perm = l.merged[:0], l.perm[:0]
	for g := range groups {
		l.classes = append(l.classes, class{int32(g), l.site(groups[g].Site), groups[g].Performance, groups[g].Price, groups[g].Curve})
		l.curved = l.curved || groups[g].Curve != nil
		lv := &l.levels[g]
		lv.free, lv.from, lv.to = append(lv.free[:0], free[g]...), 0, 0
		lv.sets = lv.free.Levels(lv.sets[:0], &lv.open, from, to)
		for _, s := range lv.sets {
			l.merged = append(l.merged, levelSlot(int32(g), s))
		}
		l.perm = append(l.perm, int32(len(l.merged)))
	}
	l.merge()
	l.fill(l.merged)
}

// merge sorts the slots of all groups by merging them pairwise. The slots of each group are
// already in order, which a general sort would not exploit.
func (l *List) merge() {
	for len(l.perm) > 1 {
		l.dealt = slices.Grow(l.dealt[:0], len(l.merged))
		from, ends := int32(0), l.perm[:0]
		for i := 0; i < len(l.perm); i += 2 {
			mid, to := l.perm[i], l.perm[min(i+1, len(l.perm)-1)]
			a, b := l.merged[from:mid], l.merged[mid:to]
			for len(a) > 0 && len(b) > 0 {
				if b[0].before(&a[0]) {
					l.dealt, b = append(l.dealt, b[0]), b[1:]
				} else {
					l.dealt, a = append(l.dealt, a[0]), a[1:]
				}
			}
			l.dealt = append(append(l.dealt, a...), b...)
			ends, from = append(ends, to), to
		}
		l.perm, l.merged, l.dealt = ends, l.dealt, l.merged
	}
}

func (l *List) reset(groups []grid.Group, fungible bool) {
	l.groups, l.fungible, l.curved = groups, fungible, false
	l.bounded = slices.ContainsFunc(groups, func(g grid.Group) bool { return g.Longest > 0 })
	l.padding = slices.ContainsFunc(groups, func(g grid.Group) bool { return g.Padding > 0 })
	l.epoch++
	l.classes, l.rates, l.sites, l.next, l.stale = l.classes[:0], l.rates[:0], 0, 0, l.stale[:0]
	if l.siteOf == nil {
		l.siteOf = make(map[string]int32)
	}
	l.opened, l.inside = l.opened[:0], l.inside[:0]
	clear(l.siteOf)
	l.barrings = l.barrings[:0]
	l.fill(nil)
}

// site numbers sites in order of first appearance.
func (l *List) site(name string) int32 {
	n, ok := l.siteOf[name]
	if !ok {
		n = int32(l.sites)
		l.siteOf[name] = n
		l.sites++
	}
	return n
}

// Len returns the number of slots. Identical ones of a group count as one.
func (l *List) Len() int {
	l.renew()
	n := 0
	for k := range l.slots {
		n += l.slots[k].n
	}
	return n
}

// cut takes [from, to) out of the named slot k. What is left before it stays in its place;
// what is left after it goes behind all slots whose start is not later (Toporkov et al.,
// section 2, figure 1b). Empty pieces are dropped.
func (l *List) cut(k slot, from, to grid.Time) {
	slots := &l.slots[0]
	ci, i := slots.find(k)
	if k.start < from {
		slots.chunks[ci].slots[i].end = from
	} else {
		slots.remove(ci, i)
	}
	if to < k.end {
		k.start, k.tie = to, l.next
		l.next++
		slots.insert(k)
	}
}
