package planning

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// What a plan draws follows from the record under each goal that draws.
func TestRecord_KeepsTheTermsThatAPlanFollowsFrom(t *testing.T) {
	t.Parallel()
	for _, goal := range []bourse.Goal{bourse.GoalValue, bourse.GoalFinish} {
		in := &Input{Cycle: 7, Terms: Terms{Algorithm: search.AMP, Strategy: choice.Batch, Minimize: goal, Urgency: bourse.Hourly(3 * bourse.Credit), Weight: 1500,
			Patience: 8, Wait: 9, BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 5, Draws: 42, OfferWait: 10}}
		f := in.Seen(false)
		out, err := read(&f)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(out.Terms, in.Terms) {
			t.Errorf("goal %v: read back as %+v, was %+v", goal, out.Terms, in.Terms)
		}
		if out.draw("") != in.draw("") {
			t.Errorf("goal %v: the rerun draws another order", goal)
		}
	}
}
