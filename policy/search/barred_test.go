package search

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// A group that a job may not use has nothing free for that job, and is unchanged for the
// others of the batch.
func TestBatch_BarredGroupsAreAsIfTaken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var groups []grid.Group
		var free, less []grid.Profile
		var barred []bool
		for _, site := range []string{"a", "a", "b", "c"} {
			n := rapid.IntRange(1, 4).Draw(t, "nodes")
			groups = append(groups, grid.Group{Name: "g", Site: site, Nodes: n, Price: grid.Price(rapid.IntRange(0, 4).Draw(t, "price")) * 3600e6,
				Performance: grid.Performance(rapid.SampledFrom([]int{500, 1000, 2000}).Draw(t, "performance"))})
			p := grid.NewProfile(0, n)
			p.Add(grid.Time(rapid.IntRange(0, 5).Draw(t, "from"))*instant, 9*instant, -rapid.IntRange(0, n).Draw(t, "taken"))
			free, less, barred = append(free, p), append(less, p), append(barred, rapid.Bool().Draw(t, "barred"))
			if barred[len(barred)-1] {
				less[len(less)-1] = grid.NewProfile(0, 0)
			}
		}
		list := func(free []grid.Profile) *List {
			l := new(List)
			l.ResetFungible(groups, free, 0, 40*instant)
			return l
		}
		r := drawRequest(t)
		o := Options{Algorithm: rapid.SampledFrom(Each()).Draw(t, "algorithm"), MaxAlternatives: 3}
		want := Batch(list(less), []grid.Request{r}, o)
		o.Barred = [][]bool{barred}
		got := Batch(list(free), []grid.Request{r}, o)
		if !reflect.DeepEqual(got.Alternatives, want.Alternatives) {
			t.Fatalf("found %+v\nwant  %+v", got.Alternatives, want.Alternatives)
		}
		if len(got.Alternatives[0]) == 0 && !got.Reasons[0].Refused() {
			t.Fatal("nothing is found for no reason")
		}
		o.Barred = nil
		alone := Batch(list(free), []grid.Request{r}, o)
		none := make([]bool, len(groups))
		for i := range none {
			none[i] = true
		}
		o.Barred = [][]bool{none, nil}
		if both := Batch(list(free), []grid.Request{r, r}, o); !reflect.DeepEqual(both.Alternatives[1], alone.Alternatives[0]) || len(both.Alternatives[0]) > 0 {
			t.Fatalf("beside one that may use nothing %+v\nwant %+v", both.Alternatives, alone.Alternatives[0])
		}
	})
}
