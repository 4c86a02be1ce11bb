package planning

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// mixed draws jobs with and without parts before four sites.
func mixed(rng *rand.Rand, goal grid.Goal, a search.Algorithm) *Input {
	in := &Input{From: 10 * sec, Horizon: 20_000 * sec, Terms: Terms{Algorithm: a, Minimize: goal, BudgetLimit: selection.Auto, TimeLimit: selection.Auto,
		MaxAlternatives: 4, Urgency: grid.Hourly(5 * grid.Credit), OfferWait: 10 * grid.Second}}
	for i := range 4 {
		g := agents.GroupOffer{Group: grid.Group{Site: fmt.Sprint("s", i), Name: "g", Nodes: 4 + rng.IntN(8), Performance: grid.Performance(1000 + 500*rng.IntN(3)), Price: grid.Price(1+rng.IntN(4)) * 1_000_000}}
		g.Admissible = grid.NewProfile(0, g.Group.Nodes)
		for range 3 {
			from := grid.Time(rng.IntN(9000)) * sec
			to := from + grid.Time(1+rng.IntN(4000))*sec
			g.Admissible.Add(from, to, -min(g.Admissible.Min(from, to), 1+rng.IntN(4)))
		}
		g.Clear = g.Admissible.Clone()
		in.Sites = append(in.Sites, Site{Name: g.Group.Site, Answer: Usable, Groups: []agents.GroupOffer{g}})
	}
	for i := range 5 {
		j := Job{Name: fmt.Sprint("j", i), Deadline: grid.Never, Request: grid.Request{Deadline: grid.Never, Apart: i%3 == 1, Together: i%3 == 2}}
		var parts []grid.JobPart
		for k := range 1 + rng.IntN(3) {
			p := grid.JobPart{Name: fmt.Sprint("p", k), Nodes: 1 + rng.IntN(4), Length: grid.Duration(600+rng.IntN(3000)) * grid.Second, MinPerformance: grid.Unit, MaxPrice: 3_000_000}
			if k > 0 {
				p.Offset = grid.Duration(rng.IntN(3)) * 900 * grid.Second
			}
			if rng.IntN(3) == 0 {
				p.Avoid = []string{"s1"}
			}
			parts = append(parts, p)
		}
		j.Request.Money(parts, false, nil)
		if len(parts) == 1 {
			j.Request.Together, j.Request.Apart = false, false
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// Whatever the goal and the algorithm, what a cycle chooses for jobs with and without parts
// fits together: each part has its nodes at its own time, at sites that it allows, and at no
// instant more nodes of a group are taken than are free.
func TestChoose_WindowsOfPartsFitBesideOthers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	placed := map[grid.Goal]int{}
	composing := slices.DeleteFunc(search.Each(), func(a search.Algorithm) bool { return !a.Composes() })
	for n := range 120 {
		goal := []grid.Goal{grid.GoalValue, grid.GoalTime, grid.GoalCost, grid.GoalFinish}[n%4]
		in := mixed(rng, goal, composing[n%len(composing)])
		var p Planner
		d := p.Plan(in)
		o := p.Choose(d, &Quotes{Left: grid.MaxBudget, Sites: make([][]grid.Quote, len(in.Sites))})
		left := make([]grid.Profile, len(d.Groups))
		for g := range left {
			left[g] = d.admissible[g].Clone()
		}
		for i := range o.Jobs {
			a := o.Jobs[i].Chosen()
			if a == nil {
				continue
			}
			r := &in.Jobs[i].Request
			if r.Composed() {
				placed[goal]++
			}
			if a.Cost > r.Budget && !in.Terms.capped() {
				t.Fatalf("cost %v of %v", a.Cost, r.Budget)
			}
			nodes, sites := make([]int, len(r.Parts)), map[int32]map[int32]bool{}
			for _, l := range a.Legs {
				part := &r.Parts[l.Part]
				nodes[l.Part] += l.What.Nodes
				if l.What.Start != a.Start().Add(part.Offset) || l.What.Duration() != d.Groups[l.Group].Performance.Runtime(part.Length) {
					t.Fatalf("leg %+v of part %+v in a window from %v", l, part, a.Start())
				}
				if !grid.May(in.Sites[l.Site].Name, part.Sites, part.Avoid) {
					t.Fatalf("part %s is at %s", part.Name, in.Sites[l.Site].Name)
				}
				if sites[l.Site] == nil {
					sites[l.Site] = map[int32]bool{}
				}
				sites[l.Site][l.Part] = true
				left[l.Group].Add(l.What.Start, l.What.End, -l.What.Nodes)
			}
			for k := range nodes {
				if nodes[k] != r.Parts[k].Nodes {
					t.Fatalf("part %s has %d of %d nodes", r.Parts[k].Name, nodes[k], r.Parts[k].Nodes)
				}
			}
			for _, parts := range sites {
				if r.Apart && len(parts) > 1 || r.Together && len(sites) > 1 {
					t.Fatalf("together %v, apart %v: %+v", r.Together, r.Apart, a.Legs)
				}
			}
		}
		for g := range left {
			if low := left[g].Min(0, in.Horizon); low < 0 {
				t.Fatalf("input %d, %v: %d nodes of group %d are missing", n, goal, -low, g)
			}
		}
	}
	for _, goal := range []grid.Goal{grid.GoalValue, grid.GoalTime, grid.GoalCost, grid.GoalFinish} {
		if placed[goal] < 20 {
			t.Errorf("%v: %d jobs of parts are placed", goal, placed[goal])
		}
	}
}

// Jobs taken one by one have their amp window if they have parts.
func TestPlan_OneByOnePartsHaveTheirAMPWindow(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	seen := 0
	for range 30 {
		in := mixed(rng, grid.GoalTime, search.Best)
		in.Terms.Strategy = choice.Earliest
		var p Planner
		d := p.Plan(in)
		for i := range in.Jobs {
			if !in.Jobs[i].Request.Composed() || len(d.Jobs[i].Alternatives) == 0 {
				continue
			}
			seen++
			l := new(search.List)
			l.ResetFungible(d.Groups, d.admissible, in.From, in.Horizon)
			w, why := search.NewFinder(l).Find(in.Jobs[i].Request, search.AMP, search.Weights{}, in.From)
			if a := &d.Jobs[i].Alternatives[0]; why.Refused() || a.Start() != w.Start || a.Cost != w.Cost || len(a.Legs) != len(w.Parts) {
				t.Fatalf("%+v, amp has %+v %v", a, w, why)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d jobs of parts", seen)
	}
}

// A job of parts that no horizon is long enough for is given up, by the part that takes
// longest from its offset on.
func TestJudge_APartBeyondTheHorizonIsTooLong(t *testing.T) {
	t.Parallel()
	in := mixed(rand.New(rand.NewPCG(5, 6)), grid.GoalTime, search.AMP)
	var p Planner
	var parts = []grid.JobPart{{Name: "a", Nodes: 1, Length: 60 * grid.Second, MinPerformance: grid.Unit, MaxPrice: 9_000_000},
		{Name: "b", Nodes: 1, Length: 60 * grid.Second, MinPerformance: grid.Unit, MaxPrice: 9_000_000, Offset: 20_000 * grid.Second}}
	in.Jobs = in.Jobs[:1]
	in.Jobs[0].Request = grid.Request{Deadline: grid.Never}
	in.Jobs[0].Request.Money(parts, false, nil)
	d := p.Plan(in)
	if len(d.Postponed) != 1 || d.Postponed[0].Reason.Code != grid.TooLong || !d.Postponed[0].Final {
		t.Errorf("%+v", d.Postponed)
	}
}

// Parts of one job that are in a queue's way together are quoted once more as a set, though no
// other job is there; a job of one piece is not.
func TestTogether_PartsOfOneJobAreQuotedAsASet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ parts, want int }{{1, 0}, {2, 2}} {
		in := &Input{From: 10 * sec, Horizon: 20_000 * sec, Terms: Terms{Algorithm: search.AMP, Minimize: grid.GoalValue, BudgetLimit: selection.Auto, TimeLimit: selection.Auto,
			MaxAlternatives: 4, Urgency: grid.Hourly(5 * grid.Credit), OfferWait: 10 * grid.Second}}
		g := agents.GroupOffer{Group: grid.Group{Site: "s", Name: "g", Nodes: 8, Performance: grid.Unit, Price: 1_000_000}}
		g.Admissible, g.Clear = grid.NewProfile(0, 8), grid.NewProfile(0, 3)
		in.Sites = []Site{{Name: "s", Answer: Usable, Groups: []agents.GroupOffer{g}}}
		j := Job{Name: "j", Deadline: grid.Never, Request: grid.Request{Deadline: grid.Never}}
		var parts []grid.JobPart
		for i := range c.parts {
			parts = append(parts, grid.JobPart{Name: fmt.Sprint("p", i), Nodes: 4 / c.parts, Length: 1000 * grid.Second, MinPerformance: grid.Unit, MaxPrice: 9_000_000})
		}
		j.Request.Money(parts, false, nil)
		in.Jobs = []Job{j}
		p := new(Planner)
		d := p.Plan(in)
		o := p.Choose(d, atBase(d))
		n := 0
		for _, w := range d.Together(o) {
			n += len(w.Legs)
		}
		if o.Jobs[0].Chosen() == nil || n != c.want {
			t.Errorf("%d parts: %d legs are quoted as a set, want %d; %+v", c.parts, n, c.want, o.Jobs[0].Chosen())
		}
	}
}

// A window whose search reached its bound says so, as an alternative, as an option that is shown,
// and where it is searched in again.
func TestPlan_AWindowOfABoundedSearchSaysSo(t *testing.T) {
	t.Parallel()
	in := mixed(rand.New(rand.NewPCG(1, 2)), grid.GoalCost, search.AMP)
	var pl Planner
	d := pl.Plan(in)
	for _, bounded := range []bool{false, true} {
		p := Plan{}
		p.add(d, &in.Jobs[0], []grid.Window{{Start: in.From, Time: grid.Hour, Bounded: bounded,
			Parts: []grid.Part{{Count: 1, Start: in.From, End: in.From.Add(grid.Hour)}}}})
		a := &p.Alternatives[0]
		w := a.window()
		a.Quotes = make([]grid.Quote, len(a.Legs))
		if o := d.option(&in.Jobs[0], &p, a); a.Bounded != bounded || o.Bounded != bounded || w.Bounded != bounded {
			t.Errorf("bounded %v: the alternative says %v, what is shown %v, the window %v", bounded, a.Bounded, o.Bounded, w.Bounded)
		}
	}
}
