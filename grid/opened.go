package grid

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
