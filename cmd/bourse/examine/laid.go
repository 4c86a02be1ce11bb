package examine

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Where nodes are divided, an alternative may lie inside a node that another job would open.
// If that job takes another window, there may be no place for it. So what is selected is laid
// anew, and what has no place is taken from the choice.

// all lists every alternative of each job.
func (v *planning) all() [][]int {
	list := make([][]int, len(v.found.Alternatives))
	for j, windows := range v.found.Alternatives {
		for i := range windows {
			list[j] = append(list[j], i)
		}
	}
	return list
}

// jobs are the alternatives to choose from.
func (v *planning) jobs() [][]selection.Alternative {
	jobs := make([][]selection.Alternative, len(v.open))
	for j, open := range v.open {
		for _, i := range open {
			w := &v.found.Alternatives[j][i]
			jobs[j] = append(jobs[j], selection.Alternative{Time: w.Time, Cost: w.Cost, End: w.End()})
		}
	}
	return jobs
}

// restore turns a choice among the open alternatives into one among all.
func (v *planning) restore(choice []int) {
	for j, i := range choice {
		if i >= 0 {
			choice[j] = v.open[j][i]
		}
	}
}

// drop closes the chosen alternatives that have no place beside the others, and reports
// whether there are any.
func (v *planning) drop(choice []int) bool {
	lost := v.misplaced(choice)
	for _, j := range lost {
		v.open[j] = slices.DeleteFunc(v.open[j], func(i int) bool { return i == choice[j] })
		if len(v.open[j]) == 0 {
			v.found.Reasons[j] = grid.Reason{Code: grid.NoWindow, Detail: "none of its windows has a place beside those of the other jobs"}
		}
	}
	return len(lost) > 0
}

// misplaced lays a choice in the order of the jobs, and returns those whose window has no
// place. Where nodes are not divided all have.
func (v *planning) misplaced(choice []int) (jobs []int) {
	p := v.problem
	if len(p.Nodes) == 0 || p.Nodes[0].Divided() == 1 {
		return nil
	}
	l, err := search.Named(p.Nodes, p.Slots)
	if err != nil {
		panic(err) // the search has read them
	}
	f := search.NewFinder(l)
	for j, i := range choice {
		if i >= 0 && !f.Lay(&v.found.Alternatives[j][i]) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}
