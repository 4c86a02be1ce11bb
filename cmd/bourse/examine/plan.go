package examine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
)

func newPlan() *cobra.Command {
	var find searchFlags
	var goal selection.Goal
	var budget *grid.Credits
	var timeLimit *grid.Duration
	var pareto, asJSON bool
	cmd := &cobra.Command{
		Use:   "plan PROBLEM.json",
		Short: "Find alternatives and select one for each job, under the limits",
		Long: `Plan finds the alternatives of a batch (see bourse search) and selects one for each
job: with the least sum of times or the earliest finish within the budget limit B*,
or with the least cost within the time limit T*. Without --time-limit, T* is the sum
of the jobs' mean times; without --budget, B* is the most that a selection within T*
can cost. A limit given by flag always applies.

Where nodes are divided into slices, an alternative may lie inside one of another job.
What is selected is laid anew, in the order of the jobs; a window without a place there
is not chosen, and points of the front with one are left out.

Exit status 1 if no selection is within a given limit.`,
		Example: "  bourse plan problem.json --algorithm amp --minimize cost\n" +
			"  bourse plan problem.json --minimize time --budget 1500 --pareto",
		Args: oneProblem,
		RunE: func(cmd *cobra.Command, args []string) error {
			limits := selection.Limits{Time: selection.Auto, Cost: selection.Auto}
			if budget != nil {
				limits.Cost = *budget
			}
			if timeLimit != nil {
				limits.Time = *timeLimit
			}
			p, r, err := find.search(cmd, args[0])
			if err != nil {
				return err
			}
			v := newPlanning(p, r, goal, limits, pareto)
			if err := v.write(cmd.OutOrStdout(), asJSON); err != nil {
				return err
			}
			if v.result.Reason.Refused() {
				return failure.Of(errors.New(v.result.Reason.String()))
			}
			return nil
		},
	}
	f := cmd.Flags()
	find.add(cmd)
	flags.AddFlag(cmd, &goal, flags.AsGoal, "minimize", selection.MinTime, names.Or(names.Of(selection.Goals())))
	flags.AddFlag(cmd, &budget, flags.Optional(flags.AsCredits), "budget", nil, "budget limit B* in credits (default: by formula)")
	flags.AddFlag(cmd, &timeLimit, flags.Optional(flags.AsDuration), "time-limit", nil, "time limit T*, such as 160 or 2h (default: by formula)")
	f.BoolVar(&pareto, "pareto", false, "also print every point of the Pareto front of cost, time and finish")
	f.BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

// planning is a batch with its alternatives and the selection.
type planning struct {
	problem *problem
	found   search.Result
	goal    selection.Goal
	open    [][]int // by job, the alternatives that may be chosen
	result  selection.Result
	pareto  bool
	front   []selection.Point
	thinned bool
}

func newPlanning(p *problem, r search.Result, goal selection.Goal, limits selection.Limits, pareto bool) *planning {
	var s selection.Selector
	v := &planning{problem: p, found: r, goal: goal, pareto: pareto}
	v.open = v.all()
	for {
		v.result = s.Select(v.jobs(), goal, limits)
		v.restore(v.result.Chosen)
		if !v.drop(v.result.Chosen) {
			break
		}
	}
	if pareto {
		v.front, v.thinned = s.Front(v.jobs())
		for _, f := range v.front {
			v.restore(f.Chosen)
		}
		v.front = slices.DeleteFunc(v.front, func(f selection.Point) bool { return len(v.misplaced(f.Chosen)) > 0 })
	}
	return v
}

// planAnswer is the JSON of a plan; null: none.
type planAnswer struct {
	searchAnswer
	TimeLimit   grid.Duration    `json:"timeLimit"`
	BudgetLimit *grid.Credits    `json:"budgetLimit"`
	Chosen      *orderedMap[int] `json:"chosen"`
	Time        *grid.Duration   `json:"time"`
	Cost        *grid.Credits    `json:"cost"`
	Finish      *grid.Time       `json:"finish"`
	Postponed   []string         `json:"postponed"`
	Reason      string           `json:"reason,omitempty"`
	Grid        bool             `json:"grid,omitempty"` // the label bound was reached
	Pareto      *[]pointAnswer   `json:"pareto,omitempty"`
}

type pointAnswer struct {
	Cost   grid.Credits    `json:"cost"`
	Time   grid.Duration   `json:"time"`
	Finish grid.Time       `json:"finish"`
	D      *grid.Credits   `json:"D"`
	I      grid.Duration   `json:"I"`
	Chosen orderedMap[int] `json:"chosen"`
}

func (v *planning) write(out io.Writer, asJSON bool) error {
	if asJSON {
		return flags.WriteJSON(out, v.answer())
	}
	v.print(out)
	return nil
}

func (v *planning) answer() planAnswer {
	p, r := v.problem, &v.result
	a := planAnswer{searchAnswer: searchAnswer{p.alternatives(v.found), v.found.Passes},
		TimeLimit: r.Limits.Time, Postponed: []string{}, Reason: r.Reason.String(), Grid: r.Grid || v.thinned}
	if r.Limits.Cost != selection.Auto {
		a.BudgetLimit = &r.Limits.Cost
	}
	for j := range p.Names {
		if len(v.open[j]) == 0 {
			a.Postponed = append(a.Postponed, p.Names[j])
		}
	}
	if r.Chosen != nil {
		chosen := v.chosen(r.Chosen)
		a.Chosen, a.Time, a.Cost, a.Finish = &chosen, &r.Time, &r.Cost, &r.Finish
	}
	if v.pareto {
		points := make([]pointAnswer, 0, len(v.front))
		for _, f := range v.front {
			points = append(points, pointAnswer{f.Cost, f.Time, f.Finish, v.saved(f.Cost), r.Limits.Time - f.Time, v.chosen(f.Chosen)})
		}
		a.Pareto = &points
	}
	return a
}

// chosen counts alternatives from 1.
func (v *planning) chosen(choice []int) orderedMap[int] {
	m := orderedMap[int]{}
	for j, i := range choice {
		if i >= 0 {
			m.add(v.problem.Names[j], i+1)
		}
	}
	return m
}

// saved is D = B* - C, nil if there is no B*.
func (v *planning) saved(c grid.Credits) *grid.Credits {
	if v.result.Limits.Cost == selection.Auto {
		return nil
	}
	d := v.result.Limits.Cost - c
	return &d
}

func (v *planning) print(out io.Writer) {
	p, r := v.problem, &v.result
	if r.Chosen != nil {
		t := report.NewTable("job", "chosen", "of", "start", "end", "time", "cost")
		for j, i := range r.Chosen {
			if i >= 0 {
				w := &v.found.Alternatives[j][i]
				t.AppendRow(table.Row{p.Names[j], i + 1, len(v.found.Alternatives[j]), w.Start, w.End(), w.Time, w.Cost})
			}
		}
		t.AppendFooter(table.Row{"batch", "", "", "", r.Finish, r.Time, r.Cost})
		fmt.Fprintln(out, t.Render())
	}
	p.writePostponed(out, v.found)
	p.writeBounded(out, v.found)
	fmt.Fprintf(out, "least %v; time limit T* %v s", v.goal, r.Limits.Time)
	if r.Limits.Cost != selection.Auto {
		fmt.Fprintf(out, ", budget limit B* %v credits", r.Limits.Cost)
	}
	fmt.Fprintln(out)
	if r.Grid {
		fmt.Fprintln(out, "The bound on labels was reached: the selection is within the limits, but may not be the best.")
	}
	if !v.pareto {
		return
	}
	t := report.NewTable("cost", "time", "finish", "D", "I", "<alternatives")
	for _, f := range v.front {
		var d any = ""
		if saved := v.saved(f.Cost); saved != nil {
			d = *saved
		}
		choice := ""
		for j, i := range f.Chosen {
			if i >= 0 {
				choice += fmt.Sprintf("%s:%d ", p.Names[j], i+1)
			}
		}
		t.AppendRow(table.Row{f.Cost, f.Time, f.Finish, d, r.Limits.Time - f.Time, clip(choice, 36)})
	}
	fmt.Fprintf(out, "Pareto front of cost, time and finish (D or I below 0: outside the limits):\n%s\n", t.Render())
	if v.thinned {
		fmt.Fprintln(out, "The bound on labels was reached: the front is thinned.")
	}
}

// orderedMap is a JSON object that keeps the order of its keys: jobs appear in the order
// of the file.
type orderedMap[V any] struct {
	keys   []string
	values []V
}

func (m *orderedMap[V]) add(key string, v V) {
	m.keys, m.values = append(m.keys, key), append(m.values, v)
}

// MarshalJSON writes the object.
func (m orderedMap[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range m.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(m.values[i])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
