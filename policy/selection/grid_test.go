package selection

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// On a grid z is rounded up to the next line, not past it; the last cell ends at the limit. A
// cell has one label.
func TestMerge_RoundsUpToTheGrid(t *testing.T) {
	t.Parallel()
	var s stages
	s.list = []option{{}}
	before := []label{{z: 0, g: 9}, {z: 8, g: 8}, {z: 9, g: 7}, {z: 10, g: 6}, {z: 13, g: 5}, {z: 15, g: 4}}
	var got [][2]int64
	for _, l := range s.merge(nil, nil, before, 0, 14, 4) {
		got = append(got, [2]int64{l.z, l.g})
	}
	if want := [][2]int64{{0, 9}, {8, 8}, {12, 6}, {14, 5}}; !slices.Equal(got, want) {
		t.Errorf("z and g are %v, want %v", got, want)
	}
}

// Of two labels with the same z, the one with more g is beaten and is not kept, whichever
// list it is in and whichever alternative is the lower.
func TestMerge_OfTheSameZKeepsTheLeastG(t *testing.T) {
	t.Parallel()
	var s stages
	s.list = []option{{index: 1}, {index: 0}}
	for _, g := range [][2]int64{{1, 3}, {3, 1}} {
		done, before := []label{{z: 5, g: g[0]}}, []label{{z: 5, g: g[1]}}
		if got := s.merge(nil, done, before, 1, 9, 1); len(got) != 1 || got[0].z != 5 || got[0].g != 1 {
			t.Errorf("of g %d and then %d are kept %+v, want g 1 alone", g[0], g[1], got)
		}
	}
}

// The remaining jobs take at least z 0 with g 20; a step of z 4 brings g down by 8, and one
// of z 10 by 10. Within z 14 a label at z 0 may come to g 2. One at 5 has room for the first
// step and half of the second: 7. One at 12 has room for half of the first: 16. Each is
// kept as long as the best choice is no better than that.
func TestPrune_DropsWhatCannotReachTheBest(t *testing.T) {
	t.Parallel()
	r := relaxation{steps: []step{{dz: 4, dg: 8}, {dz: 10, dg: 10}}, g: 20}
	for best, want := range map[int64]int{1: 0, 2: 1, 6: 1, 7: 2, 15: 2, 16: 3} {
		labels := []label{{z: 0}, {z: 5}, {z: 12}}
		if got := r.prune(labels, 14, best); len(got) != want {
			t.Errorf("with a choice of g %d, kept are %+v, want the first %d", best, got, want)
		}
	}
}

// Thinned to a bound, no more are left, and of each cell the one that ends first; also
// where the cells are as wide as their number.
func TestThin_KeepsTheFirstToEndOfEachCell(t *testing.T) {
	t.Parallel()
	var v vectors
	var list []vector
	for cost := range int64(4) {
		for time := range int64(4) {
			list = append(list, vector{cost: cost, time: time, end: 100 - 10*cost - time})
		}
	}
	const bound = 11 // three cells by three, each two by two
	got := v.thin(v.filter(list), bound)
	want := []vector{{end: 100}, {cost: 1, time: 1, end: 89}, {cost: 1, time: 3, end: 87}, {cost: 3, time: 1, end: 69}, {cost: 3, time: 3, end: 67}}
	if !v.grid || !slices.Equal(got, want) {
		t.Errorf("left are %v, want %v", got, want)
	}
}

// unbeaten are the sums of cost and time that no other beats, in order of cost.
func unbeaten(sums [][2]int64) (list [][2]int64) {
	slices.SortFunc(sums, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, x := range sums {
		if len(list) == 0 || x[1] < list[len(list)-1][1] {
			list = append(list, x)
		}
	}
	return list
}

// As long as no job has more labels than may be, after those that others beat have gone, and
// they came of no more than eight times as many sums, a front is exact: it does not count
// what was unbeaten only until a dearer alternative was looked at.
func TestFront_IsExactWhereTheLabelsFit(t *testing.T) {
	t.Parallel()
	crowded := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		jobs := make([][]Alternative, 2+r.IntN(2))
		for j := range jobs {
			slope := int64(10)
			if j == len(jobs)-1 {
				slope = 1
			}
			for range 2 + r.Int64N(60/slope) {
				cost := r.Int64N(300 / slope)
				jobs[j] = append(jobs[j], Alternative{Cost: grid.Credits(cost), Time: grid.Duration(500 - slope*cost)})
			}
		}
		front, bound, most, early := [][2]int64{{}}, 0, 0, 0
		for j := len(jobs) - 1; j >= 0; j-- {
			own := make([][2]int64, len(jobs[j]))
			for i, a := range jobs[j] {
				own[i] = [2]int64{int64(a.Cost), int64(a.Time)}
			}
			var sums [][2]int64
			for _, o := range unbeaten(own) {
				for _, b := range front {
					sums = append(sums, [2]int64{o[0] + b[0], o[1] + b[1]})
				}
				early = max(early, len(unbeaten(slices.Clone(sums))))
			}
			front = unbeaten(sums)
			bound, most = max(bound, len(front)), max(most, len(sums))
		}
		if most > 8*bound {
			continue
		}
		if early > bound {
			crowded++
		}
		s := Selector{maximum: bound}
		points, gridded := s.Front(jobs)
		got := make([][2]int64, len(points))
		for i, p := range points {
			got[i] = [2]int64{int64(p.Cost), int64(p.Time)}
		}
		if gridded || !slices.Equal(got, front) {
			t.Fatalf("seed %d: of %d labels at most the front is %v, of a grid %t; want %v", seed, bound, got, gridded, front)
		}
	}
	if crowded < 5 {
		t.Errorf("only %d batches had more labels for a while", crowded)
	}
}

// A stage may hold four times as many labels as are kept of it once those have gone that
// cannot reach the best choice so far; with one more it goes over to a grid.
func TestRun_HoldsFourTimesTheLabelsThatItKeeps(t *testing.T) {
	t.Parallel()
	const bound = 2
	for n, gridded := range map[int]bool{4 * bound: false, 4*bound + 1: true} {
		jobs := make([][]Alternative, 1)
		for i := range n {
			jobs[0] = append(jobs[0], Alternative{Cost: grid.Credits(i), Time: grid.Duration(n - i)})
		}
		var s stages
		s.options.open(jobs, grid.Never, costOf, timeOf)
		if !s.run(int64(n), bound, bound, false) || s.grid != gridded || !gridded && len(s.front) != bound {
			t.Errorf("of %d labels %d are kept, of a grid %t; want %d and %t", n, len(s.front), s.grid, bound, gridded)
		}
	}
}
