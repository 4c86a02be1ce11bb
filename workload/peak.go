package workload

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Peak is the most processors that the jobs of a trace used at once, each from
// its submit and wait on for as long as it ran; an unknown wait counts as none.
// O(n log n) in the records.
func (t *Trace) Peak() int { return t.Size(1) }

// Size estimates from a log the size of a machine that the log does not name. It is the
// number of processors within which the jobs, counted as for Peak, stayed for a share,
// 0..1, of the time from the first start to the last end, and at least the width of the
// widest job. A log that lists a job twice for a while has a Peak far above the real size.
// It costs O(n log n) in the records.
func (t *Trace) Size(share float64) int {
	changes, widest := t.changes()
	spans := map[int]grid.Duration{} // by processors in use
	used, total := 0, grid.Duration(0)
	for i, c := range changes {
		if i > 0 {
			d := c.at.Sub(changes[i-1].at)
			spans[used] += d
			total += d
		}
		used += c.processors
	}
	levels := make([]int, 0, len(spans))
	for n, d := range spans {
		if d > 0 {
			levels = append(levels, n)
		}
	}
	slices.Sort(levels)
	within := grid.Duration(0)
	for _, n := range levels {
		if within += spans[n]; float64(within) >= share*float64(total) {
			return max(n, widest)
		}
	}
	return widest
}

// change is a number of processors that are taken or freed at an instant.
type change struct {
	at         grid.Time
	processors int
}

// changes lists the starts and ends of the jobs that ran, in order; of one instant
// the ends come first.
func (t *Trace) changes() (list []change, widest int) {
	for i := range t.Records {
		r := &t.Records[i]
		run, n := r.Run(), r.Processors()
		if run <= 0 || n <= 0 {
			continue
		}
		start := r.Submit().Add(max(grid.Duration(r[WaitTime].Millis()), 0))
		list = append(list, change{start, n}, change{start.Add(run), -n})
		widest = max(widest, n)
	}
	slices.SortFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.processors, b.processors))
	})
	return list, widest
}
