package planning

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/selection"
)

// alikeSites is a batch of a job of one node before as many sites of four equal nodes as are
// named, by the goal finish.
func alikeSites(names ...string) *Input {
	in := &Input{Cycle: 3, From: 10 * sec, Horizon: 20_000 * sec,
		Terms: Terms{Minimize: grid.GoalFinish, BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 1}}
	for _, name := range names {
		g := agents.GroupOffer{Group: grid.Group{Site: name, Name: "g", Nodes: 4, Performance: grid.Unit, Price: 1_000_000},
			Admissible: grid.NewProfile(0, 4), Clear: grid.NewProfile(0, 4)}
		in.Sites = append(in.Sites, Site{Name: name, Answer: Usable, Groups: []agents.GroupOffer{g}})
	}
	in.Jobs = []Job{{Name: "a", Deadline: grid.Never, Request: grid.Request{Nodes: 1, Length: 600 * grid.Second,
		MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: grid.Never}}}
	return in
}

// firstAt is where the first alternative of the first job is.
func firstAt(in *Input) string {
	d := new(Planner).Plan(in)
	return d.Groups[d.Jobs[0].Alternatives[0].Legs[0].Group].Site
}

// By finish, of sites that a search cannot tell apart the one with most of its nodes free is
// looked at first, wherever its name stands; of equally free ones each in its turn.
func TestOrder_AlikeSitesAreNotPreferredForTheirNames(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c"}
	for free := range names {
		in := alikeSites(names...)
		for i := range in.Sites {
			if g := &in.Sites[i].Groups[0]; i != free {
				g.Admissible.Add(0, 10_000*sec, -1)
				g.Clear.Add(0, 10_000*sec, -1)
			}
		}
		if got := firstAt(in); got != names[free] {
			t.Errorf("the job is planned at %s; %s has most free", got, names[free])
		}
	}
	times := map[string]int{}
	for cycle := range uint64(90) {
		in := alikeSites(names...)
		in.Cycle = cycle
		times[firstAt(in)]++
	}
	for _, name := range names {
		if times[name] < 15 {
			t.Errorf("%s is first in %d of 90 cycles", name, times[name])
		}
	}
}

// Groups that differ in anything that a search sees keep their places, and so do all under the
// other goals.
func TestOrder_OnlyAlikeGroupsChangePlaces(t *testing.T) {
	t.Parallel()
	busier := func(in *Input) *Input {
		in.Sites[0].Groups[0].Admissible.Add(0, 10_000*sec, -1)
		in.Sites[0].Groups[0].Clear.Add(0, 10_000*sec, -1)
		return in
	}
	if got := firstAt(busier(alikeSites("a", "b"))); got != "b" {
		t.Fatalf("of alike sites the job is planned at %s, which is busier", got)
	}
	curve, err := grid.NewPriceCurve([]grid.PricePiece{{From: 15_000 * sec, To: 16_000 * sec, Factor: 2000}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*grid.Group){
		"padding": func(g *grid.Group) { g.Padding = grid.Second },
		"longest": func(g *grid.Group) { g.Longest = grid.Hour },
		"curve":   func(g *grid.Group) { g.Curve = curve },
		"memory":  func(g *grid.Group) { g.Machine.Memory = 1 },
		"disk":    func(g *grid.Group) { g.Machine.Disk = 1 },
		"gpus":    func(g *grid.Group) { g.Machine.GPUs = 1 },
		"os":      func(g *grid.Group) { g.Machine.OS = "x" },
		"arch":    func(g *grid.Group) { g.Machine.Arch = "x" },
		"words":   func(g *grid.Group) { g.Machine.Features = []string{"x"} },
	} {
		in := busier(alikeSites("a", "b"))
		change(&in.Sites[0].Groups[0].Group)
		if got := firstAt(in); got != "a" {
			t.Errorf("%s: the job is planned at %s, though the two are not alike", name, got)
		}
	}
	for _, goal := range []grid.Goal{grid.GoalTime, grid.GoalCost} {
		in := busier(alikeSites("a", "b"))
		in.Terms.Minimize = goal
		if got := firstAt(in); got != "a" {
			t.Errorf("by %v the job is planned at %s", goal, got)
		}
	}
}

// Of equal groups of time-shared nodes each job looks at another first by value and finish;
// by the other goals all look at the first.
func TestShares_EachJobHasAnOrderOfItsOwn(t *testing.T) {
	t.Parallel()
	for goal, spread := range map[grid.Goal]bool{grid.GoalValue: true, grid.GoalFinish: true, grid.GoalTime: false, grid.GoalCost: false} {
		in := alikeSites("a", "b")
		in.Terms.Minimize = goal
		for i := range in.Sites {
			g := &in.Sites[i].Groups[0]
			g.Shared, g.Admissible, g.Clear = true, grid.NewProfile(0, 0), grid.NewProfile(0, 0)
		}
		one := in.Jobs[0]
		one.Request.Deadline, one.Deadline = 5000*sec, 5000*sec
		in.Jobs = nil
		for i := range 40 {
			one.Name = fmt.Sprint("j", i)
			in.Jobs = append(in.Jobs, one)
		}
		d, first := new(Planner).Plan(in), map[string]int{}
		for i := range d.Jobs {
			if len(d.Jobs[i].Alternatives) != 2 {
				t.Fatalf("%v: %d alternatives", goal, len(d.Jobs[i].Alternatives))
			}
			first[d.Groups[d.Jobs[i].Alternatives[0].Legs[0].Group].Site]++
		}
		if spread && min(first["a"], first["b"]) < 8 || !spread && first["a"] != 40 {
			t.Errorf("%v: looked at first are %v", goal, first)
		}
	}
}
