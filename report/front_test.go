package report

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/selection"
)

// The front is what is left of all combinations when those that another beats, in
// cost and on the axis of the goal, are struck out.
func TestFront_IsThatOfAllCombinations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := batch{goal: rapid.SampledFrom([]string{"time", "cost", "finish", "value"}).Draw(t, "goal")}
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			var list []selection.Alternative
			var waits []grid.Credits
			for range rapid.IntRange(1, 4).Draw(t, "alternatives") {
				list = append(list, selection.Alternative{Time: grid.Duration(rapid.Int64Range(0, 20).Draw(t, "time")),
					Cost: grid.Credits(rapid.Int64Range(0, 20).Draw(t, "cost")), End: grid.Time(rapid.Int64Range(0, 9).Draw(t, "end"))})
				waits = append(waits, grid.Credits(rapid.Int64Range(0, 20).Draw(t, "wait")))
			}
			b.jobs, b.waits = append(b.jobs, list), append(b.waits, waits)
		}
		type point struct {
			cost   grid.Credits
			second int64
		}
		all := []point{{}}
		for i, list := range b.jobs {
			var next []point
			for _, o := range all {
				for k, a := range list {
					x := point{o.cost + a.Cost, o.second + int64(a.Time)}
					switch b.goal {
					case "finish":
						x.second = max(o.second, int64(a.End))
					case "value":
						x.second = o.second + int64(b.waits[i][k])
					}
					next = append(next, x)
				}
			}
			all = next
		}
		var want []point
		for _, o := range all {
			beaten := slices.ContainsFunc(all, func(x point) bool {
				return x.cost <= o.cost && x.second <= o.second && (x.cost < o.cost || x.second < o.second)
			})
			if !beaten && !slices.Contains(want, o) {
				want = append(want, o)
			}
		}
		slices.SortFunc(want, func(x, y point) int { return int(x.cost - y.cost) })
		found, exact := b.front()
		var got []point
		for _, o := range found {
			got = append(got, point{o.cost, b.axis().of(&o)})
		}
		if !slices.Equal(got, want) || !exact {
			t.Fatalf("%s: front %v (exact %t), want %v", b.goal, got, exact, want)
		}
	})
}

// The worth of waiting may come near to the largest amount of credits.
func TestFront_OfTheHighestUrgenciesIsTakenInSteps(t *testing.T) {
	t.Parallel()
	b := batch{goal: "value"}
	r := grid.Request{Urgency: grid.Hourly(grid.MaxUrgency)}
	for range 8 {
		soon, late := waitWorth(&r, 0, grid.Time(grid.Hour)), waitWorth(&r, 0, grid.Time(grid.MaxDuration))
		b.jobs = append(b.jobs, []selection.Alternative{{Cost: 2}, {Cost: 1}})
		b.waits = append(b.waits, []grid.Credits{soon, late})
	}
	if found, exact := b.front(); exact || len(found) < 2 || found[0].cost != 8 || found[len(found)-1].cost != 16 {
		t.Errorf("%d points, exact %t: %v", len(found), exact, found)
	}
}

// By hand: two hours from being ready until the end, at 3 credits an hour of the
// job's own or 11 % of a budget of 100.
func TestWaitWorth_IsTheUrgencyTimesTheTimeFromReadyToEnd(t *testing.T) {
	t.Parallel()
	r := grid.Request{Ready: grid.Time(grid.Hour), Budget: 100 * grid.Credit}
	if got := waitWorth(&r, grid.DefaultUrgency(), grid.Time(3*grid.Hour)); got != 22*grid.Credit {
		t.Errorf("%v, want 22", got)
	}
	r.Urgency = grid.Hourly(3 * grid.Credit)
	if got := waitWorth(&r, grid.DefaultUrgency(), grid.Time(3*grid.Hour)); got != 6*grid.Credit {
		t.Errorf("%v, want 6", got)
	}
}

// A batch of many jobs is taken in steps, which costs a point little.
func TestFront_OfManyJobsIsNearTheExactOne(t *testing.T) {
	t.Parallel()
	b := batch{}
	for j := range 100 {
		var list []selection.Alternative
		for k := range 20 {
			list = append(list, selection.Alternative{Time: grid.Duration(3_600_000 + (20-k)*100_000 + j*17), Cost: grid.Credits(1_000_000 + k*k*30_000 + j*7)})
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
