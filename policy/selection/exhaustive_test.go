package selection

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// every calls yield with each choice of one alternative per job that has any,
// in lexicographic order.
func every(jobs [][]Alternative, yield func(chosen []int)) {
	chosen := make([]int, len(jobs))
	var from func(j int)
	from = func(j int) {
		if j == len(jobs) {
			yield(chosen)
			return
		}
		if len(jobs[j]) == 0 {
			chosen[j] = -1
			from(j + 1)
			return
		}
		for i := range jobs[j] {
			chosen[j] = i
			from(j + 1)
		}
	}
	from(0)
}

// exhaustive returns the choice with the least key among those allowed, the
// first of equal ones.
func exhaustive(jobs [][]Alternative, allowed func(t grid.Duration, c grid.Credits) bool, key func(chosen []int) []int64) []int {
	var best []int
	var least []int64
	every(jobs, func(chosen []int) {
		t, c, _ := Totals(jobs, chosen)
		if !allowed(t, c) {
			return
		}
		if k := key(chosen); best == nil || slices.Compare(k, least) < 0 {
			best, least = slices.Clone(chosen), k
		}
	})
	return best
}

func drawJobs(t *rapid.T) [][]Alternative {
	scale := rapid.SampledFrom([]int{3, 20, 1000}).Draw(t, "scale")
	n := rapid.IntRange(1, 5).Draw(t, "jobs")
	jobs := make([][]Alternative, n)
	for j := range jobs {
		for range rapid.IntRange(0, 5).Draw(t, "alternatives") {
			jobs[j] = append(jobs[j], Alternative{
				Time: grid.Duration(rapid.IntRange(0, scale).Draw(t, "time")),
				Cost: grid.Credits(rapid.IntRange(0, scale).Draw(t, "cost")),
				End:  grid.Time(rapid.IntRange(-scale, scale).Draw(t, "end")),
			})
		}
	}
	return jobs
}

func drawLimits(t *rapid.T, jobs [][]Alternative) Limits {
	l := Limits{Auto, Auto}
	if rapid.Bool().Draw(t, "give time") {
		l.Time = grid.Duration(rapid.Int64Range(0, 2*sumLeast(jobs, timeOf)+20).Draw(t, "T"))
	}
	if rapid.Bool().Draw(t, "give cost") {
		l.Cost = grid.Credits(rapid.Int64Range(0, 2*sumLeast(jobs, costOf)+20).Draw(t, "B"))
	}
	return l
}

func TestSelect_EqualsExhaustiveEnumeration(t *testing.T) {
	t.Parallel()
	var s Selector
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		for range 3 {
			given := drawLimits(t, jobs)
			s.stages.back.least = rapid.SampledFrom([]int{1, 20, trailRoom}).Draw(t, "trail")
			for goal := range Goal(3) {
				got := s.Select(jobs, goal, given)
				want, limits := selectAll(jobs, goal, given)
				if limits.Cost != Auto && got.Limits != limits {
					t.Fatalf("limits %v, want %v", got.Limits, limits)
				}
				if !slices.Equal(got.Chosen, want) {
					t.Fatalf("%v under %v: chose %v (%v), want %v", goal, limits, got.Chosen, got.Reason, want)
				}
				if got.Reason.Refused() != (want == nil) || got.Grid {
					t.Fatalf("reason %v, grid %v", got.Reason, got.Grid)
				}
			}
		}
	})
}

// selectAll is Select by enumeration.
func selectAll(jobs [][]Alternative, goal Goal, given Limits) ([]int, Limits) {
	limits := given
	if given.Time == Auto {
		limits.Time = exactTimeLimit(jobs)
	}
	if given.Cost == Auto {
		every(jobs, func(chosen []int) {
			if t, c, _ := Totals(jobs, chosen); t <= limits.Time {
				limits.Cost = max(limits.Cost, c)
			}
		})
	}
	if given.Time != Auto && given.Cost == Auto && limits.Cost == Auto {
		return nil, limits
	}
	allowed := func(t grid.Duration, c grid.Credits) bool {
		switch {
		case given.Time != Auto && t > given.Time, given.Cost != Auto && c > given.Cost:
			return false
		case goal == MinCost:
			return t <= limits.Time
		}
		return c <= limits.Cost
	}
	return exhaustive(jobs, allowed, func(chosen []int) []int64 {
		t, c, f := Totals(jobs, chosen)
		switch goal {
		case MinTime:
			return []int64{int64(t), int64(c)}
		case MinCost:
			return []int64{int64(c), int64(t)}
		}
		ends := int64(0)
		for j, i := range chosen {
			if i >= 0 {
				ends += int64(jobs[j][i].End)
			}
		}
		if given.Time != Auto { // two limits bind
			return []int64{int64(f), ends, int64(c), int64(t)}
		}
		return []int64{int64(f), ends, int64(c)}
	}), limits
}

func TestFront_EqualsExhaustiveEnumeration(t *testing.T) {
	t.Parallel()
	var s Selector
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		type triple struct{ c, t, f int64 }
		all := map[triple]bool{}
		every(jobs, func(chosen []int) {
			t, c, f := Totals(jobs, chosen)
			all[triple{int64(c), int64(t), int64(f)}] = true
		})
		var want []triple
		for x := range all {
			beaten := false
			for y := range all {
				beaten = beaten || y != x && y.c <= x.c && y.t <= x.t && y.f <= x.f
			}
			if !beaten {
				want = append(want, x)
			}
		}
		slices.SortFunc(want, func(a, b triple) int {
			return cmp.Or(cmp.Compare(a.c, b.c), cmp.Compare(a.t, b.t), cmp.Compare(a.f, b.f))
		})
		points, grid := s.Front(jobs)
		if grid {
			t.Fatal("thinned")
		}
		var got []triple
		for _, p := range points {
			got = append(got, triple{int64(p.Cost), int64(p.Time), int64(p.Finish)})
		}
		if len(sumJobs(jobs)) == 0 {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Fatalf("front %v, want %v", got, want)
		}
		most := 4 // vectors of a job: a bound that they just keep thins nothing
		for k := 1; k < len(s.vectors.starts); k++ {
			most = max(most, s.vectors.starts[k]-s.vectors.starts[k-1])
		}
		bounded := Selector{maximum: most}
		if again, grid := bounded.Front(jobs); grid || len(again) != len(points) {
			t.Fatalf("%d vectors a job are thinned from %d to %d", most, len(points), len(again))
		}
	})
}

func sumJobs(jobs [][]Alternative) (with []int) {
	for j := range jobs {
		if len(jobs[j]) > 0 {
			with = append(with, j)
		}
	}
	return with
}

// Under a bound on labels a selection stays within its limits and is found
// whenever there is one.
func TestSelect_GridStaysWithinLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Selector{maximum: rapid.IntRange(4, 10).Draw(t, "bound")}
		jobs := drawJobs(t)
		given := drawLimits(t, jobs)
		given.Time, given.Cost = max(given.Time, Auto), max(given.Cost, Auto)
		goal := Goal(rapid.IntRange(0, 2).Draw(t, "goal"))
		got := s.Select(jobs, goal, given)
		if got.Chosen == nil {
			want, _ := selectAll(jobs, goal, given)
			if want != nil && !got.Grid {
				t.Fatalf("nothing chosen, without a word of the grid; want %v", want)
			}
			return
		}
		time, cost, _ := Totals(jobs, got.Chosen)
		if given.Time != Auto && time > given.Time || given.Cost != Auto && cost > given.Cost || goal == MinCost && time > got.Limits.Time || goal != MinCost && cost > got.Limits.Cost {
			t.Fatalf("time %v, cost %v outside %v", time, cost, got.Limits)
		}
	})
}

func TestTimeLimit_TermsAreNotRounded(t *testing.T) {
	t.Parallel()
	jobs := [][]Alternative{
		{{Time: 1}, {Time: 2}}, // mean 3/2
		{{Time: 1}, {Time: 2}}, // together 3, where the paper's floor has 2
		{},
	}
	if got := TimeLimit(jobs); got != 3 {
		t.Errorf("T* is %d, want 3", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		if got, want := TimeLimit(jobs), exactTimeLimit(jobs); got != want {
			t.Fatalf("T* is %d, want %d", got, want)
		}
	})
}

func TestTimeLimit_CountsWithoutSmallCommonMultiple(t *testing.T) {
	t.Parallel()
	var jobs [][]Alternative
	want := 0.0
	for _, n := range []int{101, 103, 107, 109, 113, 127, 131, 137} {
		var list []Alternative
		sum := 0
		for i := range n {
			list = append(list, Alternative{Time: grid.Duration(1000*i + n)})
			sum += 1000*i + n
		}
		jobs = append(jobs, list)
		want += float64(sum) / float64(n)
	}
	if got := TimeLimit(jobs); got != grid.Duration(math.Floor(want+1e-6)) {
		t.Errorf("T* is %d, want %f", got, want)
	}
}
