package selection

import (
	"math"

	"github.com/bourse-grid/bourse/grid"
)

// Point is a choice that no other choice beats in cost, time and finish at once. With
// limits B* and T*, D is B* - Cost and I is T* - Time.
type Point struct {
	Cost   grid.Credits
	Time   grid.Duration
	Finish grid.Time // the latest end
	Chosen []int     // as in Result
}

// Front returns the whole Pareto front of the batch over cost, time and finish, sorted by
// these in ascending order, without any limits. Of choices that are equal in all three one
// is returned. The number of points can grow with the product of the jobs' alternatives.
// Beyond 100,000 labels for a job they are thinned to a grid, and grid is true; the points
// are then still valid choices, but others may beat them.
func (s *Selector) Front(jobs [][]Alternative) (points []Point, grid bool) {
	check(jobs)
	if !s.vectors.run(jobs, math.MaxInt64, latestEnd, math.MaxInt64, math.MaxInt64, s.bound()) || len(s.vectors.jobs) == 0 {
		return nil, false
	}
	for i := range s.vectors.last() {
		p := Point{Chosen: make([]int, len(jobs))}
		s.vectors.trace(i, p.Chosen)
		p.Time, p.Cost, p.Finish = Totals(jobs, p.Chosen)
		points = append(points, p)
	}
	return points, s.vectors.grid
}
