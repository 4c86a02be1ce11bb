package evidence

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Weeks are counted from the first submit; two days at the end belong to the last. A user's jobs are
// one block whenever they come.
func TestResample_ATraceIsCutIntoWeeksOrUsers(t *testing.T) {
	t.Parallel()
	day := func(n int) grid.Time { return grid.Time(0).Add(grid.Duration(n) * grid.Day) }
	weeks, users := NewCutter(ByWeeks, day(1), day(31)), NewCutter(ByUsers, day(1), day(31))
	for _, c := range []struct {
		at         int
		user       int64
		week, whom int
	}{{1, 7, 0, 0}, {7, 8, 0, 1}, {8, 7, 1, 0}, {28, -1, 3, 2}, {31, 8, 3, 1}} {
		if w, u := weeks.Block(day(c.at), c.user), users.Block(day(c.at), c.user); w != c.week || u != c.whom {
			t.Errorf("day %d, user %d: week %d, user %d, want %d and %d", c.at, c.user, w, u, c.week, c.whom)
		}
	}
	if weeks.Blocks() != 4 || users.Blocks() != 3 {
		t.Errorf("%d weeks, %d users", weeks.Blocks(), users.Blocks())
	}
}

// Of a mean of independent blocks the interval is about that of Student's t over the blocks, and one seed
// gives one interval.
func TestResample_TheIntervalIsThatOfTheBlocks(t *testing.T) {
	t.Parallel()
	values := []float64{3, 5, 4, 9, 6, 2, 5, 7, 4, 5, 8, 3}
	weighed := func(r *Redraw) []Row {
		s := 0.0
		for i, w := range r.Weights[0] {
			s += w * values[i] / float64(len(values))
		}
		return []Row{{Here: s}}
	}
	covered := func(seed uint64) Row {
		rows := []Row{{Blocks: len(values)}}
		Resample(rows, []int{len(values)}, seed, weighed)
		return rows[0]
	}
	_, half := Interval(values)
	r := covered(1)
	if r.Workload < 0.85*half || r.Workload > 1.15*half || len(r.resampled) != resamples {
		t.Errorf("± %v of %d resamples, by Student's t ± %v", r.Workload, len(r.resampled), half)
	}
	if covered(1).Workload != r.Workload || covered(2).Workload == r.Workload {
		t.Error("the interval does not follow the seed")
	}
	few := []Row{{Blocks: 2}}
	Resample(few, []int{2}, 1, weighed)
	if few[0].Blocks != 0 || few[0].Workload != 0 {
		t.Errorf("two blocks have no interval: %+v", few[0])
	}
}
