package search

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// The figure of a refusal is the least that would do: a request of that cap, budget or
// number of nodes is served, one of the next is not.
func TestRefusal_SaysWhatWouldJustDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := new(List)
		if rapid.Bool().Draw(t, "named") {
			nodes, slots := drawNamed(t)
			if err := l.ResetNamed(nodes, slots); err != nil {
				t.Fatal(err)
			}
		} else {
			groups, free := drawGroups(t)
			l.ResetFungible(groups, free, 0, 30*instant)
		}
		f := NewFinder(l)
		for range 4 {
			r := drawRequest(t)
			a := rapid.SampledFrom(Each()).Draw(t, "algorithm")
			served := func(r grid.Request) bool {
				_, why := f.Find(r, a, Weights{Time: 1000, Finish: 500}, 0)
				return !why.Refused()
			}
			if served(r) {
				continue
			}
			_, why := f.Find(r, a, Weights{Cost: 1000}, 0)
			rest, said := strings.CutPrefix(why.Detail, map[grid.Code]string{
				grid.OverBudget: map[bool]string{true: "the least price cap with a window is ", false: "the cheapest window costs "}[a.CapsPrice()],
				grid.NoWindow:   "no window: at most ", grid.TooLarge: "asks for ", grid.NoNode: "no node has performance "}[why.Code])
			if !said && why.Detail != "there are no nodes" {
				t.Fatal(why)
			}
			figure, _, _ := strings.Cut(rest, " ")
			less, just := r, r
			switch {
			case why.Code == grid.OverBudget && a.CapsPrice():
				price, err := grid.ParsePrice(figure)
				if err != nil {
					t.Fatal(err)
				}
				just.MaxPrice, less.MaxPrice = price, price-1
			case why.Code == grid.OverBudget:
				cost, err := grid.ParseCredits(figure)
				if err != nil {
					t.Fatal(err)
				}
				just.Budget, less.Budget = cost, cost-1
			case why.Code == grid.NoWindow:
				n, err := strconv.Atoi(figure)
				if err != nil || n >= r.Nodes {
					t.Fatal(why)
				}
				just.Nodes, less.Nodes = n, n+1
				for _, r := range []*grid.Request{&just, &less} {
					r.MaxPrice, r.Budget = grid.MaxPrice, grid.MaxBudget
				}
			default:
				continue
			}
			if just.Nodes > 0 && !served(just) || served(less) {
				t.Fatalf("%v: %v of %+v", a, why, r)
			}
		}
	})
}

// The words of refusals, on two sites of two and three nodes.
func TestRefusal_Words(t *testing.T) {
	t.Parallel()
	groups := []grid.Group{
		{Site: "a", Name: "p", Nodes: 2, Performance: grid.Unit, Price: 60e6, Machine: grid.Machine{OS: "linux"}},
		{Site: "b", Name: "q", Nodes: 3, Performance: 2 * grid.Unit, Price: 60e6, Machine: grid.Machine{OS: "linux"}},
		{Site: "b", Name: "r", Nodes: 1, Performance: 4 * grid.Unit, Price: 60e6},
	}
	busy := grid.NewProfile(0, 0)
	busy.Add(5*minute, 10*minute, 2)
	l := fungible(groups, []grid.Profile{grid.NewProfile(0, 2), busy, grid.NewProfile(0, 0)}, 0, horizon)
	f := NewFinder(l)
	for _, c := range []struct {
		ask  func(r *grid.Request)
		code grid.Code
		want string
	}{
		{func(r *grid.Request) { r.Nodes = 5 }, grid.NoWindow, "no window: at most 4 of 5 nodes are free at once for long enough from 0 on"},
		{func(r *grid.Request) { r.Nodes, r.Ready, r.Deadline = 4, 7*minute, 20*minute }, grid.NoWindow, "no window: at most 2 of 4 nodes are free at once for long enough from 420 on, with an end by 1200"},
		{func(r *grid.Request) { r.Nodes = 6 }, grid.TooLarge, "asks for 6 nodes; 5 are suited"},
		{func(r *grid.Request) { r.Nodes, r.OneSite = 4, true }, grid.TooLarge, "asks for 4 nodes on one site; no site has more than 3 suited"},
		{func(r *grid.Request) { r.Nodes, r.MinPerformance = 3, 4*grid.Unit }, grid.NoNode, "no node has performance 4; the fastest that meets the requirements has 2"},
		{func(r *grid.Request) { r.Require.OS = "plan9" }, grid.NoNode, "no node has what is required (os plan9)"},
	} {
		r := grid.Request{Nodes: 1, Length: 8 * grid.Minute, MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: grid.Never}
		r.Require.OS = "linux"
		c.ask(&r)
		for _, a := range []Algorithm{AMP, Best} {
			if _, why := f.Find(r, a, Weights{Time: 1}, 0); why.Code != c.code || why.Detail != c.want {
				t.Errorf("%v: %q, want %q", why.Code, why.Detail, c.want)
			}
		}
		if got := f.Batch([]grid.Request{r}, Options{Algorithm: AMP}).Reasons[0]; got.Code != c.code || got.Detail != c.want {
			t.Errorf("in a batch: %q, want %q", got.Detail, c.want)
		}
	}
	l.ResetFungible(nil, nil, 0, horizon)
	if _, why := f.Find(grid.Request{Nodes: 1, Length: 1, MinPerformance: 1}, AMP, Weights{}, 0); why.Detail != "there are no nodes" {
		t.Error(why)
	}
}
