package planning

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// A peer may say what is clear from some later instant on only. It is taken to be so
// before, too, and nothing panics.
func TestTogether_AnOfferThatBeginsLate(t *testing.T) {
	t.Parallel()
	g := agents.GroupOffer{Group: grid.Group{Site: "s", Name: "g", Nodes: 4, Performance: grid.Unit, Price: 1_000_000},
		Admissible: grid.NewProfile(0, 4), Clear: grid.NewProfile(1000*sec, 4)}
	in := &Input{Cycle: 1, From: 10 * sec, Horizon: 20_000 * sec, Sites: []Site{{Name: "s", Answer: Usable, Groups: []agents.GroupOffer{g}}},
		Terms: Terms{Algorithm: search.AMP, Minimize: grid.GoalValue, Urgency: grid.Hourly(grid.Credit), MaxAlternatives: 3,
			BudgetLimit: selection.Auto, TimeLimit: selection.Auto}}
	for _, name := range []string{"a", "b"} {
		j := Job{Name: name, Request: grid.Request{Nodes: 2, Length: grid.Hour, MinPerformance: grid.Unit, Budget: 9 * grid.Credit, Deadline: grid.Never}}
		in.Jobs = append(in.Jobs, j)
	}
	var p Planner
	d := p.Plan(in)
	o := p.Choose(d, &Quotes{Sites: make([][]grid.Quote, 1), Left: grid.MaxBudget})
	for i := range o.Jobs {
		if a := o.Jobs[i].Chosen(); a == nil || a.Start() != in.From {
			t.Errorf("job %d gets %+v, want a window that starts at once", i, a)
		}
	}
	if list := d.Together(o); list != nil {
		t.Errorf("asks for %+v, though all of it is clear", list)
	}
}
