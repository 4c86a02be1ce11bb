package selection

import (
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// finish minimises the latest end and then the sum of ends, within the budget limit in
// force and, if given, the time limit. It finds by bisection the earliest time by which
// some choice can be over, and of the alternatives that end by then takes the choice with
// the least sum.
func (s *Selector) finish(jobs [][]Alternative, given, limits Limits, chosen []int) bool {
	s.ends = s.ends[:0]
	for _, alternatives := range jobs {
		for i := range alternatives {
			s.ends = append(s.ends, alternatives[i].End)
		}
	}
	if len(s.ends) == 0 {
		s.ends = append(s.ends, 0)
	}
	slices.Sort(s.ends)
	s.ends = slices.Compact(s.ends)
	within := int64(math.MaxInt64)
	if given.Time != Auto {
		within = int64(given.Time)
	}
	gridded := false
	over := func(most grid.Time) bool {
		if within == math.MaxInt64 {
			return possible(jobs, most, int64(limits.Cost))
		}
		ok := s.stages.solve(jobs, most, costOf, timeOf, int64(limits.Cost), s.bound(), nil)
		gridded = gridded || ok && s.stages.grid
		return ok && s.stages.value <= within
	}
	low, high := 0, len(s.ends)-1
	if !over(s.ends[high]) {
		return false
	}
	for low < high {
		mid := (low + high) / 2
		if over(s.ends[mid]) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	most := s.ends[high]
	if within == math.MaxInt64 {
		return s.stages.solve(jobs, most, costOf, endOf, int64(limits.Cost), s.bound(), chosen)
	}
	ok := s.vectors.run(jobs, most, sumOfEnds, int64(limits.Cost), within, s.bound())
	s.vectors.grid = s.vectors.grid || gridded
	if !ok {
		return false
	}
	best := 0
	for i, v := range s.vectors.last() {
		if v.end < s.vectors.last()[best].end {
			best = i // in order of cost, so ties keep the cheaper one
		}
	}
	s.vectors.trace(best, chosen)
	return true
}

// possible reports whether the cheapest alternatives that end by most are
// within the limit.
func possible(jobs [][]Alternative, most grid.Time, limit int64) bool {
	total := int64(0)
	for _, alternatives := range jobs {
		least := int64(-1)
		for i := range alternatives {
			if a := &alternatives[i]; a.End <= most && (least < 0 || int64(a.Cost) < least) {
				least = int64(a.Cost)
			}
		}
		if least < 0 && len(alternatives) > 0 {
			return false
		}
		total += max(least, 0)
	}
	return total <= limit
}
