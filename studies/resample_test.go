package studies

import (
	"math"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// A workload of which every block was drawn once is the workload: its figures are those of the
// run.
func TestResample_EachBlockOnceIsTheWorkload(t *testing.T) {
	t.Parallel()
	trace := PricingTrace{"t", 64, workloadtest.Drawn(600, 64, 0.8, 1)}
	for _, by := range []Blocks{ByWeeks, ByUsers} {
		cut := newPricingBlocks(by, trace.Jobs)
		run := &pricingRun{&trace, cut, 3}
		honest := tenth(0, 5)
		honest.lying, honest.declared = true, 200
		for _, c := range []pricingCell{tenth(20, 0), honest} {
			o, err := run.run(&c)
			if err != nil {
				t.Fatal(err)
			}
			w := o.weighed(ones(cut.count))
			for name, pair := range map[string][2]float64{"utilisation": {o.utilisation, w.utilisation}, "price": {o.price, w.price}, "free": {o.free, w.free},
				"below": {o.below, w.below}, "wait": {o.wait, w.wait}, "local": {o.local, w.local}, "late": {o.late, w.late},
				"harm": {o.harm, w.harm}, "refund": {o.refund, w.refund}} {
				if math.Abs(pair[0]-pair[1]) > 1e-9*max(1, math.Abs(pair[0])) {
					t.Errorf("blocks %v, %v: %s is %v, of the blocks %v", by, c, name, pair[0], pair[1])
				}
			}
			if c.alpha == 0 && o.dearest != w.dearest {
				t.Errorf("blocks %v: dearest %v, of the blocks %v", by, o.dearest, w.dearest)
			}
		}
	}
}

// Weeks are counted from the first submit; two days at the end belong to the last. A user's jobs are
// one block whenever they come.
func TestResample_ATraceIsCutIntoWeeksOrUsers(t *testing.T) {
	t.Parallel()
	day := func(n int) grid.Time { return grid.Time(0).Add(grid.Duration(n) * grid.Day) }
	weeks, users := newCutter(ByWeeks, day(1), day(31)), newCutter(ByUsers, day(1), day(31))
	for _, c := range []struct {
		at         int
		user       int64
		week, whom int
	}{{1, 7, 0, 0}, {7, 8, 0, 1}, {8, 7, 1, 0}, {28, -1, 3, 2}, {31, 8, 3, 1}} {
		if w, u := weeks.block(day(c.at), c.user), users.block(day(c.at), c.user); w != c.week || u != c.whom {
			t.Errorf("day %d, user %d: week %d, user %d, want %d and %d", c.at, c.user, w, u, c.week, c.whom)
		}
	}
	if weeks.blocks() != 4 || users.blocks() != 3 {
		t.Errorf("%d weeks, %d users", weeks.blocks(), users.blocks())
	}
}

// Of a mean of independent blocks the interval is about that of Student's t over the blocks, and one seed
// gives one interval.
func TestResample_TheIntervalIsThatOfTheBlocks(t *testing.T) {
	t.Parallel()
	values := []float64{3, 5, 4, 9, 6, 2, 5, 7, 4, 5, 8, 3}
	weighed := func(r *redraw) []Row {
		s := 0.0
		for i, w := range r.weights[0] {
			s += w * values[i] / float64(len(values))
		}
		return []Row{{Here: s}}
	}
	covered := func(seed uint64) Row {
		rows := []Row{{Blocks: len(values)}}
		resample(rows, []int{len(values)}, seed, weighed)
		return rows[0]
	}
	_, half := interval(values)
	r := covered(1)
	if r.Workload < 0.85*half || r.Workload > 1.15*half || len(r.resampled) != resamples {
		t.Errorf("± %v of %d resamples, by Student's t ± %v", r.Workload, len(r.resampled), half)
	}
	if covered(1).Workload != r.Workload || covered(2).Workload == r.Workload {
		t.Error("the interval does not follow the seed")
	}
	few := []Row{{Blocks: 2}}
	resample(few, []int{2}, 1, weighed)
	if few[0].Blocks != 0 || few[0].Workload != 0 {
		t.Errorf("two blocks have no interval: %+v", few[0])
	}
}
