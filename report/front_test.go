package report

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse"
	"bourse/policy/selection"
)

// The front is what is left of all combinations when those that another beats
// are struck out.
func TestFront_IsThatOfAllCombinations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := batch{}
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			var list []selection.Alternative
			for range rapid.IntRange(1, 4).Draw(t, "alternatives") {
				list = append(list, selection.Alternative{Time: bourse.Duration(rapid.Int64Range(0, 20).Draw(t, "time")),
					Cost: bourse.Credits(rapid.Int64Range(0, 20).Draw(t, "cost")), End: bourse.Time(rapid.Int64Range(0, 9).Draw(t, "end"))})
			}
			b.jobs = append(b.jobs, list)
		}
		all := []outcome{{}}
		for _, list := range b.jobs {
			var next []outcome
			for _, o := range all {
				for _, a := range list {
					next = append(next, outcome{cost: o.cost + a.Cost, time: o.time + a.Time})
				}
			}
			all = next
		}
		type point struct {
			cost bourse.Credits
			time bourse.Duration
		}
		var want []point
		for _, o := range all {
			beaten := slices.ContainsFunc(all, func(x outcome) bool {
				return x.cost <= o.cost && x.time <= o.time && (x.cost < o.cost || x.time < o.time)
			})
			if p := (point{o.cost, o.time}); !beaten && !slices.Contains(want, p) {
				want = append(want, p)
			}
		}
		slices.SortFunc(want, func(x, y point) int { return int(x.cost - y.cost) })
		found, exact := b.front()
		var got []point
		for _, o := range found {
			got = append(got, point{o.cost, o.time})
		}
		if !slices.Equal(got, want) || !exact {
			t.Fatalf("front %v (exact %t), want %v", got, exact, want)
		}
	})
}

// A batch of many jobs is taken in steps, which costs a point little.
func TestFront_OfManyJobsIsNearTheExactOne(t *testing.T) {
	t.Parallel()
	b := batch{}
	for j := range 100 {
		var list []selection.Alternative
		for k := range 20 {
			list = append(list, selection.Alternative{Time: bourse.Duration(3_600_000 + (20-k)*100_000 + j*17), Cost: bourse.Credits(1_000_000 + k*k*30_000 + j*7)})
		}
		b.jobs = append(b.jobs, list)
	}
	found, exact := b.front()
	if exact || len(found) < 50 {
		t.Fatalf("%d points, exact %t", len(found), exact)
	}
	for i := 1; i < len(found); i++ {
		if found[i].cost <= found[i-1].cost || found[i].time >= found[i-1].time {
			t.Fatalf("point %d, %v, does not follow on %v", i, found[i], found[i-1])
		}
	}
}

func TestTicks_AreRoundAndCoverTheAxis(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e6, 1e6).Draw(t, "low")
		high := low + rapid.Float64Range(1e-3, 1e7).Draw(t, "span")
		most := rapid.IntRange(1, 12).Draw(t, "most")
		list := ticks(low, high, most)
		if len(list) > most+1 {
			t.Fatalf("%d ticks, want about %d", len(list), most)
		}
		for i, v := range list {
			if v < low-1e-6*(high-low) || v > high+1e-6*(high-low) || i > 0 && v <= list[i-1] {
				t.Fatalf("ticks %v of %v to %v", list, low, high)
			}
		}
		if top := above(high - low); top < high-low || top > 1.6*(high-low) {
			t.Fatalf("above %v is %v", high-low, top)
		}
	})
}
