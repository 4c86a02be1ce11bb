package search

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// What one group has free bounds the search of a job of portions, and it ends when nothing can be
// better. It finds what a look at every start does, on the same nodes.
func TestLeast_OfPortionsIsWhatEveryStartHas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var groups []grid.Group
		var free []grid.Profile
		for g := range rapid.IntRange(1, 5).Draw(t, "groups") {
			n, divided := rapid.IntRange(0, 3).Draw(t, "nodes"), []int{4, 8, 4, 1}
			if g == 0 {
				divided = divided[:2] // somewhere it takes portions
			}
			groups = append(groups, grid.Group{Site: fmt.Sprint(g / 2), Name: fmt.Sprint("g", g), Nodes: n, Slices: rapid.SampledFrom(divided).Draw(t, "K"),
				Performance: grid.Performance(rapid.SampledFrom([]int{1000, 1000, 2000}).Draw(t, "performance")),
				Price:       grid.Price(rapid.SampledFrom([]int{1, 1, 2, 4}).Draw(t, "price")) * 3600e6})
			p := grid.NewProfile(0, n)
			for range rapid.IntRange(0, 4).Draw(t, "steps") {
				s := grid.Time(rapid.IntRange(0, cells-2).Draw(t, "from") * 500)
				e := s + grid.Time(rapid.IntRange(1, cells).Draw(t, "long")*500)
				p.Add(s, e, -rapid.IntRange(0, p.Min(s, e)).Draw(t, "taken"))
			}
			free = append(free, p)
		}
		l := fungible(groups, free, 0, cells*500)
		for range rapid.IntRange(0, 6).Draw(t, "opened") {
			g := rapid.IntRange(0, len(groups)-1).Draw(t, "group")
			s := rapid.IntRange(0, cells-2).Draw(t, "start")
			e := rapid.IntRange(s+1, cells-1).Draw(t, "end")
			if k := groups[g].Slices; k > 1 {
				l.Open(grid.Open(int32(g), grid.Time(s*500), grid.Time(e*500), rapid.IntRange(1, k-1).Draw(t, "free")))
			}
		}
		f := NewFinder(l)
		for job := range rapid.IntRange(1, 8).Draw(t, "jobs") {
			r := drawRequest(t)
			r.MinPerformance, r.Budget = grid.Unit, grid.MaxBudget
			r.Portion.Slices = rapid.IntRange(1, 3).Draw(t, "u")
			w := Weights{Value: true, Urgency: grid.Credits(rapid.SampledFrom([]int{0, 600, 600_000}).Draw(t, "urgency")) * grid.Credit,
				Haste: grid.Credits(rapid.SampledFrom([]int{0, 0, 600}).Draw(t, "haste")) * grid.Credit}
			got, ok := f.Least(f.Prepare(r, 0, nil), w, r.Budget)
			want, why := f.Find(r, Best, w, 0)
			if ok == why.Refused() || !reflect.DeepEqual(got, want) {
				t.Fatalf("job %d: Least has %+v, a look at every start %+v (%v)", job, got, want, why)
			}
			if ok && rapid.Bool().Draw(t, "take") {
				f.Take()
			}
		}
	})
}
