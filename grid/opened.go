package grid

import "cmp"

// Opened is a node of a group that portions share over [Start, End): the first of them took
// the whole node out of the profile, others may lie inside.
type Opened struct {
	Group      int32 // index into the groups of the search
	Start, End Time
	Free       Profile // slices that are free; it begins at Start, and is 0 from End on
}

// Open returns a node that is opened over [start, end) with so many slices free.
func Open(group int32, start, end Time, free int) Opened {
	o := Opened{Group: group, Start: start, End: end, Free: NewProfile(start, free)}
	if free > 0 {
		o.Free.Add(end, Never, -free)
	}
	return o
}

// Extend makes the node open up to end too, with so many slices free from its end on.
func (o *Opened) Extend(end Time, free int) {
	o.Free.Add(o.End, end, free)
	o.End = end
}

// Holds reports whether so many slices are free all over [from, to), and when the interval in
// which they are ends.
func (o *Opened) Holds(slices int, from, to Time) (end Time, ok bool) {
	if from < o.Start || to > o.End || o.Least(from, to) < slices {
		return 0, false
	}
	end = o.End
	for i := o.Free.Index(to); i < len(o.Free); i++ {
		if s := o.Free[i]; s.At >= to && s.Free < slices {
			return s.At, true
		}
	}
	return end, true
}

// Clone returns a copy that shares nothing.
func (o *Opened) Clone() Opened {
	return Opened{Group: o.Group, Start: o.Start, End: o.End, Free: o.Free.Clone()}
}

// Within returns a copy clipped to [from, to), and whether anything of it lies there.
func (o *Opened) Within(from, to Time) (Opened, bool) {
	c := Opened{Group: o.Group, Start: max(o.Start, from), End: min(o.End, to)}
	if c.Start >= c.End {
		return c, false
	}
	c.Free = append(c.Free, Step{c.Start, o.Free.At(c.Start)})
	for _, s := range o.Free {
		if s.At > c.Start && s.At < c.End && s.Free != c.Free[len(c.Free)-1].Free {
			c.Free = append(c.Free, s)
		}
	}
	if c.Free[len(c.Free)-1].Free != 0 {
		c.Free = append(c.Free, Step{c.End, 0})
	}
	return c, true
}

// Compare orders opened nodes by start, then by end.
func (o *Opened) Compare(x *Opened) int {
	return cmp.Or(cmp.Compare(o.Start, x.Start), cmp.Compare(o.End, x.End))
}

// MaxOpened bounds the opened nodes of a group in an offer.
const MaxOpened = 4096

// Least returns the fewest slices that are free at any instant of [from, to), which must lie
// within the node's interval.
func (o *Opened) Least(from, to Time) int { return o.Free.Min(from, to) }

// Take takes slices over [from, to), which must be free there.
func (o *Opened) Take(from, to Time, slices int) { o.Free.Add(from, to, -slices) }

// Spans calls yield for each maximal interval in which so many slices, 1 or more, are free,
// in order.
func (o *Opened) Spans(slices int, yield func(from, to Time)) {
	from, open := Time(0), false
	for _, s := range o.Free {
		switch {
		case s.Free >= slices && !open:
			from, open = s.At, true
		case s.Free < slices && open:
			yield(from, s.At)
			open = false
		}
	}
}
