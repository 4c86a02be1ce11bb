package planning

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// If a plan finds a window for a job, no rule may say that the job can never run.
func TestNever_NothingThatCanRunIsRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		x := ReachOf(in.Horizon.Sub(in.From), in.Terms)
		for _, s := range in.Sites {
			x.Add(s.Name, s.Groups)
		}
		d := new(Planner).Plan(in)
		for i := range in.Jobs {
			if why := x.Never(&in.Jobs[i].Request, in.From); len(d.Jobs[i].Alternatives) > 0 && why.Refused() {
				t.Fatalf("%s has %d windows, and can never run: %v", in.Jobs[i].Name, len(d.Jobs[i].Alternatives), why)
			}
		}
	})
}

// A cycle gives up for good what no site can ever serve, and a submission refuses the same: where
// a plan finds nothing, both judge alike.
func TestNever_ACycleJudgesByTheSameRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		in.Away, in.Terms.Refuses = false, true
		for i := range in.Jobs {
			j := &in.Jobs[i]
			j.Barred, j.Elsewhere, j.Pending, j.Deadline = nil, false, false, j.Request.Deadline
		}
		d := new(Planner).Plan(in)
		if !in.complete() {
			return
		}
		for _, p := range d.Postponed {
			r := &in.Jobs[p.Job].Request
			x := *d.reach()
			x.Planned = false
			never := x.Never(r, in.From)
			if p.Reason.Code == grid.Expired && slices.Contains(x.Shared, true) {
				continue // which only a plan knows
			}
			if p.Final != never.Refused() && !(p.Final && r.Composed()) { // parts that do not fit together are each served
				t.Fatalf("%s: the cycle says %v (final %t), a submission %q", in.Jobs[p.Job].Name, p.Reason, p.Final, never)
			}
			if p.Final && never.Refused() && p.Reason.Code != never.Code {
				t.Fatalf("%s: %v in a cycle, %v at submission", in.Jobs[p.Job].Name, p.Reason, never)
			}
		}
	})
}

func TestNever_SaysWhyWithTheFigures(t *testing.T) {
	t.Parallel()
	curve, err := grid.ParsePriceCurve("7200000/0:500 3600000:1000")
	if err != nil {
		t.Fatal(err)
	}
	price := func(c float64) grid.Price { return grid.Price(c * 1e6) }
	groups := func(site string, list ...grid.Group) (offers []agents.GroupOffer) {
		for _, g := range list {
			offers = append(offers, agents.GroupOffer{Group: g})
		}
		return offers
	}
	x := ReachOf(2*grid.Hour, Terms{Algorithm: search.AMP})
	x.Add("north", groups("north", grid.Group{Name: "main", Nodes: 8, Performance: grid.Unit, Price: price(2), Curve: curve}))
	x.Add("south", groups("south", grid.Group{Name: "fat", Nodes: 4, Performance: 2 * grid.Unit, Price: price(6), Machine: grid.Machine{GPUs: 2}, Longest: grid.Hour / 2}))
	capped := x
	capped.Capped = true
	ask := func(change func(*grid.Request)) *grid.Request {
		r := &grid.Request{Nodes: 2, Length: grid.Hour, MinPerformance: grid.Unit, MaxPrice: price(10), Budget: 100 * grid.Credit, Deadline: grid.Never}
		change(r)
		return r
	}
	for name, c := range map[string]struct {
		x     *Reach
		r     *grid.Request
		code  grid.Code
		words string
	}{
		"it may":                      {&x, ask(func(r *grid.Request) {}), grid.None, ""},
		"such a feature":              {&x, ask(func(r *grid.Request) { r.Require.Features = []string{"avx"} }), grid.NoNode, "no node of any site has what is required (feature avx)"},
		"so fast":                     {&x, ask(func(r *grid.Request) { r.MinPerformance = 3 * grid.Unit }), grid.NoNode, "no node has performance 3; the fastest that meets the requirements has 2"},
		"so fast at its site":         {&x, ask(func(r *grid.Request) { r.Sites, r.MinPerformance = []string{"north"}, 3*grid.Unit/2 }), grid.NoNode, "no node at the sites it allows has performance 1.5; the fastest that meets the requirements has 1"},
		"a feature of another site":   {&x, ask(func(r *grid.Request) { r.Avoid, r.Require.GPUs = []string{"south"}, 2 }), grid.NoNode, "no node of any site it allows has what is required (gpus)"},
		"at no site there is":         {&x, ask(func(r *grid.Request) { r.Sites = []string{"west"} }), grid.NoNode, "there are no nodes at the sites it allows"},
		"so wide":                     {&x, ask(func(r *grid.Request) { r.Nodes = 13 }), grid.TooLarge, "asks for 13 nodes; the sites have 12 that suit"},
		"as wide as all":              {&x, ask(func(r *grid.Request) { r.Nodes = 12 }), grid.None, ""},
		"so wide on one site":         {&x, ask(func(r *grid.Request) { r.Nodes, r.OneSite = 9, true }), grid.TooLarge, "asks for 9 nodes on one site; the most that suit it has north, 8"},
		"longer than the site allows": {&x, ask(func(r *grid.Request) { r.Require.GPUs, r.Length = 1, grid.Hour+2 }), grid.TooLarge, "the sites have 0 that suit; 4 more allow no window of that length"},
		"so long":                     {&x, ask(func(r *grid.Request) { r.Nodes, r.Length = 6, 3*grid.Hour }), grid.TooLong, "takes 3h, the horizon allows 2h: no window can be that long"},
		"so soon":                     {&x, ask(func(r *grid.Request) { r.Ready, r.Deadline = 3000_000, 4000_000 }), grid.Expired, "after its deadline 4000"},
		// Two nodes of north for an hour cost 2 x 2 x 0.5 = 2 credits at the least.
		"so poor":             {&x, ask(func(r *grid.Request) { r.Budget = 2*grid.Credit - 10 }), grid.OverBudget, "on north at the lowest base price that they ever have, and the budget is 1.99999"},
		"with just enough":    {&x, ask(func(r *grid.Request) { r.Budget = 2 * grid.Credit }), grid.None, ""},
		"with a discount":     {&x, ask(func(r *grid.Request) { r.Budget, r.Flexible = grid.Credit, grid.Hour }), grid.None, ""},
		"at such a price cap": {&capped, ask(func(r *grid.Request) { r.MaxPrice = price(0.9) }), grid.OverBudget, "never costs less than 1 credits per node-hour, the job's price cap is 0.9"},
		"at a curve's least":  {&capped, ask(func(r *grid.Request) { r.MaxPrice = price(1) }), grid.None, ""},
		"moldable": {&x, ask(func(r *grid.Request) {
			r.Mold([]grid.Size{{Nodes: 4, Length: grid.Hour}, {Nodes: 99, Length: grid.Minute}})
		}), grid.None, ""},
	} {
		why := c.x.Never(c.r, 0)
		if why.Code != c.code || !strings.Contains(why.String(), c.words) {
			t.Errorf("%s: %q %q, want %q %q", name, why.Code, why, c.code, c.words)
		}
	}
}
