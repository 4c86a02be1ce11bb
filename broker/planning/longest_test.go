package planning

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
)

// Whatever the terms, no alternative is longer than its group allows.
func TestPlan_NoAlternativeIsLongerThanItsGroupAllows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := new(Planner).Plan(randomInput(t))
		for i := range d.Jobs {
			for _, a := range d.Jobs[i].Alternatives {
				for _, l := range a.Legs {
					if g := &d.Groups[l.Group]; l.What.Work == 0 && !g.Allows(l.What.Duration()) {
						t.Fatalf("job %d: %v s on %s/%s, which allow %v s", i, l.What.Duration(), g.Site, g.Name, g.Longest)
					}
				}
			}
		}
	})
}

// One by one, too, a job reads that it is too long, and is given up if all sites say so.
func TestStarts_SayWhatIsTheLongestWindow(t *testing.T) {
	t.Parallel()
	g := agents.GroupOffer{Group: grid.Group{Site: "s", Name: "gpu", Nodes: 1, Performance: grid.Unit, Longest: grid.Hour},
		Admissible: grid.NewProfile(0, 1), Clear: grid.NewProfile(0, 1)}
	in := &Input{From: 10 * sec, Horizon: 200_000 * sec, Terms: Terms{Strategy: choice.Random, MaxAlternatives: 4},
		Jobs: []Job{{Name: "a", Deadline: grid.Never, Request: grid.Request{Nodes: 1, Length: 2 * grid.Hour,
			MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: grid.Never}}},
		Sites: []Site{{Name: "s", Answer: Usable, Groups: []agents.GroupOffer{g}}}}
	d := new(Planner).Plan(in)
	if len(d.Postponed) != 1 || !d.Postponed[0].Final || d.Postponed[0].Reason.Code != grid.TooLarge ||
		!strings.Contains(d.Postponed[0].Reason.Detail, "takes 2h on nodes of s/gpu, which allow no window longer than 1h") {
		t.Errorf("%+v", d.Postponed)
	}
	in.Jobs[0].Request.Length = grid.Hour
	if d := new(Planner).Plan(in); len(d.Jobs[0].Alternatives) == 0 {
		t.Errorf("what is allowed: %+v", d.Postponed)
	}
}

// Longest bounds how long nodes are held. A share of time-shared nodes holds none, so an offer
// of shares that has a bound serves what is longer, and a submission is judged alike.
func TestPlan_NothingBoundsAShareOfANode(t *testing.T) {
	t.Parallel()
	r := grid.Request{Nodes: 1, Length: 2 * grid.Hour, MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: 100_000 * sec}
	g := agents.GroupOffer{Group: grid.Group{Site: "s", Name: "gpu", Nodes: 1, Performance: grid.Unit, Longest: grid.Hour},
		Shared: true, Admissible: grid.NewProfile(0, 1), Clear: grid.NewProfile(0, 1)}
	in := &Input{From: 10 * sec, Horizon: 200_000 * sec, Terms: Terms{MaxAlternatives: 4, Refuses: true},
		Jobs:  []Job{{Name: "a", Deadline: r.Deadline, Request: r}},
		Sites: []Site{{Name: "s", Answer: Usable, Groups: []agents.GroupOffer{g}}}}
	d := new(Planner).Plan(in)
	if len(d.Jobs[0].Alternatives) == 0 {
		t.Errorf("the cycle says %+v", d.Postponed)
	}
	x := ReachOf(in.Horizon.Sub(in.From), in.Terms)
	x.Add("s", in.Sites[0].Groups)
	if why := x.Never(&r, in.From); why.Refused() {
		t.Errorf("a submission is refused: %v", why)
	}
}
