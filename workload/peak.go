package workload

import (
	"cmp"
	"slices"

	"bourse"
)

// Peak is the most processors that the jobs of a trace used at once, each from
// its submit and wait on for as long as it ran; an unknown wait counts as none.
// It is what a log says of the size of a machine that it does not name.
// O(n log n) in the records.
func (t *Trace) Peak() int {
	type change struct {
		at         bourse.Time
		processors int
	}
	var list []change
	for i := range t.Records {
		r := &t.Records[i]
		run, n := r.Run(), r.Processors()
		if run <= 0 || n <= 0 {
			continue
		}
		start := r.Submit().Add(max(bourse.Duration(r[WaitTime].Millis()), 0))
		list = append(list, change{start, n}, change{start.Add(run), -n})
	}
	slices.SortFunc(list, func(a, b change) int { // of one instant the ends come first
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.processors, b.processors))
	})
	used, peak := 0, 0
	for _, c := range list {
		used += c.processors
		peak = max(peak, used)
	}
	return peak
}
