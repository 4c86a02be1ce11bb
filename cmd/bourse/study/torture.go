package study

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents/plant"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation/torture"
)

// torturing holds the flags of torture.
type torturing struct {
	seeds  int
	start  uint64
	plant  string
	plants bool
	json   bool
	faults string
	trace  bool
	shrink int
	kinds  []string
	rows   bool
}

// newTorture builds "bourse torture".
func newTorture() *cobra.Command {
	var f torturing
	cmd := &cobra.Command{
		Use:   "torture",
		Short: "Simulate a federation with every fault and check its invariants",
		Long: `Torture runs a federation of 6 sites and 3 brokers for two hours of virtual time
while messages are lost, processes die around every sync and every send, disks fail,
clocks disagree, sites lie and users change their minds; then for ten minutes without
faults. In half of the worlds, sites have resource managers that forget, answer late
and are changed by hand. After every step it checks the invariants I1 to I33 of
docs/TRANSACTION.md and docs/FAILURES.md from outside.

The same seed gives the same run. For a violation it prints the command that replays
it and a small set of faults that causes it; --trace prints every message of one seed.
Exit status 1: an invariant is broken.`,
		Example: "  bourse torture\n  bourse torture --seeds 1000\n  bourse torture --start 42 --seeds 1 --trace",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	own := cmd.Flags()
	flags.AddFlag(cmd, &f.seeds, flags.AsNumber, "seeds", 100, "number of seeds to run")
	flags.AddFlag(cmd, &f.start, flags.AsSeed, "start", 1, "the first seed")
	flags.AddFlag(cmd, &f.plant, flags.AsName, "plant", "", "enable a planted bug (needs a build with the tag plants)")
	own.BoolVar(&f.plants, "plants", false, "list the planted bugs")
	own.BoolVar(&f.rows, "rows", false, "print how often each row of docs/TRANSACTION.md was taken")
	own.BoolVar(&f.json, "json", false, "print JSON")
	flags.AddFlag(cmd, &f.faults, flags.AsFile, "faults", "", "file of faults to inject instead of the seed's own, one per line as printed")
	own.BoolVar(&f.trace, "trace", false, "print everything that happens; only for one seed")
	flags.AddFlag(cmd, &f.shrink, flags.AsNumber, "shrink", 60, "runs to spend on finding a small set of faults for each violation")
	flags.AddWords(cmd, &f.kinds, "kinds", "kinds", "only these kinds of faults, separated by commas", flags.OfferAll(flags.FaultKinds))
	return cmd
}

func (f *torturing) run(stdout, stderr io.Writer) error {
	if f.plants {
		return f.list(stdout)
	}
	opt, err := f.options(stdout)
	if err != nil {
		return err
	}
	sum := torture.NewReport(f.again())
	bar := flags.NewProgress(stderr, "seeds")
	var done, broken atomic.Int64 // seeds
	seeds := 0
	defer flags.OnInterrupt(stderr, func() string { return f.left(int(done.Load()), int(broken.Load())) })()
	err = torture.Each(f.start, f.seeds, opt, func(r torture.Result) error {
		sum.Add(r)
		seeds++
		done.Store(int64(seeds))
		broken.Store(int64(len(sum.Violations)))
		if !f.trace {
			bar.Set(seeds, f.seeds)
		}
		return nil
	})
	bar.Clear()
	if err != nil {
		return failure.Of(err)
	}
	if f.faults == "" && f.shrink > 0 {
		for i := range sum.Violations[:min(3, len(sum.Violations))] {
			sum.Violations[i].Explain(f.shrink, opt.Kinds)
		}
	}
	if err := f.show(sum, stdout); err != nil {
		return err
	}
	if n := len(sum.Violations); n > 0 {
		return failure.Of(fmt.Errorf("%d of %d seeds break an invariant", n, f.seeds))
	}
	if rare := sum.Rare(); len(rare) > 0 {
		return failure.Of(fmt.Errorf("rows %s were taken less often than required for this many seeds (see bourse torture --rows): the worlds no longer lead to them often enough",
			strings.Join(rare, ", ")))
	}
	return nil
}

// left says how to continue an interrupted torture, and how to see the violations so far.
func (f *torturing) left(done, broken int) string {
	words := fmt.Sprintf("%s done, %d with violations", grid.Count(done, "seed is", "seeds are"), broken)
	if broken > 0 {
		words += fmt.Sprintf("; to see them: bourse torture --start %d --seeds %d%s", f.start, done, f.again())
	}
	return fmt.Sprintf("%s. To continue: bourse torture --start %d --seeds %d%s", words, f.start+uint64(done), f.seeds-done, f.again())
}

// again returns the flags, other than the seed, that are needed to repeat a run.
func (f *torturing) again() string {
	own := ""
	if f.plant != "" {
		own += " --plant " + f.plant
	}
	if len(f.kinds) > 0 {
		own += " --kinds " + strings.Join(f.kinds, ",")
	}
	if f.faults != "" {
		own += " --faults " + f.faults
	}
	return own
}

// options reads the flags.
func (f *torturing) options(stdout io.Writer) (torture.Options, error) {
	var opt torture.Options
	if f.seeds < 1 || f.seeds > 10_000_000 {
		return opt, fmt.Errorf("--seeds %d: must be 1 to 10,000,000", f.seeds)
	}
	if err := plant.Set(f.plant); err != nil {
		return opt, fmt.Errorf("--plant: %w", err)
	}
	if f.faults != "" {
		text, err := os.ReadFile(f.faults)
		if err != nil {
			return opt, err
		}
		if opt.Faults, err = torture.ParseFaults(string(text)); err != nil {
			return opt, fmt.Errorf("%s: %w", f.faults, err)
		}
	}
	for _, k := range f.kinds {
		if !slices.Contains(torture.Kinds(), sim.Kind(k)) {
			return opt, fmt.Errorf("--kinds: %q is unknown; must be one of %v", k, torture.Kinds())
		}
		opt.Kinds = append(opt.Kinds, sim.Kind(k))
	}
	if f.trace {
		if f.seeds > 1 {
			return opt, errors.New("--trace is for one seed; add --seeds 1")
		}
		opt.Trace = func(line string) { fmt.Fprintln(stdout, line) }
	}
	return opt, nil
}

// list prints the planted bugs.
func (f *torturing) list(stdout io.Writer) error {
	bugs := plant.List()
	if f.json {
		return flags.WriteJSON(stdout, bugs)
	}
	for _, b := range bugs {
		fmt.Fprintf(stdout, "%-24s %s\n", b.Name, b.Breaks)
	}
	return nil
}

// showRows prints how many rows of docs/TRANSACTION.md were taken and, with --rows, how
// often each was.
func (f *torturing) showRows(r *torture.Report, stdout io.Writer) {
	rows := r.Listed()
	if f.rows {
		t := report.NewTable("row", "times", "least", "row", "times", "least", "row", "times", "least", "row", "times", "least")
		for line := range slices.Chunk(rows, 4) {
			var cells table.Row
			for _, row := range line {
				cells = append(cells, row, r.Rows[row], torture.Stated(row))
			}
			t.AppendRow(cells)
		}
		fmt.Fprintf(stdout, "\n%s\n\"least\" is how often a row must be taken in 1,000 seeds.\n", t.Render())
	}
	n := r.Coverage()
	fmt.Fprintf(stdout, "\n%d of the %d rows of docs/TRANSACTION.md that these worlds can take were taken (%.1f %%); nothing in them leads to %d more.\n",
		n, len(rows), 100*float64(n)/float64(len(rows)), torture.Beyond())
}

// show prints the result.
func (f *torturing) show(r *torture.Report, stdout io.Writer) error {
	if f.json {
		return flags.WriteJSON(stdout, r)
	}
	fmt.Fprintf(stdout, "%d seeds from %d: %d transactions decided (%.1f per seed), %d committed, %d faults (%.1f per seed)\n\n",
		r.Seeds, f.start, r.Transactions, float64(r.Transactions)/float64(r.Seeds), r.Committed,
		r.Injected(), float64(r.Injected())/float64(r.Seeds))
	t := report.NewTable("fault", "times", "fault", "times", "fault", "times")
	for row := range slices.Chunk(torture.Kinds(), 3) {
		var cells table.Row
		for _, k := range row {
			cells = append(cells, k, r.Faults[string(k)])
		}
		t.AppendRow(cells)
	}
	fmt.Fprintln(stdout, t.Render())
	f.showRows(r, stdout)
	if len(r.Violations) == 0 {
		_, err := fmt.Fprintln(stdout, "\nNo invariant was broken.")
		return err
	}
	for _, v := range r.Violations {
		fmt.Fprintf(stdout, "\nseed %d breaks %s: %s\n  replay: %s\n", v.Seed, v.Invariant, v.Detail, v.Command)
		if v.Faults != nil {
			fmt.Fprintf(stdout, "  %d faults are enough:\n", len(v.Faults))
		}
		for _, line := range v.Faults {
			fmt.Fprintf(stdout, "    %s\n", line)
		}
	}
	return nil
}
