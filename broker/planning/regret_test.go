package planning

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
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
		want   bourse.Credits
		behind int
	}{{1, 0, 0}, {2, 10 * bourse.Credit, 1}, {3, 12 * bourse.Credit, 2}, {4, 12 * bourse.Credit, 2}} {
		in := &Input{Horizon: bourse.Time(bourse.Day), Terms: Terms{Minimize: bourse.GoalValue, BudgetLimit: selection.Auto, TimeLimit: selection.Auto,
			MaxAlternatives: 5, Urgency: bourse.Hourly(10 * bourse.Credit)}}
		for i := range c.jobs {
			j := Job{Name: fmt.Sprint("j", i)}
			j.Request = bourse.Request{Nodes: 1, Length: bourse.Hour, MinPerformance: bourse.Unit, MaxPrice: bourse.Price(9 * bourse.Credit), Budget: 100 * bourse.Credit, Deadline: bourse.Never}
			switch i {
			case 2:
				j.Request.Urgency = bourse.Hourly(bourse.Credit)
			case 3:
				j.Request.Minimize = bourse.GoalCost
			}
			in.Jobs = append(in.Jobs, j)
		}
		g := agents.GroupOffer{Group: bourse.Group{Site: "north", Name: "main", Nodes: 1, Performance: bourse.Unit, Price: bourse.Price(2 * bourse.Credit)}}
		g.Admissible = bourse.NewProfile(0, 1)
		g.Clear = g.Admissible
		in.Sites = []Site{{Name: "north", Answer: Usable, Groups: []agents.GroupOffer{g}}}
		var p Planner
		o := p.Choose(p.Plan(in), &Quotes{Sites: make([][]bourse.Quote, 1), Left: 1000 * bourse.Credit})
		if o.Regret != c.want || o.Behind != c.behind {
			t.Errorf("%d jobs: regret %v, %d behind; want %v, %d", c.jobs, o.Regret, o.Behind, c.want, c.behind)
		}
	}
}
