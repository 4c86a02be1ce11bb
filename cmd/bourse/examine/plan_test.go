package examine

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// An alternative whose search reached its bound is said to be bounded, by plan as by search.
func TestPlan_SaysWhichAlternativesAreBounded(t *testing.T) {
	t.Parallel()
	for _, bounded := range []bool{false, true} {
		p := &problem{Names: []string{"J1"}, Nodes: []grid.Group{{Name: "n1", Nodes: 1}}, Jobs: make([]grid.Request, 1)}
		w := grid.Window{Time: grid.Hour, Cost: grid.Credit, Bounded: bounded, Parts: []grid.Part{{Count: 1, End: grid.Time(grid.Hour)}}}
		r := search.Result{Alternatives: [][]grid.Window{{w}}, Reasons: make([]grid.Reason, 1)}
		v := newPlanning(p, r, selection.MinCost, selection.Limits{Time: selection.Auto, Cost: selection.Auto}, false)
		for _, asJSON := range []bool{false, true} {
			var out strings.Builder
			if err := v.write(&out, asJSON); err != nil || strings.Contains(out.String(), "bounded") != bounded {
				t.Errorf("bounded %v, JSON %v: %v\n%s", bounded, asJSON, err, out.String())
			}
		}
	}
}
