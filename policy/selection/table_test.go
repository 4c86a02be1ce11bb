package selection

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// table is formula 1 of the paper, run as it is printed: by jobs, for every sum of z up to
// the limit, the least sum of g. It returns the least of all, and the least z that has it.
func table(jobs [][]Alternative, z, g criterion, limit int64) (value, at int64, ok bool) {
	const none = math.MaxInt64
	f := make([]int64, limit+1)
	for i := range f {
		f[i] = none
	}
	f[0] = 0
	for _, list := range jobs {
		if len(list) == 0 {
			continue
		}
		next := make([]int64, limit+1)
		for i := range next {
			next[i] = none
		}
		for i := range list {
			dz, dg := z(&list[i]), g(&list[i])
			for sum := dz; sum <= limit; sum++ {
				if f[sum-dz] < none {
					next[sum] = min(next[sum], f[sum-dz]+dg)
				}
			}
		}
		f = next
	}
	value = none
	for sum, v := range f {
		if v < value {
			value, at = v, int64(sum)
		}
	}
	return value, at, value < none
}

// batch draws jobs whose quicker alternatives cost more, most of them.
func batch(r *rand.Rand, n, most int) [][]Alternative {
	jobs := make([][]Alternative, n)
	for j := range jobs {
		for range r.IntN(most + 1) {
			quick := 1 + r.Int64N(60)
			jobs[j] = append(jobs[j], Alternative{Time: grid.Duration(quick), Cost: grid.Credits(400/(quick+3) + r.Int64N(20)), End: grid.Time(r.Int64N(90))})
		}
	}
	return jobs
}

// alike draws jobs of one price or two for a unit of time, so that many sums are as good as
// others.
func alike(r *rand.Rand, n int, most int64) [][]Alternative {
	jobs, prices := make([][]Alternative, n), 1+r.Int64N(2)
	for j := range jobs {
		slope := 1 + r.Int64N(prices)
		for range r.IntN(4) {
			cost := r.Int64N(most)
			jobs[j] = append(jobs[j], Alternative{Time: grid.Duration(slope*(most-cost) + r.Int64N(2)), Cost: grid.Credits(cost)})
		}
	}
	return jobs
}

// Batches too large to enumerate: the values are those of the whole table.
func TestSelect_EqualsTheTableOfThePaper(t *testing.T) {
	t.Parallel()
	var s Selector
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		jobs := batch(r, 4+r.IntN(16), 1+r.IntN(7))
		limit := TimeLimit(jobs)
		if got, _, ok := table(jobs, timeOf, incomeOf, int64(limit)); ok && s.BudgetLimit(jobs, limit) != grid.Credits(-got) {
			t.Fatalf("seed %d: B* is %v, want %v", seed, s.BudgetLimit(jobs, limit), -got)
		}
		for _, share := range []int64{100, 40, 10, 3} { // of what is between the least and the most
			low, high := sumLeast(jobs, costOf), int64(s.BudgetLimit(jobs, limit))
			budget := low + (high-low)*share/100
			if x := s.Select(jobs, MinTime, Limits{Auto, grid.Credits(budget)}); x.Chosen != nil {
				value, at, _ := table(jobs, costOf, timeOf, budget)
				if int64(x.Time) != value || int64(x.Cost) != at || x.Grid {
					t.Fatalf("seed %d, %d %%: %d for %d, want %d for %d", seed, share, x.Time, x.Cost, value, at)
				}
			}
			low, high = sumLeast(jobs, timeOf), int64(limit)
			within := low + (high-low)*share/100
			x := s.Select(jobs, MinCost, Limits{grid.Duration(within), Auto})
			value, at, _ := table(jobs, timeOf, costOf, within)
			if int64(x.Cost) != value || int64(x.Time) != at || x.Grid {
				t.Fatalf("seed %d, %d %%: %d in %d, want %d in %d", seed, share, x.Cost, x.Time, value, at)
			}
		}
	}
}

// On a grid of half as many cells as labels may be, each job loses less than a cell: a
// choice is no worse than the best within a limit that is a cell for each job lower. What
// is not the best is said to be of a grid, and B* is what some choice brings.
func TestSelect_OnAGridLosesACellAJob(t *testing.T) {
	t.Parallel()
	grids := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		jobs := alike(r, 10+r.IntN(15), 800)
		s := Selector{maximum: 60 + r.IntN(60)}
		n := int64(len(sumJobs(jobs)))
		for goal, of := range map[Goal][2]criterion{MinTime: {costOf, timeOf}, MinCost: {timeOf, costOf}} {
			limit := sumLeast(jobs, of[0]) + n*80
			given := Limits{Auto, grid.Credits(limit)}
			if goal == MinCost {
				given = Limits{grid.Duration(limit), 1 << 40}
			}
			x := s.Select(jobs, goal, given)
			if x.Chosen == nil {
				continue // T* may be too short
			}
			sums := map[Goal][2]int64{MinTime: {int64(x.Cost), int64(x.Time)}, MinCost: {int64(x.Time), int64(x.Cost)}}[goal]
			if sums[0] > limit {
				t.Fatalf("seed %d: %d is above the limit, %d", seed, sums[0], limit)
			}
			best, _, _ := table(jobs, of[0], of[1], limit)
			if sums[1] != best && !x.Grid || sums[1] < best {
				t.Fatalf("seed %d: %d, the best is %d, and of a grid nothing is said", seed, sums[1], best)
			}
			if x.Grid {
				grids++
			}
			cell := limit/int64(s.maximum/2) + 1
			if worse, _, ok := table(jobs, of[0], of[1], max(0, limit-n*cell)); ok && sums[1] > worse {
				t.Fatalf("seed %d: %d, without a grid and %d cells of %d less it is %d", seed, sums[1], n, cell, worse)
			}
		}
		for _, maximum := range []int{4, 20} {
			s.maximum = maximum
			within := TimeLimit(jobs)
			if got, most := -int64(s.BudgetLimit(jobs, within)), int64(0); got != -Auto {
				if most, _, _ = table(jobs, timeOf, incomeOf, int64(within)); got < most || got > -sumLeast(jobs, costOf) {
					t.Fatalf("seed %d: B* is %d on a grid, %d is the most that any choice brings", seed, -got, -most)
				}
			}
		}
	}
	if grids < 20 {
		t.Errorf("only %d grids", grids)
	}
}

// B* on a grid is the cost of a choice within the time.
func TestBudgetLimit_OnAGridIsWhatSomeChoiceBrings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		jobs := alike(r, 6+r.IntN(4), 300)
		s, within, real := Selector{maximum: 4}, TimeLimit(jobs), false
		got := s.BudgetLimit(jobs, within)
		every(jobs, func(chosen []int) {
			d, c, _ := Totals(jobs, chosen)
			real = real || d <= within && c == got
		})
		if !real && got != Auto {
			t.Fatalf("seed %d: no choice within %v brings %v", seed, within, got)
		}
	}
}

// Of vectors that are too many few are left: in each cell of a grid over cost and time
// that had one there is one that ends no later, and the cheapest and the quickest stay.
func TestThin_KeepsAVectorOfEachCell(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		var v vectors
		var list []vector
		for i := range int32(2 + r.IntN(200)) {
			cost := 1000 + r.Int64N(300)
			list = append(list, vector{cost, 5000 - cost + r.Int64N(500), r.Int64N(1000), i, 0})
		}
		list = v.filter(list)
		bound := 4 + r.IntN(60)
		all := append([]vector(nil), list...)
		got := v.thin(list, bound)
		if v.grid != (len(all) > bound) || len(got) > max(bound, 4) {
			t.Fatalf("seed %d: %d of %d are left, the bound is %d, grid %t", seed, len(got), len(all), bound, v.grid)
		}
		if !v.grid {
			continue
		}
		cheapest, quickest, low, high := all[0], all[0], all[0], all[0]
		for _, x := range all {
			low.cost, high.cost, low.time, high.time = min(low.cost, x.cost), max(high.cost, x.cost), min(low.time, x.time), max(high.time, x.time)
			if x.time < quickest.time {
				quickest = x
			}
		}
		side := int64(math.Sqrt(float64(bound - 2)))
		stairs := func(x vector) bool { // one that is left is as cheap, as quick and ends as soon, to a cell
			for _, y := range got {
				if y.cost <= x.cost+(high.cost-low.cost)/side && y.time <= x.time+(high.time-low.time)/side && y.end <= x.end {
					return true
				}
			}
			return false
		}
		ends := [2]bool{}
		for _, x := range got {
			ends[0], ends[1] = ends[0] || x == cheapest, ends[1] || x == quickest
		}
		if !ends[0] || !ends[1] {
			t.Fatalf("seed %d: the cheapest is left: %t, the quickest: %t", seed, ends[0], ends[1])
		}
		for _, x := range all {
			if !stairs(x) {
				t.Fatalf("seed %d: %v has gone, and none of its cell is left in %v", seed, x, got)
			}
		}
	}
}

// The words of a refusal, and the job that it is about.
func TestSelect_Refusals(t *testing.T) {
	t.Parallel()
	jobs := [][]Alternative{{{Time: 1000, Cost: 4 * grid.Credit, End: 1}, {Time: 3000, Cost: grid.Credit, End: 3}}, nil, {{Time: 2000, Cost: 2 * grid.Credit, End: 2}}}
	var s Selector
	for _, c := range []struct {
		goal  Goal
		given Limits
		code  grid.Code
		want  string
	}{
		{MinTime, Limits{2999, Auto}, grid.LimitTime, "the quickest selection takes 3 s in all, the time limit is 2.999 s"},
		{MinCost, Limits{Auto, 3*grid.Credit - 1}, grid.LimitBudget, "the cheapest selection costs 3 credits, the budget limit is 2.999999"},
		{MinTime, Limits{4000, 5 * grid.Credit}, grid.LimitTime, "no selection is within the time limit of 4 s and the budget limit of 5 credits together; the nearest takes 5 s and costs 3"},
		{MinCost, Limits{4000, 5 * grid.Credit}, grid.LimitBudget, "no selection is within the time limit of 4 s and the budget limit of 5 credits together; the nearest takes 3 s and costs 6"},
		{MinFinish, Limits{4000, 5 * grid.Credit}, grid.LimitTime, "no selection is within the time limit of 4 s and the budget limit of 5 credits together"},
		{MinTime, Limits{3000, 6 * grid.Credit}, grid.None, ""},
		{MinCost, Limits{5000, 3 * grid.Credit}, grid.None, ""},
		{MinFinish, Limits{3000, 6 * grid.Credit}, grid.None, ""},
	} {
		x := s.Select(jobs, c.goal, c.given)
		if x.Reason.Code != c.code || x.Reason.Detail != c.want || (x.Chosen == nil) != (c.want != "") {
			t.Errorf("%v under %v: chose %v, %v %q, want %q", c.goal, c.given, x.Chosen, x.Reason.Code, x.Reason.Detail, c.want)
		}
		if c.want != "" && (x.Time != 0 || x.Cost != 0 || x.Finish != 0) {
			t.Errorf("%q has time %v, cost %v, finish %v", c.want, x.Time, x.Cost, x.Finish)
		}
	}
	if _, _, finish := Totals(jobs, []int{-1, -1, -1}); finish != 0 {
		t.Errorf("nothing finishes at %v", finish)
	}
	if d, c, f := Totals([][]Alternative{{{Time: 1, Cost: 2, End: -5}}}, []int{0}); d != 1 || c != 2 || f != -5 {
		t.Errorf("%v, %v, %v", d, c, f)
	}
	for goal := range Goal(3) { // nobody has an alternative
		if x := s.Select([][]Alternative{nil, nil}, goal, Limits{Auto, Auto}); x.Reason.Refused() || x.Finish != 0 || len(x.Chosen) != 2 || x.Chosen[0] != -1 {
			t.Errorf("%v: %+v", goal, x)
		}
	}
}

// Sums of 62 bits are taken; what is below 0 or beyond is a panic that names the job.
func TestSelect_MisuseIsAPanic(t *testing.T) {
	t.Parallel()
	const most = 1 << 62
	for _, c := range []struct {
		jobs [][]Alternative
		want string
	}{
		{[][]Alternative{{{Time: most - 1}}, {{Time: 1}}}, ""}, {[][]Alternative{{{Cost: most}, {Cost: 1}}}, ""}, {[][]Alternative{{{End: -most}}}, ""},
		{[][]Alternative{{{Time: 1}}, {{Time: 1}, {Time: -1}}}, "selection: job 1, alternative 1"}, {[][]Alternative{{{Cost: -1}}}, "selection: job 0, alternative 0"},
		{[][]Alternative{{{Time: most}}, {{Time: 1}}}, "selection: the sums up to job 1 pass 62 bits"}, {[][]Alternative{{{Cost: most}}, nil, {{Cost: 1}}}, "selection: the sums up to job 2 pass 62 bits"},
		{[][]Alternative{{{End: -most}}, {{End: 1}}}, "selection: the sums up to job 1 pass 62 bits"},
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, c.want) || (said == "") != (c.want == "") {
					t.Errorf("%v: %q, want %q", c.jobs, said, c.want)
				}
			}()
			check(c.jobs)
		}()
	}
}

// A front is held to the same sums as a selection.
func TestFront_RefusesWhatSelectRefuses(t *testing.T) {
	t.Parallel()
	defer func() {
		if said, _ := recover().(string); !strings.HasPrefix(said, "selection: job 0, alternative 0: time -1, ") && !strings.HasPrefix(said, "selection: job 0, alternative 0: time -0.001, ") {
			t.Errorf("a negative time: %q", said)
		}
	}()
	new(Selector).Front([][]Alternative{{{Time: -1}}})
}
