package grid

// Slot is Count equal nodes of one group, free over the half-open interval
// [Start, End). A list of slots is sorted by Start; equal starts keep their
// order, and that order settles ties.
type Slot struct {
	Group       int32 // index into the groups the list was made for
	Count       int32
	Start, End  Time
	Performance Performance
	Price       Price
	Free        int32 // slices, of a node that portions share over the interval; 0: the whole node
}

// Part is Count nodes of one group taken by a window over [Start, End).
type Part struct {
	Group      int32 // index into the groups of the search
	Count      int32
	Start, End Time
	Cost       Credits // of all Count nodes
	Of         int32   // the part of the job that they carry, an index; 0 for a job of one piece
	Slices     int32   // of each node; 0: all
}

// Window is a set of parts with one common start; the parts end when their own
// nodes are done, so its right edge may be ragged (Toporkov et al., section 2). Those of a
// job of unlike parts begin at the start plus their offsets; one has the offset 0.
type Window struct {
	Start Time
	Time  Duration // from the start to the last end
	Cost  Credits  // the sum of the parts, at base price
	Parts []Part   // in list order; of a job of unlike parts, by its parts first

	// Bounded says that the search for it reached its bound: there may be a better one.
	Bounded bool
}

// End is the last end.
func (w *Window) End() Time { return w.Start.Add(w.Time) }

// Nodes is the number of nodes over all parts.
func (w *Window) Nodes() int {
	n := 0
	for i := range w.Parts {
		n += int(w.Parts[i].Count)
	}
	return n
}
