package selection

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// choice is one of every alternative of some last jobs.
type choice struct {
	z, g   int64
	chosen []int
}

// plain is solve over all choices that none beats, with no bound on any.
func plain(jobs [][]Alternative, z, g criterion, limit int64) (best choice, ok bool) {
	front := []choice{{}}
	for j := len(jobs) - 1; j >= 0; j-- {
		var all []choice
		for i := range jobs[j] {
			for _, c := range front {
				all = append(all, choice{c.z + z(&jobs[j][i]), c.g + g(&jobs[j][i]), append([]int{i}, c.chosen...)})
			}
		}
		if len(jobs[j]) == 0 {
			for _, c := range front {
				all = append(all, choice{c.z, c.g, append([]int{-1}, c.chosen...)})
			}
		}
		slices.SortFunc(all, func(x, y choice) int {
			return cmp.Or(cmp.Compare(x.z, y.z), cmp.Compare(x.g, y.g), slices.Compare(x.chosen, y.chosen))
		})
		front = front[:0]
		for _, c := range all {
			if c.z <= limit && (len(front) == 0 || c.g < front[len(front)-1].g) {
				front = append(front, c)
			}
		}
	}
	if len(front) == 0 {
		return choice{}, false
	}
	return front[len(front)-1], true
}

// Whatever the first core has, the choice is that of a run over all options: also where
// many alternatives lie on one line, so that they lose nothing, and where none is dear.
func TestSolve_CoresAreAPlainRun(t *testing.T) {
	t.Parallel()
	var s stages
	cores := map[bool]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		kind := r.IntN(4)
		jobs := make([][]Alternative, 1+r.IntN(16))
		for j := range jobs {
			nodes := 1 + r.Int64N(3)
			for range r.IntN(8) {
				time := 1 + r.Int64N([]int64{40, 40, 40, 4}[kind])
				cost := []int64{r.Int64N(60), nodes * (100 - 2*time), 2000/(time+10) + r.Int64N(9), r.Int64N(4)}[kind]
				jobs[j] = append(jobs[j], Alternative{Time: grid.Duration(time), Cost: grid.Credits(max(cost, 0))})
			}
		}
		for _, c := range [][2]criterion{{timeOf, costOf}, {costOf, timeOf}, {timeOf, incomeOf}} {
			low, high := sumLeast(jobs, c[0]), int64(0)
			for j := range jobs {
				most := int64(0)
				for i := range jobs[j] {
					most = max(most, c[0](&jobs[j][i]))
				}
				high += most
			}
			limit := low - 1 + r.Int64N(high-low+3)
			want, ok := plain(jobs, c[0], c[1], limit)
			s.narrow = []int{1, 3, 0}[r.IntN(3)]
			chosen := make([]int, len(jobs))
			if got := s.solve(jobs, 1, c[0], c[1], limit, maxLabels, chosen); got != ok || s.grid {
				t.Fatalf("seed %d: %v, want %v; grid %v", seed, got, ok, s.grid)
			}
			if !ok {
				continue
			}
			if s.value != want.g || !slices.Equal(chosen, want.chosen) {
				t.Fatalf("seed %d, limit %d: chose %v of %d, want %v of %d", seed, limit, chosen, s.value, want.chosen, want.g)
			}
			cores[len(s.list) < len(s.whole.list)/2]++
			if s.solve(jobs, 1, c[0], c[1], limit, maxLabels, nil); s.value != want.g {
				t.Fatalf("seed %d, limit %d: %d, want %d", seed, limit, s.value, want.g)
			}
		}
	}
	if cores[true] < 100 || cores[false] < 100 {
		t.Errorf("cores of less than half of the options: %d, others: %d", cores[true], cores[false])
	}
}

// A large batch leaves few options in doubt.
func TestSolve_CoreOfALargeBatchIsSmall(t *testing.T) {
	t.Parallel()
	var s stages
	r := rand.New(rand.NewPCG(1, 4))
	jobs := make([][]Alternative, 3000)
	for j := range jobs {
		for range 10 {
			quick := .3 + r.Float64()
			jobs[j] = append(jobs[j], Alternative{Time: grid.Duration(quick * 1e6), Cost: grid.Credits((.5 + r.Float64()) / quick * 1e7)})
		}
	}
	if !s.solve(jobs, 1, timeOf, costOf, int64(TimeLimit(jobs)), maxLabels, nil) || s.grid {
		t.Fatal("not solved")
	}
	if n := len(s.list); n > len(s.whole.list)/20 {
		t.Errorf("%d of %d options are in the last core", n, len(s.whole.list))
	}
}
