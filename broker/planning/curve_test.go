package planning

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
)

// randomCurve draws factors over the first hours.
func randomCurve(t *rapid.T) *grid.PriceCurve {
	var list []grid.PricePiece
	at := grid.Time(0)
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		at += grid.Time(rapid.IntRange(1, 5000).Draw(t, "later")) * sec
		list = append(list, grid.PricePiece{From: at, Factor: rapid.SampledFrom([]int{0, 500, 1000, 1700}).Draw(t, "factor")})
	}
	c, err := grid.PriceCurveOf(list, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The plan's base prices are those that the sites will name: by their curves. Under a price cap no
// node is dearer at any instant of its window.
func TestPlan_BasePricesAreByTheCurve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		if rapid.Bool().Draw(t, "capped") {
			in.Terms.Algorithm = search.ALP
		}
		for i := range in.Jobs {
			in.Jobs[i].Request.MaxPrice = grid.Price(rapid.IntRange(0, 9).Draw(t, "cap")) * 1_000_000
		}
		d := new(Planner).Plan(in)
		for i := range d.Jobs {
			j := &in.Jobs[i]
			for _, a := range d.Jobs[i].Alternatives {
				var sum grid.Credits
				for _, l := range a.Legs {
					g := &d.Groups[l.Group]
					if l.What.Work > 0 {
						continue // of time-shared nodes, which have one price
					}
					sum += l.Base.Base
					if want := g.Cost(l.What.Start, l.What.End).Times(l.What.Nodes); l.Base.Base != want {
						t.Fatalf("%+v has base price %v, by the curve %q it is %v", l.What, l.Base.Base, g.Curve, want)
					}
					if dear := g.Dearest(l.What.Start, l.What.End); in.Terms.capped() && dear > j.Request.MaxPrice {
						t.Fatalf("a node of %+v costs %v an hour, the cap is %v", l.What, dear, j.Request.MaxPrice)
					}
				}
				if a.Legs[0].What.Work == 0 && (sum != a.Cost || !in.Terms.capped() && sum > j.Request.Budget) {
					t.Fatalf("%+v costs %v, its legs %v, the budget is %v", a, a.Cost, sum, j.Request.Budget)
				}
			}
		}
	})
}

// Of a job that is taken by itself the earliest start and the cheapest one are among those
// that are quoted, however few they may be. The oracle tries every second.
func TestStarts_TheEarliestAndTheCheapestAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		in.Terms.Strategy, in.Terms.Algorithm = choice.Earliest, search.AMP
		in.Terms.MaxAlternatives = rapid.IntRange(2, 4).Draw(t, "most")
		g := agents.GroupOffer{Group: grid.Group{Site: "s", Name: "g", Nodes: 2, Performance: grid.Unit, Price: 3_600_000_000, Curve: randomCurve(t)}}
		g.Admissible = grid.NewProfile(0, 2)
		if from := grid.Time(rapid.IntRange(0, 3000).Draw(t, "busy")); from > 0 {
			g.Admissible.Add(from*sec, (from+1000)*sec, -2)
		}
		g.Clear = g.Admissible.Clone()
		in.Horizon = 9000 * sec
		in.Sites = []Site{{Name: "s", Answer: Usable, Groups: []agents.GroupOffer{g}}}
		r := grid.Request{Nodes: 2, Length: grid.Duration(rapid.IntRange(60, 1500).Draw(t, "length")) * grid.Second, MinPerformance: grid.Unit,
			MaxPrice: grid.MaxPrice, Budget: grid.Credits(rapid.IntRange(0, 3000).Draw(t, "budget")) * grid.Credit, Deadline: grid.Never}
		in.Jobs = []Job{{Name: "j", Request: r, Deadline: grid.Never}}
		var first grid.Time
		least, any, all := grid.MaxCredits, false, []grid.Time(nil)
		for s := in.From; s.Add(r.Length) <= in.Horizon; s += sec {
			if c := g.Group.Cost(s, s.Add(r.Length)).Times(2); g.Admissible.Min(s, s.Add(r.Length)) == 2 && c <= r.Budget {
				if !any {
					first, any = s, true
				}
				least, all = min(least, c), append(all, s)
			}
		}
		d := new(Planner).Plan(in)
		var starts []grid.Time
		found := grid.MaxCredits
		for _, a := range d.Jobs[0].Alternatives {
			starts, found = append(starts, a.Start()), min(found, a.Cost)
			if !slices.Contains(all, a.Start()) {
				t.Fatalf("it may start at %v, which is none of the starts within its budget", a.Start())
			}
		}
		// The cost of the start may fall between two instants at which anything changes;
		// such a start is not looked for, and may be the first within the budget.
		if any && len(starts) > 0 && (found != least || starts[0] != first && g.Group.Cost(in.From, in.From.Add(r.Length)).Times(2) <= r.Budget && g.Admissible.Min(in.From, in.From.Add(r.Length)) == 2) {
			t.Fatalf("starts %v, the cheapest %v; the first is %v, the cheapest %v", starts, found, first, least)
		}
		if (len(starts) > 0) != any {
			t.Fatalf("%d starts (%v), there are some: %v", len(starts), d.Postponed, any)
		}
	})
}

// A price that falls after the last start makes that one the cheapest: it runs longest
// beyond the change. It may be the last before the nodes are busy.
func TestStarts_TheLastOneMayBeTheCheapest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ falls, busy, last grid.Time }{
		{8990 * sec, 9000 * sec, 8900 * sec},
		{950 * sec, 1000 * sec, 900 * sec},
	} {
		curve, err := grid.PriceCurveOf([]grid.PricePiece{{From: c.falls, Factor: 0}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		in := twoJobs()
		in.Jobs, in.Horizon = in.Jobs[:1], 9000*sec
		in.Terms.Strategy, in.Terms.Algorithm, in.Terms.MaxAlternatives = choice.Earliest, search.AMP, 2
		in.Jobs[0].Request = grid.Request{Nodes: 2, Length: 100 * grid.Second, MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice,
			Budget: 1000 * grid.Credit, Deadline: grid.Never}
		g := agents.GroupOffer{Group: grid.Group{Site: "s", Name: "g", Nodes: 2, Performance: grid.Unit, Price: 3_600_000_000, Curve: curve},
			Admissible: grid.NewProfile(0, 2)}
		g.Admissible.Add(c.busy, grid.Never, -2)
		g.Clear = g.Admissible.Clone()
		in.Sites = []Site{{Name: "s", Answer: Usable, Groups: []agents.GroupOffer{g}}}
		var starts []grid.Time
		for _, a := range new(Planner).Plan(in).Jobs[0].Alternatives {
			starts = append(starts, a.Start())
		}
		if want := []grid.Time{0, c.last}; !slices.Equal(starts, want) {
			t.Errorf("the price falls at %v, nodes are busy from %v on: it may start at %v, want %v", c.falls, c.busy, starts, want)
		}
	}
}
