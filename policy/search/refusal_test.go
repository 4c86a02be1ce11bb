package search

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse"
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
			a := rapid.SampledFrom([]Algorithm{AMP, ALP, AMPLiteral, Best}).Draw(t, "algorithm")
			served := func(r bourse.Request) bool {
				_, why := f.Find(r, a, Weights{Time: 1000, Finish: 500}, 0)
				return !why.Refused()
			}
			if served(r) {
				continue
			}
			_, why := f.Find(r, a, Weights{Cost: 1000}, 0)
			rest, said := strings.CutPrefix(why.Detail, map[bourse.Code]string{
				bourse.OverBudget: map[bool]string{true: "the least price cap with a window is ", false: "the cheapest window costs "}[a == ALP],
				bourse.NoWindow:   "no window: at most ", bourse.TooLarge: "asks for ", bourse.NoNode: "no node has performance "}[why.Code])
			if !said && why.Detail != "there are no nodes" {
				t.Fatal(why)
			}
			figure, _, _ := strings.Cut(rest, " ")
			less, just := r, r
			switch {
			case why.Code == bourse.OverBudget && a == ALP:
				price, err := bourse.ParsePrice(figure)
				if err != nil {
					t.Fatal(err)
				}
				just.MaxPrice, less.MaxPrice = price, price-1
			case why.Code == bourse.OverBudget:
				cost, err := bourse.ParseCredits(figure)
				if err != nil {
					t.Fatal(err)
				}
				just.Budget, less.Budget = cost, cost-1
			case why.Code == bourse.NoWindow:
				n, err := strconv.Atoi(figure)
				if err != nil || n >= r.Nodes {
					t.Fatal(why)
				}
				just.Nodes, less.Nodes = n, n+1
				for _, r := range []*bourse.Request{&just, &less} {
					r.MaxPrice, r.Budget = bourse.MaxPrice, bourse.MaxBudget
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
	groups := []bourse.Group{
		{Site: "a", Name: "p", Nodes: 2, Performance: bourse.Unit, Price: 60e6, Machine: bourse.Machine{OS: "linux"}},
		{Site: "b", Name: "q", Nodes: 3, Performance: 2 * bourse.Unit, Price: 60e6, Machine: bourse.Machine{OS: "linux"}},
		{Site: "b", Name: "r", Nodes: 1, Performance: 4 * bourse.Unit, Price: 60e6},
	}
	busy := bourse.NewProfile(0, 0)
	busy.Add(5*minute, 10*minute, 2)
	l := fungible(groups, []bourse.Profile{bourse.NewProfile(0, 2), busy, bourse.NewProfile(0, 0)}, 0, horizon)
	f := NewFinder(l)
	for _, c := range []struct {
		ask  func(r *bourse.Request)
		code bourse.Code
		want string
	}{
		{func(r *bourse.Request) { r.Nodes = 5 }, bourse.NoWindow, "no window: at most 4 of 5 nodes are free at once for long enough from 0 on"},
		{func(r *bourse.Request) { r.Nodes, r.Ready, r.Deadline = 4, 7*minute, 20*minute }, bourse.NoWindow, "no window: at most 2 of 4 nodes are free at once for long enough from 420 on, with an end by 1200"},
		{func(r *bourse.Request) { r.Nodes = 6 }, bourse.TooLarge, "asks for 6 nodes; 5 are suited"},
		{func(r *bourse.Request) { r.Nodes, r.OneSite = 4, true }, bourse.TooLarge, "asks for 4 nodes on one site; no site has more than 3 suited"},
		{func(r *bourse.Request) { r.Nodes, r.MinPerformance = 3, 4*bourse.Unit }, bourse.NoNode, "no node has performance 4; the fastest that meets the requirements has 2"},
		{func(r *bourse.Request) { r.Require.OS = "plan9" }, bourse.NoNode, "no node has what is required (os plan9)"},
	} {
		r := bourse.Request{Nodes: 1, Length: 8 * bourse.Minute, MinPerformance: bourse.Unit, MaxPrice: bourse.MaxPrice, Budget: bourse.MaxBudget, Deadline: bourse.Never}
		r.Require.OS = "linux"
		c.ask(&r)
		for _, a := range []Algorithm{AMP, Best} {
			if _, why := f.Find(r, a, Weights{Time: 1}, 0); why.Code != c.code || why.Detail != c.want {
				t.Errorf("%v: %q, want %q", why.Code, why.Detail, c.want)
			}
		}
		if got := f.Batch([]bourse.Request{r}, Options{Algorithm: AMP}).Reasons[0]; got.Code != c.code || got.Detail != c.want {
			t.Errorf("in a batch: %q, want %q", got.Detail, c.want)
		}
	}
	l.ResetFungible(nil, nil, 0, horizon)
	if _, why := f.Find(bourse.Request{Nodes: 1, Length: 1, MinPerformance: 1}, AMP, Weights{}, 0); why.Detail != "there are no nodes" {
		t.Error(why)
	}
}
