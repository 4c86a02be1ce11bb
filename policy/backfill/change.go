package backfill

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Someone who keeps a State of a group asks for it again after each reservation, and a
// group has hundreds. Copying everything would cost more than all other work for that
// reservation. So a group can report what has changed since the last call, as long as that
// is only the time and its reservations; otherwise the caller must take the whole State.
// Both ways lead to the same State, value for value.

// Change is a new reservation or, if Gone, one given back before its end.
type Change struct {
	Reserved
	Gone bool
}

// Delta is what has changed since a State. It shares nothing with the group.
type Delta struct {
	Now     grid.Time
	Changes []Change // in the order they happened
}

// Empty reports whether nothing but the time has changed.
func (d *Delta) Empty() bool { return len(d.Changes) == 0 }

// Apply brings s, which must be the State that d follows, up to date, and panics if a
// change does not follow from s. It changes the slices of s in place. Each change costs a
// shift of the reservations and steps behind it.
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

// changes is what has changed in a group since the last call of Changes.
type changes struct {
	list  []Change
	known bool // a caller asks for changes, and list has all of them
}

// maxChanges bounds what is kept for a caller who may never ask again.
const maxChanges = 256

// note records a change.
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

// more records that more has changed than the reservations.
func (c *changes) more() { c.known, c.list = false, c.list[:0] }

// Changes returns what has changed in the group since the last call. ok is false at the
// first call and if more than the time and reservations have changed; the caller then needs
// State. That includes waiting jobs if their rank or guarantee depends on the time.
func (g *Group) Changes() (d Delta, ok bool) {
	c := &g.changed
	d.Now, ok = g.now, c.known && (g.Waiting() == 0 || !g.policy.Conservative() && g.owners == nil && !g.values.change(g.policy))
	if ok {
		d.Changes = slices.Clone(c.list)
	}
	c.known, c.list = true, c.list[:0]
	return d, ok
}
