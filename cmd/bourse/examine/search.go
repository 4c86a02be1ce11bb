package examine

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
)

func newSearch() *cobra.Command {
	var f searchFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search PROBLEM.json",
		Short: "Find the alternatives of a batch: windows of slots for each job",
		Long: `Search looks for windows for the jobs of a batch in a list of slots. It takes the
jobs in order, pass after pass, until it finds no more. Windows never overlap.

` + names.Lines(search.Algorithms()) + `
PROBLEM.json ("-": standard input) has "slots" and "jobs": times in seconds, prices
in credits per node-hour, performance relative to 1. A job may also have "ready" and
"deadline". A job without a window is postponed, with the reason.

A slot may have a "site", the same for all slots of a node. A job of unlike parts has
"parts" instead of "nodes": name, nodes, length, minPerformance, maxPrice, offset,
sites, avoid and spread; "together": one site carries all of them, "apart": none
carries two. What a part leaves out it has from its job.

Nodes may be divided into slices: a slot has "of", the same in the whole file, and
"free" if others already share its node, which is then open for its interval only. A
job with "slices" takes as many of each node, and pays for those. It opens a whole
node, or lies inside an opened one; of nodes of equal cost it takes those with the
fewest free slices, then those whose slot ends first.

Without --max-alternatives a job may have any number of alternatives, but the search
fails if the windows have more than 1,000,000 parts in total.`,
		Example: "  bourse search problem.json --algorithm amp\n  bourse search problem.json --algorithm best --json",
		Args:    oneProblem,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, r, err := f.search(cmd, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return flags.WriteJSON(cmd.OutOrStdout(), searchAnswer{p.alternatives(r), r.Passes})
			}
			p.writeAlternatives(cmd.OutOrStdout(), r)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}

// oneProblem takes one file.
func oneProblem(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one file, PROBLEM.json; %d given", cmd.Name(), len(args))
	}
	return nil
}

// searchFlags say how to search for alternatives.
type searchFlags struct {
	algorithm    search.Algorithm
	weights      search.Weights
	alternatives int
}

// mostParts bounds the parts of all windows of a batch, which take 300 MB at most.
const mostParts = 1_000_000

func (f *searchFlags) add(cmd *cobra.Command) {
	flags.AddFlag(cmd, &f.algorithm, flags.AsAlgorithm, "algorithm", search.AMP, names.Or(configs.Words("broker.algorithm")))
	flags.AddFlag(cmd, &f.weights, flags.AsWeights, "weights", search.Weights{},
		"weights for "+names.Or(search.Weighing())+", such as time=1,cost=0.3,finish=0; without time and cost they vary from pass to pass")
	flags.AddFlag(cmd, &f.alternatives, flags.AsNumber, "max-alternatives", 0, "alternatives for each job at most (default: no limit)")
}

// options checks the flags.
func (f *searchFlags) options() (o search.Options, err error) {
	o.Algorithm, o.Weights = f.algorithm, f.weights
	if f.alternatives < 0 {
		return o, fmt.Errorf("--max-alternatives %d: must be 1 or more, or 0 for no limit", f.alternatives)
	}
	o.MaxAlternatives, o.MaxParts = f.alternatives, mostParts
	if f.weights != (search.Weights{}) && !o.Algorithm.Weighs() {
		return o, fmt.Errorf("--weights needs --algorithm %s", names.Or(search.Weighing()))
	}
	return o, nil
}

// problem is a batch and its slots, with what the commands print of it.
type problem input.Problem

// search reads a problem and finds its alternatives.
func (f *searchFlags) search(cmd *cobra.Command, file string) (*problem, search.Result, error) {
	o, err := f.options()
	if err != nil {
		return nil, search.Result{}, err
	}
	p, err := input.ReadProblem(file, cmd.InOrStdin())
	err = flags.OfKind(file, kinds.Problem, err)
	if err != nil {
		return nil, search.Result{}, err
	}
	if i := slices.IndexFunc(p.Jobs, func(r grid.Request) bool { return r.Composed() }); i >= 0 && !o.Algorithm.Composes() {
		return nil, search.Result{}, fmt.Errorf("%s: jobs[%d] has parts, which --algorithm %v does not search for; use %s", file, i, o.Algorithm, names.Or(search.Composing()))
	}
	l, err := search.Named(p.Nodes, p.Slots)
	if err != nil {
		return nil, search.Result{}, fmt.Errorf("%s: %w", file, err)
	}
	r := search.Batch(l, p.Jobs, o)
	if r.Cut {
		return nil, r, failure.Of(fmt.Errorf("%s: the windows have more than %d parts; limit the alternatives of each job with --max-alternatives", file, mostParts))
	}
	return (*problem)(p), r, nil
}

type searchAnswer struct {
	Alternatives orderedMap[[]windowAnswer] `json:"alternatives"`
	Passes       int                        `json:"passes"`
}

type windowAnswer struct {
	Start grid.Time     `json:"start"`
	End   grid.Time     `json:"end"`
	Time  grid.Duration `json:"time"`
	Cost  grid.Credits  `json:"cost"`
	Parts []partAnswer  `json:"parts"`
	// Bounded says that the search for it gave up before it had looked at all choices.
	Bounded bool `json:"bounded,omitempty"`
}

type partAnswer struct {
	Part  string       `json:"part,omitempty"` // of the job, if it has parts
	Node  string       `json:"node"`
	Start grid.Time    `json:"start"`
	End   grid.Time    `json:"end"`
	Cost  grid.Credits `json:"cost"`
	// Slices are those that it takes of the node, if not all.
	Slices int32 `json:"slices,omitempty"`
}

func (p *problem) alternatives(r search.Result) orderedMap[[]windowAnswer] {
	out := orderedMap[[]windowAnswer]{}
	for j, windows := range r.Alternatives {
		list := make([]windowAnswer, 0, len(windows))
		for i := range windows {
			w := &windows[i]
			a := windowAnswer{w.Start, w.End(), w.Time, w.Cost, nil, w.Bounded}
			for _, part := range w.Parts {
				a.Parts = append(a.Parts, partAnswer{p.partOf(j, part.Of), p.Nodes[part.Group].Name, part.Start, part.End, part.Cost, part.Slices})
			}
			list = append(list, a)
		}
		out.add(p.Names[j], list)
	}
	return out
}

// partOf is the name of a part of a job; "" if the job has none.
func (p *problem) partOf(job int, of int32) string {
	if parts := p.Jobs[job].Parts; len(parts) > 0 {
		return parts[of].Name
	}
	return ""
}

// nodeOf is the node of a part of a window, with the slices that it takes if not all.
func (p *problem) nodeOf(part *grid.Part) string {
	n := &p.Nodes[part.Group]
	if part.Slices == 0 {
		return n.Name
	}
	return fmt.Sprintf("%s(%d/%d)", n.Name, part.Slices, n.Divided())
}

// writeAlternatives prints a row for each alternative, and why jobs have none.
func (p *problem) writeAlternatives(out io.Writer, r search.Result) {
	t := report.NewTable("job", "alternative", "start", "end", "time", "cost", "<nodes")
	found := 0
	for j, windows := range r.Alternatives {
		for i := range windows {
			w := &windows[i]
			var nodes []string
			for k, part := range w.Parts {
				if name := p.partOf(j, part.Of); name != "" && (k == 0 || part.Of != w.Parts[k-1].Of) {
					nodes = append(nodes, name+":")
				}
				nodes = append(nodes, p.nodeOf(&part))
			}
			t.AppendRow(table.Row{p.Names[j], i + 1, w.Start, w.End(), w.Time, w.Cost, clip(strings.Join(nodes, " "), 36)})
			found++
		}
	}
	if found > 0 {
		fmt.Fprintln(out, t.Render())
	}
	p.writePostponed(out, r)
	p.writeBounded(out, r)
	fmt.Fprintf(out, "%s for %s in %d passes (times in seconds, costs in credits)\n", grid.Count(found, "alternative"), grid.Count(len(p.Jobs), "job"), r.Passes)
}

func (p *problem) writePostponed(out io.Writer, r search.Result) {
	for j, why := range r.Reasons {
		if why.Refused() {
			fmt.Fprintf(out, "%s is postponed: %v\n", p.Names[j], why)
		}
	}
}

// writeBounded says which jobs may have better windows than those found.
func (p *problem) writeBounded(out io.Writer, r search.Result) {
	for j, windows := range r.Alternatives {
		for i := range windows {
			if windows[i].Bounded {
				fmt.Fprintf(out, "alternative %d of %s is bounded: there may be a better choice of nodes, or an earlier start\n", i+1, p.Names[j])
			}
		}
	}
}

// clip shortens a list of names to fit a column.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-3] + "..."
}
