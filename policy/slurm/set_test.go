package slurm

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func setOf(n int, nodes ...int) Set {
	s := NewSet(n)
	for _, i := range nodes {
		s.Add(i)
	}
	return s
}

func nodesIn(s Set) (list []int) {
	s.Each(func(i int) { list = append(list, i) })
	return list
}

func TestPick_ShortestRunThatHolds(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		free []int
		n    int
		want []int
	}{
		{[]int{0, 1, 2, 4, 5}, 2, []int{4, 5}},
		{[]int{0, 1, 3, 4}, 2, []int{0, 1}},                             // ties: the lowest
		{[]int{0, 2, 3, 4, 6}, 2, []int{2, 3}},                          // the run's lowest nodes
		{[]int{0, 2, 3, 5, 6}, 4, []int{2, 3, 5, 6}},                    // none holds it: the longest, and again
		{[]int{0, 2, 3, 5, 6}, 3, []int{0, 2, 3}},                       // and then the shortest that holds the rest
		{[]int{62, 63, 64, 65, 127, 128, 129}, 3, []int{127, 128, 129}}, // across words
	} {
		if got := nodesIn(Pick(setOf(130, of.free...), of.n)); !slices.Equal(got, of.want) {
			t.Errorf("%d of %v: %v, want %v", of.n, of.free, got, of.want)
		}
	}
}

func TestPick_Naive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.SliceOfNDistinct(rapid.IntRange(0, 139), 1, 100, rapid.ID).Draw(t, "free")
		slices.Sort(free)
		n := rapid.IntRange(1, len(free)).Draw(t, "n")
		if got, want := nodesIn(Pick(setOf(140, free...), n)), naivePick(free, n); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// naivePick is Pick on lists of runs.
func naivePick(free []int, n int) []int {
	var out []int
	for n > 0 {
		var runs [][]int
		for i, f := range free {
			if i == 0 || free[i-1] != f-1 {
				runs = append(runs, nil)
			}
			runs[len(runs)-1] = append(runs[len(runs)-1], f)
		}
		slices.SortStableFunc(runs, func(a, b []int) int { return len(a) - len(b) })
		take := runs[slices.IndexFunc(runs, func(r []int) bool { return len(r) == len(runs[len(runs)-1]) })]
		if k := slices.IndexFunc(runs, func(r []int) bool { return len(r) >= n }); k >= 0 {
			take = runs[k][:n]
		}
		out = append(out, take...)
		n -= len(take)
		free = slices.DeleteFunc(slices.Clone(free), func(f int) bool { return slices.Contains(take, f) })
	}
	slices.Sort(out)
	return out
}
