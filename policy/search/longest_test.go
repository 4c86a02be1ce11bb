package search

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// A group that allows no window as long as a job takes there is to that job as if nothing
// were free in it.
func TestBatch_GroupsThatAllowNoWindowThatLongAreAsIfTaken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var groups, any []grid.Group
		var free []grid.Profile
		for _, site := range []string{"a", "a", "b", "c"} {
			n := rapid.IntRange(1, 4).Draw(t, "nodes")
			g := grid.Group{Name: "g", Site: site, Nodes: n, Price: grid.Price(rapid.IntRange(0, 4).Draw(t, "price")) * 3600e6,
				Performance: grid.Performance(rapid.SampledFrom([]int{500, 1000, 2000}).Draw(t, "performance"))}
			any = append(any, g)
			g.Longest = grid.Duration(rapid.IntRange(0, 6).Draw(t, "longest")) * grid.Duration(instant)
			groups = append(groups, g)
			p := grid.NewProfile(0, n)
			p.Add(grid.Time(rapid.IntRange(0, 5).Draw(t, "from"))*instant, 9*instant, -rapid.IntRange(0, n).Draw(t, "taken"))
			free = append(free, p)
		}
		list := func(groups []grid.Group) *List {
			l := new(List)
			l.ResetFungible(groups, free, 0, 40*instant)
			return l
		}
		o := Options{Algorithm: rapid.SampledFrom(Each()).Draw(t, "algorithm"), MaxAlternatives: 3}
		requests := []grid.Request{drawRequest(t), drawRequest(t), drawRequest(t)}
		got := Batch(list(groups), requests, o)
		for _, r := range requests {
			barred := make([]bool, len(groups))
			for i, g := range groups {
				barred[i] = !g.Allows(g.Performance.Runtime(r.Length))
			}
			o.Barred = append(o.Barred, barred)
		}
		want := Batch(list(any), requests, o)
		if !reflect.DeepEqual(got.Alternatives, want.Alternatives) {
			t.Fatalf("found %+v\nwant  %+v", got.Alternatives, want.Alternatives)
		}
		for i := range requests {
			if len(got.Alternatives[i]) == 0 && !got.Reasons[i].Refused() {
				t.Fatal("nothing is found for no reason")
			}
		}
	})
}

// A refusal of a window longer than any group allows names the longest one, and its group.
func TestRefusal_NamesTheLongestWindow(t *testing.T) {
	t.Parallel()
	groups := []grid.Group{
		{Site: "north", Name: "gpu", Nodes: 4, Performance: grid.Unit, Longest: grid.Hour},
		{Site: "south", Name: "batch", Nodes: 4, Performance: grid.Unit, Longest: 90 * grid.Minute},
	}
	free := []grid.Profile{grid.NewProfile(0, 4), grid.NewProfile(0, 4)}
	reason := func(nodes int, length grid.Duration) grid.Reason {
		l := new(List)
		l.ResetFungible(groups, free, 0, grid.Time(grid.Day))
		r := Batch(l, []grid.Request{{Nodes: nodes, Length: length, MinPerformance: 1, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: grid.Never}},
			Options{Algorithm: AMP, MaxAlternatives: 1})
		return r.Reasons[0]
	}
	if why := reason(8, grid.Hour); why.Refused() {
		t.Errorf("what both allow: %v", why)
	}
	if why := reason(1, 2*grid.Hour); why.Code != grid.TooLarge || !strings.Contains(why.Detail, "takes 2h on nodes of south/batch, which allow no window longer than 90m") {
		t.Errorf("what none allows: %s, %v", why.Code, why)
	}
	if why := reason(5, 80*grid.Minute); why.Code != grid.TooLarge || !strings.Contains(why.Detail, "4 are suited; of the others, it takes 80m on nodes of north/gpu") {
		t.Errorf("what too few allow: %s, %v", why.Code, why)
	}
}
