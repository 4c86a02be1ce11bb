package backfill

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse"
)

// Whoever keeps a State of a group asks for it again after each reservation, of which a
// group has hundreds: a copy of all for one that has come costs more than all else that is
// done about it. So a group can say what has changed since it was asked last, as long as
// that is no more than the time and its reservations; else it is looked at as a whole.
// Both come to the same State, value for value.

// Change is a reservation that has come or, if Gone, was given back before its end.
type Change struct {
	Reserved
	Gone bool
}

// Delta is what has become of a State. It shares nothing with the group.
type Delta struct {
	Now     bourse.Time
	Changes []Change // in their order
}

// Empty reports whether nothing has changed but the time.
func (d *Delta) Empty() bool { return len(d.Changes) == 0 }

// Apply brings s, which must be the State that d follows, up to it. Its slices are changed
// where they are. It costs a move of the reservations and steps behind each change.
func (s *State) Apply(d Delta) {
	for _, c := range d.Changes {
		i, found := slices.BinarySearchFunc(s.Reserved, c.Reserved, compareReserved)
		if found != c.Gone {
			panic(fmt.Sprintf("backfill: reservation %d over [%v, %v) does not follow from the state", c.ID, c.Start, c.End))
		}
		if c.Gone {
			s.Reserved = slices.Delete(s.Reserved, i, i+1)
			s.Take(max(c.Start, s.Now), c.End, -c.Nodes)
			continue
		}
		s.Reserved = slices.Insert(s.Reserved, i, c.Reserved)
		s.Take(c.Start, c.End, c.Nodes)
	}
	if d.Now == s.Now {
		return
	}
	s.Now = d.Now
	s.From(d.Now)
	s.Reserved = over(s.Reserved, d.Now)
}

// changes is what has become of a group since it was asked last.
type changes struct {
	list  []Change
	known bool // somebody asks, and they are all there is
}

// maxChanges bounds what is kept for somebody who may ask no more.
const maxChanges = 256

// note keeps a change.
func (c *changes) note(r Reserved, gone bool) {
	if !c.known {
		return
	}
	if len(c.list) == maxChanges {
		c.more()
		return
	}
	c.list = append(c.list, Change{r, gone})
}

// more says that the group has changed beyond its reservations.
func (c *changes) more() { c.known, c.list = false, c.list[:0] }

// Changes returns what has become of the group since the last call. Where that is more
// than the time and reservations, and at the first call, ok is false: State has it.
// Waiting jobs that have another rank or guarantee at each instant are such.
func (g *Group) Changes() (d Delta, ok bool) {
	c := &g.changed
	d.Now, ok = g.now, c.known && (g.line.len() == 0 || !g.policy.Conservative() && g.had == nil)
	if ok {
		d.Changes = slices.Clone(c.list)
	}
	c.known, c.list = true, c.list[:0]
	return d, ok
}
