package planning

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/selection"
)

// B* and T* bind if an operator sets them; else the papers' other limit binds under their
// goals, and neither by value.
func TestTerms_WhichLimitBinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goal         bourse.Goal
		budget, time bool
	}{{bourse.GoalTime, true, false}, {bourse.GoalCost, false, true}, {bourse.GoalFinish, true, false}, {bourse.GoalValue, false, false}} {
		auto := Terms{Minimize: c.goal, BudgetLimit: selection.Auto, TimeLimit: selection.Auto}
		if auto.BindsBudget() != c.budget || auto.BindsTime() != c.time {
			t.Errorf("%v: B* binds %t, T* %t", c.goal, auto.BindsBudget(), auto.BindsTime())
		}
		set := Terms{Minimize: c.goal}
		if !set.BindsBudget() || !set.BindsTime() {
			t.Errorf("%v: B* of 0 binds %t, T* of 0 %t", c.goal, set.BindsBudget(), set.BindsTime())
		}
	}
	if one := (&Terms{Minimize: bourse.GoalValue, Strategy: choice.Random}); !one.OneByOne() || one.ByValue() {
		t.Error("jobs that are taken one by one are not placed by value")
	}
}

// What is tried first once the chosen window is gone: the one with less of what is
// minimised, then the cheaper, then the one found first.
func TestTerms_BetterIsWhatIsMinimisedThenCostThenOrder(t *testing.T) {
	t.Parallel()
	dear := Alternative{Number: 1, Time: 5, End: 5, Loss: 5, Cost: 9}
	for goal, change := range map[bourse.Goal]func(*Alternative){
		bourse.GoalValue:  func(a *Alternative) { a.Loss = 4 },
		bourse.GoalTime:   func(a *Alternative) { a.Time = 4 },
		bourse.GoalFinish: func(a *Alternative) { a.End = 4 },
		bourse.GoalCost:   func(a *Alternative) { a.Cost = 7 },
	} {
		terms := Terms{Minimize: goal}
		best, cheap, late := dear, dear, dear
		change(&best)
		cheap.Number, cheap.Cost, late.Number = 2, 8, 3
		order := []Alternative{best, cheap, dear, late}
		for i := range order {
			for k := range order {
				if got := terms.Better(&order[i], &order[k]); got != (i < k) {
					t.Errorf("%v: %+v before %+v: %t", goal, order[i], order[k], got)
				}
			}
		}
	}
}
