package selection

import (
	"slices"
	"testing"
)

// On a grid z is rounded up to the next line, not past it; the last cell ends at the limit.
func TestMerge_RoundsUpToTheGrid(t *testing.T) {
	t.Parallel()
	var s stages
	s.list = []option{{}}
	before := []label{{z: 0, g: 9}, {z: 8, g: 8}, {z: 9, g: 7}, {z: 13, g: 6}, {z: 15, g: 5}}
	var got []int64
	for _, l := range s.merge(nil, nil, before, 0, 14, 4) {
		got = append(got, l.z)
	}
	if want := []int64{0, 8, 12, 14}; !slices.Equal(got, want) {
		t.Errorf("z is %v, want %v", got, want)
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
