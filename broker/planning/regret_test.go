package planning

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Three jobs of an hour for the one node of a site at 2 credits an hour; an hour is
// worth 10 credits to two of them, 1 to the third. Alone each would end after an
// hour: 12, 12 and 3 credits lost. Together they lose 12, 22 and 5. A fourth whose
// goal is not the value has no part in it.
func TestChoose_RegretIsWhatTheBatchLosesBeyondTheLeastOfEachJobAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		jobs   int
		want   grid.Credits
		behind int
	}{{1, 0, 0}, {2, 10 * grid.Credit, 1}, {3, 12 * grid.Credit, 2}, {4, 12 * grid.Credit, 2}} {
		in := &Input{Horizon: grid.Time(grid.Day), Terms: Terms{Minimize: grid.GoalValue, BudgetLimit: selection.Auto, TimeLimit: selection.Auto,
			MaxAlternatives: 5, Urgency: grid.Hourly(10 * grid.Credit)}}
		for i := range c.jobs {
			j := Job{Name: fmt.Sprint("j", i)}
			j.Request = grid.Request{Nodes: 1, Length: grid.Hour, MinPerformance: grid.Unit, MaxPrice: grid.Price(9 * grid.Credit), Budget: 100 * grid.Credit, Deadline: grid.Never}
			switch i {
			case 2:
				j.Request.Urgency = grid.Hourly(grid.Credit)
			case 3:
				j.Request.Minimize = grid.GoalCost
			}
			in.Jobs = append(in.Jobs, j)
		}
		g := agents.GroupOffer{Group: grid.Group{Site: "north", Name: "main", Nodes: 1, Performance: grid.Unit, Price: grid.Price(2 * grid.Credit)}}
		g.Admissible = grid.NewProfile(0, 1)
		g.Clear = g.Admissible
		in.Sites = []Site{{Name: "north", Answer: Usable, Groups: []agents.GroupOffer{g}}}
		var p Planner
		o := p.Choose(p.Plan(in), &Quotes{Sites: make([][]grid.Quote, 1), Left: 1000 * grid.Credit})
		if o.Regret != c.want || o.Behind != c.behind {
			t.Errorf("%d jobs: regret %v, %d behind; want %v, %d", c.jobs, o.Regret, o.Behind, c.want, c.behind)
		}
	}
}
