package grid

import "slices"

// Bought is what several windows come to; the zero Bought is that of none.
type Bought struct {
	Sites []string `json:"sites,omitempty"` // each once, in order of name
	Start Time     `json:"start"`           // of the first
	End   Time     `json:"end"`             // of the last
	Cost  Credits  `json:"cost"`            // of all, before refunds
}

// Add counts a leg at a site.
func (b *Bought) Add(site string, start, end Time, cost Credits) {
	if b.End == 0 || start < b.Start {
		b.Start = start
	}
	b.End, b.Cost = max(b.End, end), b.Cost.Plus(cost)
	if at, known := slices.BinarySearch(b.Sites, site); !known {
		b.Sites = slices.Insert(slices.Clone(b.Sites), at, site) // others may hold the list
	}
}
